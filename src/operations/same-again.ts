import { formatTime } from "../contract/local-time.ts";
import { Failure } from "../failure.ts";
import type { Operation } from "../ledger/operation.ts";
import { isUnsettled } from "../state.ts";

/** The failure of what the ledger has already: the service would make a second one. */
export function sameAgain(what: "payment" | "refund", operation: Operation): Failure {
  const { id, state, createdAt } = operation;
  const first = isUnsettled(operation)
    ? `Look in the merchant dashboard whether it was made, and say so with 'lenden ledger resolve ${id}'`
    : `Look with 'lenden ledger show ${id}'`;
  return new Failure(
    "refused",
    `The ledger has the same ${what} already, ${state}, since ${formatTime(createdAt)} (${id}).`,
    {
      hint: `Nothing was sent. ${first}; only if a second one is really meant, add --again.`,
      operation: id,
    },
  );
}
