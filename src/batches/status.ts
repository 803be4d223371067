import type { Paisa } from "../domain/amount.ts";
import { Failure, type FailureKind } from "../domain/failure.ts";
import { isUnsettled, type State } from "../domain/state.ts";
import type { Batch, RowResult, Tally } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** The status of a row, as it is shown. */
export const rowStatuses = [
  "completed",
  "processing",
  "cancelled",
  "refused",
  "conflict",
  "uncertain",
  "unsent",
] as const;
export type RowStatus = (typeof rowStatuses)[number];

/** Rows, and their amount. */
export interface Sum {
  count: number;
  sumPaisa: Paisa;
}

/** The rows of a batch by their status. */
export type StatusSums = Record<RowStatus, Sum>;

export function sumOf(...parts: Sum[]): Sum {
  return parts.reduce(
    (sum, part) => ({ count: sum.count + part.count, sumPaisa: sum.sumPaisa + part.sumPaisa }),
    { count: 0, sumPaisa: 0n },
  );
}

export function difference(one: Sum, other: Sum): Sum {
  return { count: one.count - other.count, sumPaisa: one.sumPaisa - other.sumPaisa };
}

/** Adds one row. */
export function countRow(sum: Sum, { amountPaisa }: { amountPaisa: Paisa }): void {
  sum.count += 1;
  sum.sumPaisa += amountPaisa;
}

/** The status of a row by its operation. Any other status of the API counts as Processing. */
export function rowStatusOf(row: { state: State | null; status: string | null }): RowStatus {
  const { state, status } = row;
  if (state === null || state === "NOT_SENT") return "unsent";
  if (state === "REFUSED") return "refused";
  if (state === "CONFLICT") return "conflict";
  if (isUnsettled({ state })) return "uncertain";
  if (status === "Completed") return "completed";
  return status === "Cancelled" ? "cancelled" : "processing";
}

/** True for an accepted row that was first sent before its batch was planned, or that the API had before. */
export function existedBefore({ state, code, sentAt }: RowResult, { createdAt }: Batch): boolean {
  return state === "CONFIRMED" && (code === "existing" || (sentAt ?? createdAt) < createdAt);
}

/** What a batch can still send. */
export function openOf({ unsent, uncertain }: StatusSums): Sum {
  return sumOf(unsent, uncertain);
}

/** A batch with the status of its rows. */
export interface BatchStatus {
  batch: Batch;
  total: Sum;
  sums: StatusSums;
  /** Rows that were accepted before this batch was planned, or whose payouts the API had before. */
  sentBefore: Sum;
}

/** The status of a batch, proved to add up to its plan. */
export async function readStatus(batch: Batch, { batches }: Ledger): Promise<BatchStatus> {
  return statusOf(batch, await batches.tally(batch));
}

/**
 * The status of a batch that something is decided about, or that a run ends with: its operations agree with their events.
 *
 * @throws Failure `ledger.modified`
 */
export async function recordedStatus(batch: Batch, { batches }: Ledger): Promise<BatchStatus> {
  return statusOf(batch, await batches.recordedTally(batch));
}

/** The status of each of some batches, in their order. */
export async function readStatuses(
  of: Batch[],
  { batches }: Pick<Ledger, "batches">,
): Promise<BatchStatus[]> {
  const tallies = await batches.tallies(of);
  return of.map((batch, place) => statusOf(batch, tallies[place] ?? []));
}

function statusOf(batch: Batch, tallies: Tally[]): BatchStatus {
  const sums = addUp(batch, tallies);
  const sentBefore = sumOf(...tallies.map((tally) => tally.sentBefore));
  return { batch, total: totalOf(batch), sums, sentBefore };
}

/** The rows of a batch's plan. */
export function totalOf({ plan }: Batch): Sum {
  return { count: plan?.rowCount ?? 0, sumPaisa: plan?.totalPaisa ?? 0n };
}

/**
 * Adds up a batch, and proves that the parts are its plan, in rows and in exact paisa (I8).
 *
 * @throws Failure `internal` if they are not
 */
export function addUp(batch: Batch, tallies: Tally[]): StatusSums {
  const none: Sum = { count: 0, sumPaisa: 0n };
  const sums: StatusSums = {
    completed: none,
    processing: none,
    cancelled: none,
    refused: none,
    conflict: none,
    uncertain: none,
    unsent: none,
  };
  for (const tally of tallies) {
    const status = rowStatusOf(tally);
    sums[status] = sumOf(sums[status], tally);
  }
  const all = sumOf(...Object.values(sums));
  const total = totalOf(batch);
  if (all.count === total.count && all.sumPaisa === total.sumPaisa) return sums;
  const message = `The rows of batch ${batch.id} do not match its recorded total.`;
  const hint = "To see what was modified, run 'lenden ledger check'.";
  throw new Failure("batch.does-not-add-up", message, { hint });
}

interface RunEnd {
  /** True if the run waited for rows that are still Processing. */
  waited?: boolean;
  /** Why it stopped before the end, if it did. */
  stoppedBy?: FailureKind | undefined;
  /** True if the rows that were not sent never will be. */
  isCancelled?: boolean;
}

/** How a batch ended, by the row that matters most; undefined if every row was accepted. */
export function endingOf(
  sums: StatusSums,
  { waited = false, stoppedBy, isCancelled = false }: RunEnd,
): FailureKind | undefined {
  if (sums.conflict.count > 0) return "conflict";
  if (sums.uncertain.count > 0) return "uncertain";
  const isPartlySent = sums.completed.count + sums.processing.count > 0;
  // The exit code of an internal error says "nothing was sent", which would not be true.
  if (stoppedBy === "internal" && isPartlySent) return "uncertain";
  if (stoppedBy) return stoppedBy;
  if (sums.unsent.count > 0) return isCancelled ? "partial" : "unreachable";
  if (waited && sums.processing.count > 0) return "pending";
  return sums.refused.count > 0 || sums.cancelled.count > 0 ? "partial" : undefined;
}
