import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";

/** The failure of what the ledger has already: the service would make a second one. */
export function sameAgain(what: "payment" | "refund", operation: Operation): Failure {
  const { id, state, createdAt } = operation;
  const first = isUnsettled(operation)
    ? `Check the dashboard, then run 'lenden ledger resolve ${id} --created <id>' or 'lenden ledger resolve ${id} --not-created'`
    : `To inspect it, run 'lenden ledger show ${id}'`;
  return new Failure(
    "refused",
    `The ledger has the same ${what} already, ${state}, since ${formatTime(createdAt)} (${id}).`,
    {
      hint: `Nothing was sent. ${first}. To send a second one, add --again.`,
      operation: id,
    },
  );
}
