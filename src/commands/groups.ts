/**
 * The sections of the first page of help, with their commands and groups. A command that is not listed
 * here is shown in the last section.
 */
export const purposes: { title: string; names: string[] }[] = [
  { title: "Payments", names: ["methods", "pay"] },
  { title: "Payouts", names: ["payout"] },
  { title: "Batches", names: ["payout batch"] },
  { title: "Refunds", names: ["refund"] },
  { title: "Sandbox", names: ["demo", "sandbox"] },
  { title: "Setup", names: ["profile", "doctor", "completion"] },
  { title: "Records", names: ["ledger", "callback", "api"] },
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
        "'template' writes a file, 'check' validates it, and 'send' sends it. 'status' and 'export' show the results; 'resolve' records rows with an unknown outcome. 'lenden help batch' describes the file.",
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
      summary: "List, resolve and check what was sent from this machine",
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
