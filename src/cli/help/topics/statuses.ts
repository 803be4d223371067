import { type Standing, standings } from "../../../batches/status.ts";
import type { State } from "../../../domain/state.ts";
import { type Status, statuses } from "../../../domain/statuses.ts";
import { type Page, type Row, rows, text } from "../page.ts";

const ofTheService: Record<Status, string> = {
  Processing: "On its way: nobody knows yet how it ends",
  Completed:
    "A payment: you have the money. A payout: the recipient has it. A refund: it is paid back",
  Cancelled: "Cancelled, or failed",
};

const ofTheLedger: Record<State, string> = {
  INTENT:
    "Written down, and no end seen: it is under way, or was interrupted and may have happened",
  NOT_SENT: "It never left this machine",
  REFUSED: "The service refused it; nothing happened",
  CONFLICT: "The service has something else under this reference or id",
  UNCERTAIN: "It was sent, and no answer can be trusted: it may have happened",
  CONFIRMED: "The service has it; its status says the rest",
};

const ofRows: Record<Standing, string> = {
  completed: "Confirmed, and Completed when last seen",
  processing: "Confirmed, and on its way when last seen",
  cancelled: "Confirmed, and Cancelled when last seen",
  refused: "The service refused it",
  conflict: "Its reference belongs to another payout; somebody has to look",
  uncertain: "It may have happened; sending the batch again settles it",
  unsent: "It has not been sent",
};

export const page: Page = [
  text("The words that say where something stands."),
  {
    kind: "examples",
    examples: [
      { line: "lenden pay get @last", says: "the status, as the service has it now" },
      {
        line: "lenden ledger show @last",
        says: "the state in the ledger, and how it came to that",
      },
    ],
  },
  rows(
    "Status: what the service says of a payment, a payout or a refund",
    statuses.map((status): Row => [status, ofTheService[status]]),
  ),
  text("Completed and Cancelled are final. Nothing but Completed means that money has arrived."),
  rows(
    "State: where an operation stands in the ledger of this machine",
    Object.entries(ofTheLedger),
  ),
  text(
    "'lenden ledger resolve' resolves INTENT and UNCERTAIN. With --created <id> or --not-created it also ends a CONFLICT.",
  ),
  rows(
    "Where the row of a batch stands",
    standings.map((standing): Row => [standing, ofRows[standing]]),
  ),
];
