import { countRetries, type Retries } from "../../../batches/retries.ts";
import {
  type BatchStatus,
  openOf,
  type RowStatus,
  rowStatuses,
  type StatusSums,
  type Sum,
  sumOf,
} from "../../../batches/status.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Card, card, field, text, time } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import {
  type Effect,
  Failure,
  type FailureKind,
  type Reason,
  whatHappened,
} from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Ledger } from "../../../ledger/ledger.ts";

export const statusNames: Record<RowStatus, string> = {
  completed: "Completed",
  processing: "Processing",
  cancelled: "Cancelled",
  refused: "Rejected",
  conflict: "Conflict",
  uncertain: "Outcome unknown",
  unsent: "Not sent",
};

/** `3 rows, BDT 1,250.50`. */
export function sumText({ count, sumPaisa }: Sum): string {
  return `${rowsText(count)}, ${formatPaisa(sumPaisa)}`;
}

/** `12 of 60 rows, BDT 1,250.50`: rows whose payouts were there before their batch. */
export function existedText(existed: Sum, total: Sum): string {
  return `${existed.count} of ${sumText({ ...total, sumPaisa: existed.sumPaisa })}`;
}

/** As scripts get it: amounts in BDT, as text. */
export function sumJson({ count, sumPaisa }: Sum) {
  return { rows: count, total: amountText(sumPaisa) };
}

export function statusJson({ batch, total, sums, sentBefore }: BatchStatus) {
  const { id, name, createdAt, cancelledAt } = batch;
  return {
    batch: id,
    name,
    createdAt,
    cancelledAt,
    ...sumJson(total),
    sentBefore: sumJson(sentBefore),
    states: Object.fromEntries(rowStatuses.map((one) => [one, sumJson(sums[one])])),
  };
}

export function statusCard({ batch, total, sums, sentBefore }: BatchStatus): Card {
  const { id, name, createdAt, cancelledAt } = batch;
  const sumField = (key: string, label: string, sum: Sum) =>
    sum.count > 0 ? [field(key, label, text(sumText(sum)))] : [];
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Created", time(createdAt)),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "Total", text(sumText(total))),
    ...rowStatuses.flatMap((one) => sumField(one, statusNames[one], sums[one])),
    ...(sentBefore.count > 0
      ? [field("sentBefore", "Already existed", text(existedText(sentBefore, total)))]
      : []),
  ]);
}

/** How many rows of a batch were accepted, and how the others ended. */
export function countsText({ total, sums }: BatchStatus): string {
  const accepted = sumOf(sums.completed, sums.processing, sums.cancelled);
  const others = (["refused", "conflict", "uncertain", "unsent"] as const)
    .filter((status) => sums[status].count > 0)
    .map((status) => `${statusNames[status].toLowerCase()}: ${sums[status].count}`);
  const amounts = `${formatPaisa(accepted.sumPaisa)} of ${formatPaisa(total.sumPaisa)}`;
  const { count: cancelled } = sums.cancelled;
  const ofThem = cancelled > 0 ? `, of which ${cancelled} cancelled` : "";
  const first = `${accepted.count} of ${rowsText(total.count)} accepted (${amounts})${ofThem}`;
  return `${[first, ...others].join("; ")}.`;
}

/** What ended a run before its last row. */
export interface RunStop {
  /** The rule that stopped it, if one did. */
  stopped?: Failure | undefined;
  /** What else happened, in sentences. */
  notes: string[];
}

const endings: Partial<Record<FailureKind, { reason: Reason; text: string }>> = {
  access: { reason: "batch.access-denied", text: "" },
  conflict: {
    reason: "batch.in-conflict",
    text: "The API has a different payout under the reference of some rows.",
  },
  internal: { reason: "batch.ledger-failed", text: "" },
  partial: { reason: "batch.rows-failed", text: "Some rows were rejected or cancelled." },
  pending: {
    reason: "batch.still-processing",
    text: "The wait ended before all rows were Completed or Cancelled.",
  },
  uncertain: { reason: "batch.outcome-unknown", text: "The outcome of some rows is unknown." },
  unreachable: { reason: "batch.incomplete", text: "Not all rows were sent." },
};

const resumeHint = "To resume, run 'lenden payout batch send' with the same file.";

/** The error of a batch that did not end well; undefined if it did. */
export async function endingFailure(
  kind: FailureKind | undefined,
  status: BatchStatus,
  { stopped, notes }: RunStop,
  ledger: Ledger,
): Promise<Failure | undefined> {
  if (kind === undefined) return undefined;
  const { batch, sums } = status;
  const { reason, text } = endings[kind] ?? { reason: "batch.incomplete", text: "" };
  const why = stopped ? whatHappened(stopped) : text;
  const isOpen = batch.cancelledAt === null && openOf(sums).count > 0;
  const isAllSent = kind === "partial" && !isOpen;
  const next = stopped?.details.hint ?? (isOpen && kind !== "pending" ? resumeHint : "");
  const resume = isAllSent ? "" : next;
  const hint = sentences([await retryAdvice(status, ledger), resume]);
  return new Failure(reason, sentences([why, ...notes, countsText(status)]), {
    effect: effectOf(sums, kind),
    operation: batch.id,
    ...(hint && { hint }),
  });
}

/** What happened to the money of a batch. While a process sends it, its unknown rows are pending. */
function effectOf(sums: StatusSums, kind: FailureKind): Effect {
  const { completed, processing, cancelled, refused, conflict } = sums;
  if (kind !== "pending" && conflict.count + sums.uncertain.count > 0) return "outcome-unknown";
  if (completed.count + processing.count + cancelled.count > 0)
    return refused.count + openOf(sums).count > 0 ? "partly-sent" : "accepted";
  if (kind === "pending") return "partly-sent";
  return refused.count > 0 || kind === "access" ? "nothing-changed" : "nothing-sent";
}

/** What to do about rows that were rejected, cancelled or in conflict; empty if there are none. */
export async function retryAdvice({ batch, sums }: BatchStatus, ledger: Ledger): Promise<string> {
  const command = `'lenden payout batch export ${batch.id} --only`;
  const failed = sums.refused.count + sums.cancelled.count;
  const retries = failed > 0 ? await countRetries(batch, ledger) : undefined;
  const isLeft = retries && retries.accepted.count + retries.others.count < failed;
  return sentences([
    retries ? retriesText(retries) : "",
    isLeft ? `To correct and resend failed rows, run ${command} failed > failed.csv'.` : "",
    sums.conflict.count > 0
      ? `Compare ${command} conflict' with the dashboard before you pay again.`
      : "",
  ]);
}

/** Rows that have new references; empty if there are none. */
export function retriesText({ accepted, others }: Retries): string {
  return sentences([
    accepted.count > 0 ? `Accepted by new references: ${sumText(accepted)}.` : "",
    others.count > 0
      ? `New references that are not accepted: ${rowsText(others.count)}, for example ${others.first}.`
      : "",
  ]);
}

/** Joins sentences; empty ones are omitted. */
export function sentences(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}
