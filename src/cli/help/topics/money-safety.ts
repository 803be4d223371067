import type { Section } from "../page.ts";

export const sections = (): Section[] => [
  {
    text: "Running the same command twice does not pay twice. These are the conditions.",
  },
  {
    title: "Examples",
    examples: [
      {
        comment: "Retry after exit 75 with the same --ref",
        command: "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7",
      },
      { comment: "Resolve operations whose outcome is unknown", command: "lenden ledger resolve" },
    ],
  },
  {
    title: "The same command again",
    rows: [
      [
        "payout send --ref <reference>",
        "The existing payout is shown. The API creates one payout per reference.",
      ],
      [
        "payout send",
        "Rejected (exit 3) for 24 hours if amount and recipient are the same, and longer while the outcome is unknown.",
      ],
      [
        "pay create",
        "Rejected (exit 3) for ten minutes while the same payment is Processing, and longer while its outcome is unknown.",
      ],
      ["refund create", "Rejected (exit 3) unless the same refund was rejected or cancelled."],
      ["payout batch send", "The batch resumes. Accepted rows are not sent again."],
    ],
  },
  {
    text: "--again sends a second one, and a new --ref is a new payout. lenden checks duplicates in the ledger of this machine: it cannot know what another machine sent.",
  },
  {
    title: "Ledger",
    text: "Every operation is recorded in the ledger before its request is sent. If the ledger cannot be written, nothing is sent.",
  },
  {
    title: "Outcome unknown",
    text: "Without a valid response, money may have moved (exit 75). Retry a payout with the same --ref. After 24 hours lenden no longer retries it: check the dashboard. A payment or a refund has no reference and is sent once: check the dashboard. Record what you found with 'lenden ledger resolve'.",
  },
  {
    title: "Accepted and paid",
    text: '"Accepted" means that the API confirmed the request. "Paid" means that a status check returned Completed. A redirect or a callback alone proves nothing.',
  },
];
