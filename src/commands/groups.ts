/**
 * What one wants to do, and the commands and groups that do it, in the order of the first page of
 * help. A command that stands nowhere here is found under the last purpose.
 */
export const purposes: { title: string; names: string[] }[] = [
  { title: "Take payments", names: ["methods", "pay"] },
  { title: "Send payouts", names: ["payout"] },
  { title: "Pay a file", names: ["payout batch"] },
  { title: "Pay back", names: ["refund"] },
  { title: "Try it out", names: ["demo", "sandbox"] },
  { title: "Set it up", names: ["profile", "doctor", "completion"] },
  { title: "Look deeper", names: ["ledger", "callback", "api"] },
];

/** What each group of commands is for: one sentence without a full stop, and more for its own help. */
export const groups = new Map<string, { summary: string; details?: string }>([
  [
    "pay",
    {
      summary: "Take payments from customers, and see whether they have paid",
      details:
        "A payment has a page of its own, where the customer pays. It has happened when 'lenden pay get' says Completed, and not before.",
    },
  ],
  [
    "payout",
    {
      summary: "Send money to mobile wallets, each payout once",
      details:
        "A payout's reference makes it happen once: the same reference again never pays a second time. 'sign' and 'verify' work offline, for those who build a client of their own.",
    },
  ],
  [
    "payout batch",
    {
      summary: "Pay everybody in a CSV file, each row once",
      details:
        "Write a file with 'template', look for mistakes with 'check', pay with 'send', and see what came of it with 'status' and 'export'. 'lenden help batch' tells more of the file.",
    },
  ],
  [
    "refund",
    {
      summary: "Pay back a completed payment, in whole or in part",
      details: "A refund can be cancelled while it is Processing.",
    },
  ],
  [
    "sandbox",
    {
      summary: "Try everything out without real money",
      details:
        "'start' and 'exec' run the service itself on this machine, with faults if you like. 'trigger' plays the customer or the recipient in any sandbox.",
    },
  ],
  [
    "sandbox trigger",
    { summary: "Play the customer who pays, or the recipient who gets the money" },
  ],
  [
    "profile",
    {
      summary: "Keep accounts under names of your choice",
      details: "A profile holds an account's address, its key and its payout secret.",
    },
  ],
  [
    "ledger",
    {
      summary: "See, settle and check what was sent from this machine",
      details:
        "Everything that moves money is written down here before it is sent. The service lists nothing, so this is the only list there is.",
    },
  ],
  [
    "callback",
    {
      summary: "Receive the service's callbacks, and believe none of them unseen",
      details:
        "Anybody can send a callback. Whatever one claims, the record behind it is retrieved, and only that counts.",
    },
  ],
]);
