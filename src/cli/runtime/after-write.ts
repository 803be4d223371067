import { Failure, isOfLedger } from "../../domain/failure.ts";

/** I10: after a request left that may move money, an internal error leaves the outcome unknown. */
export function afterWrite(error: unknown, hasWritten: boolean): unknown {
  if (!hasWritten) return error;
  const isFailure = error instanceof Failure;
  // The printer knows that the result changed nothing.
  if (isFailure && error.reason === "output.not-written") return error;
  const isInternal =
    !isFailure ||
    ((error.kind === "internal" || isOfLedger(error)) && error.effect(true) === "nothing-sent");
  if (!isInternal) return error;
  const why = isFailure ? ` ${error.message}` : "";
  return new Failure(
    "operation.interrupted-by-error",
    `lenden stopped with an error after it sent a request.${why}`,
    {
      ...(isFailure ? error.details : {}),
      hint: "To see what was recorded, run 'lenden ledger list'. To resolve unknown outcomes, run 'lenden ledger resolve'.",
      cause: error,
    },
  );
}
