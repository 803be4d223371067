import { type Page, rows, text } from "../page.ts";

export const page: Page = [
  text("Which id names what, and how to do without copying them."),
  {
    kind: "examples",
    examples: [
      { line: "lenden pay get @last", says: "the newest payment that was sent from here" },
      { line: "lenden payout get @2", says: "the payout before the newest one" },
      { line: "lenden ledger show INV-7", says: "an operation, by its payout's reference" },
    ],
  },
  rows("Ids", [
    ["transactionId", "A payment; the service makes it"],
    ["payoutId", "A payout; the service makes it"],
    ["refundRequestId", "A refund; the service makes it"],
    ["reference", "A payout; you make it (--ref), or lenden does (LD-…)"],
    ["operation (OP…)", "Anything that was sent from this machine; lenden makes it"],
    ["batch (B…)", "A file of payouts; lenden makes it; its name or its file will do too"],
    ["@last, @2, @3 …", "The newest of its kind in the ledger of the account, the one before it …"],
  ]),
  text(
    "@last counts what was sent from this machine with this account, and nothing else: the service lists nothing.",
  ),
];
