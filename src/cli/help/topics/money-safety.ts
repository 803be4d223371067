import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text(
    "Running the same command twice does not pay twice. These are the conditions, and what to do when the outcome is unknown.",
  ),
  {
    kind: "examples",
    examples: [
      {
        line: "lenden payout send --amount 500 --to 01712345678 --method bkash --ref INV-7",
        says: "run it again after exit 75: the same reference is paid once",
      },
      {
        line: "lenden ledger resolve",
        says: "settles everything uncertain that can be settled without you",
      },
    ],
  },
  rows("The same command again", [
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
  ]),
  text(
    "A new --ref is a new payout. Except for the API's own rule of one payout per reference, the conditions rest on the ledger of this machine: lenden cannot know what another machine sent.",
  ),
  text(
    "Whatever moves money is in the ledger on this machine before the first byte of it leaves. If the ledger cannot be written, nothing is sent. After a power cut the ledger knows what was under way.",
    "Written down first",
  ),
  text(
    "A payout has a reference: --ref, or one that lenden makes and prints first. The service makes one payout for a reference, however often it is sent. For how long it does not say: after a day in doubt a payout is not sent again by itself, and you look in the dashboard. A reference that belongs to another amount or recipient is a conflict (exit 5): it is shown, and nothing is sent.",
    "Payouts",
  ),
  text(
    "Payments and refunds have no reference, so they are sent once at most. The same one again is refused while the first is uncertain, until you looked in the dashboard: 'lenden ledger resolve' takes what you found, --again sends it all the same.",
    "Payments and refunds",
  ),
  text(
    "No answer, a lost connection, an error of the server or an answer that makes no sense is uncertain (exit 75), never failed: the money may have moved. 'lenden ledger show' has the whole history of it.",
    "Uncertain",
  ),
  text(
    "'Sent' is said of what the service confirmed. 'Paid' is only what the service calls Completed when it is asked: 'pay get', 'payout get', 'refund get' or their 'wait'. Redirects and callbacks alone prove nothing.",
    "Sent and paid",
  ),
];
