import type { Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    text: "Running the same command twice does not pay twice. These are the conditions, and what to do when the outcome is unknown.",
  },
  {
    title: "Examples",
    examples: [
      {
        comment: "Run the same line again after exit 75: the reference is paid once",
        command: "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7",
      },
      { comment: "Resolve operations whose outcome is unknown", command: "lenden ledger resolve" },
    ],
  },
  {
    title: "The same command again",
    rows: [
      [
        "payout send --ref <ref>",
        "The existing payout is shown. The API creates one payout per reference",
      ],
      [
        "payout send",
        "Rejected (exit 3) for 24 hours if amount and recipient are the same, and longer while the outcome is unknown. --again sends a second one",
      ],
      [
        "pay create",
        "Rejected (exit 3) for ten minutes while the same payment is Processing, and longer while its outcome is unknown. --again sends a second one",
      ],
      [
        "refund create",
        "Rejected (exit 3) unless the same refund was rejected or cancelled. --again sends a second one",
      ],
      ["payout batch send", "The batch resumes. Rows that were accepted are not sent again"],
    ],
  },
  {
    text: "A new --ref is a new payout. Except for the API's own rule of one payout per reference, the conditions rest on the ledger of this machine: lenden cannot know what another machine sent.",
  },
  {
    title: "Recorded first",
    text: "Whatever moves money is in the ledger before its first byte is sent. If the ledger cannot be written, nothing is sent. After a power failure the ledger shows what was in progress.",
  },
  {
    title: "Payouts",
    text: "The reference (--ref, or a generated one that is printed first) acts as an idempotency key. The API does not state how long. After 24 hours with an unknown outcome, lenden does not send a payout again by itself: check the dashboard. A reference that belongs to another amount or recipient is a conflict (exit 5), and nothing is sent.",
  },
  {
    title: "Payments and refunds",
    text: "They have no reference, so each is sent at most once. The same one is rejected while the outcome of the first is unknown. Check the dashboard, then record what you found with 'lenden ledger resolve', or send it with --again.",
  },
  {
    title: "Outcome unknown",
    text: "No response, a lost connection, a server error and an invalid response are an unknown outcome (exit 75), and not a failure: the money may have moved. 'lenden ledger show' shows the history.",
  },
  {
    title: "Sent and paid",
    text: "\"Accepted\" means that the API confirmed it. \"Paid\" means that the API returned Completed to 'pay get', 'payout get', 'refund get' or 'wait'. Redirects and callbacks alone prove nothing.",
  },
];
