import type { Paisa } from "../domain/amount.ts";
import { Failure, type FailureKind } from "../domain/failure.ts";
import { isUnsettled, type State } from "../domain/state.ts";
import type { Batch, Tally } from "../ledger/batch.ts";

/** The status of a row, as it is shown. */
export const standings = [
  "completed",
  "processing",
  "cancelled",
  "refused",
  "conflict",
  "uncertain",
  "unsent",
] as const;
export type Standing = (typeof standings)[number];

/** Rows, and their amount. */
export interface Sum {
  count: number;
  sumPaisa: Paisa;
}

/** Adds one row. */
export function countRow(sum: Sum, { amountPaisa }: { amountPaisa: Paisa }): void {
  sum.count += 1;
  sum.sumPaisa += amountPaisa;
}

/** The rows of a batch by their status. */
export type Standings = Record<Standing, Sum>;

/** The status of a row by its operation; an undocumented status of the API is not an end. */
export function standingOf(state: State | null, status: string | null): Standing {
  if (state === null || state === "NOT_SENT") return "unsent";
  if (state === "REFUSED") return "refused";
  if (state === "CONFLICT") return "conflict";
  if (isUnsettled({ state })) return "uncertain";
  if (status === "Completed") return "completed";
  return status === "Cancelled" ? "cancelled" : "processing";
}

/**
 * Adds up a batch, and proves that nothing is missing: the parts are the plan, in rows and in exact paisa
 * (I8).
 *
 * @throws Failure `internal` if they are not
 */
export function addUp({ id, plan }: Batch, tallies: Tally[]): Standings {
  const sums = emptyStandings();
  for (const { state, status, count, sumPaisa } of tallies) {
    const sum = sums[standingOf(state, status)];
    sum.count += count;
    sum.sumPaisa += sumPaisa;
  }
  const all = Object.values(sums);
  const count = all.reduce((total, one) => total + one.count, 0);
  const sumPaisa = all.reduce((total, one) => total + one.sumPaisa, 0n);
  if (count === (plan?.rowCount ?? 0) && sumPaisa === (plan?.totalPaisa ?? 0n)) return sums;
  throw new Failure("batch.does-not-add-up", `The rows of batch ${id} do not add up to its plan.`, {
    hint: "To see what was modified, run 'lenden ledger check'.",
  });
}

interface HowEnded {
  /** True if the run waited for rows that are still Processing. */
  waited?: boolean;
  /** Why it stopped before the end, if it did. */
  stoppedBy?: FailureKind | undefined;
  /** True if the rows that were not sent never are. */
  isCancelled?: boolean;
}

/** How a batch ended, by the row that matters most. */
export function endingOf(
  sums: Standings,
  { waited = false, stoppedBy, isCancelled = false }: HowEnded,
): FailureKind | undefined {
  if (sums.conflict.count > 0) return "conflict";
  if (sums.uncertain.count > 0) return "uncertain";
  const isPartlySent = sums.completed.count + sums.processing.count > 0;
  // The exit code of an internal error says "nothing was sent", which would not be true.
  if (stoppedBy === "internal" && isPartlySent) return "uncertain";
  if (stoppedBy) return stoppedBy;
  if (sums.unsent.count > 0) return isCancelled ? "mixed" : "unreachable";
  if (waited && sums.processing.count > 0) return "pending";
  return sums.refused.count > 0 || sums.cancelled.count > 0 ? "mixed" : undefined;
}

function emptyStandings(): Standings {
  const none = (): Sum => ({ count: 0, sumPaisa: 0n });
  return {
    completed: none(),
    processing: none(),
    cancelled: none(),
    refused: none(),
    conflict: none(),
    uncertain: none(),
    unsent: none(),
  };
}
