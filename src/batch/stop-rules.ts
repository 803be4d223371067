import { Failure, type FailureKind } from "../failure.ts";
import { refusalHints } from "../operations/refusal.ts";

/** How a row ended; `existing`: the service had its payout before. */
export type RowEnd = "sent" | "existing" | FailureKind;

/** When a batch stops before its end. */
export interface StopRules {
  saw(end: RowEnd, failure?: Failure): void;
  ledgerFailed(error: unknown): void;
  /** Why it stops, once it does. */
  reason(): Failure | undefined;
}

/** So many rows without an answer, one after the other: more of them would tell nothing new. */
const mostInARow = 5;

export function openStopRules(): StopRules {
  let reason: Failure | undefined;
  let inARow = 0;
  return {
    saw: (end, failure) => {
      const isLost = end === "uncertain" || end === "unreachable";
      inARow = isLost ? inARow + 1 : 0;
      if (end === "conflict" || end === "access") reason ??= failure;
      if (end === "uncertain" && isNoAccess(failure)) reason ??= accessRefused(failure);
      if (end === "internal") reason ??= ledgerTrouble(failure);
      // P21: its answer came, and could not be written down.
      if (failure?.details.unrecorded !== undefined) reason ??= troubleOf(failure.details.cause);
      if (inARow >= mostInARow) reason ??= silence(failure);
    },
    ledgerFailed: (error) => {
      reason ??= troubleOf(error);
    },
    reason: () => reason,
  };
}

/** The ledger's own failure where it says what to do, as the thread that writes it does. */
function troubleOf(error: unknown): Failure {
  return error instanceof Failure && error.kind === "internal" ? error : ledgerTrouble(error);
}

function ledgerTrouble(cause: unknown): Failure {
  return new Failure("internal", "The ledger could not be read or written, so the batch stopped.", {
    hint: "Make room on the disk and check its permissions, then run the same command again.",
    cause,
  });
}

/** P18: what refuses access may not be the service, and the payout may have been made. */
function isNoAccess(failure: Failure | undefined): boolean {
  const status = failure?.details.status;
  return status === 401 || status === 403;
}

function accessRefused(failure: Failure | undefined): Failure {
  const { status } = failure?.details ?? {};
  return new Failure("access", `Access is refused, so the batch stopped. ${failure?.message}`, {
    ...(status === undefined ? {} : { status }),
    hint: `${refusalHints.access} Then run the same command again.`,
  });
}

function silence(failure: Failure | undefined): Failure {
  return new Failure(
    failure?.kind ?? "uncertain",
    `${mostInARow} rows in a row had no answer, so the batch stopped. The last one: ${failure?.message}`,
    { hint: "When the service answers again, run the same command again." },
  );
}
