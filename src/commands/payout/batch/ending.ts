import { type SentAgain, sentAgain } from "../../../batches/retries.ts";
import type { Standings } from "../../../batches/status.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Effect, Failure, type FailureKind, type Reason } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type BatchStanding, openOf, sumText } from "./batch.ts";

interface Why {
  /** What ended the run early, in whole sentences. */
  because?: string | undefined;
  /** What to do about it. */
  hint?: string | undefined;
}

/** The error of a batch that did not end well, with how many rows were sent. */
export function batchFailure(
  kind: FailureKind | undefined,
  standing: BatchStanding,
  { because, hint }: Why,
): Failure | undefined {
  if (kind === undefined) return undefined;
  const { batch, sums } = standing;
  const { reason, text } = endings[kind] ?? { reason: kind, text: "" };
  const message = `${because ?? text} ${sentText(standing)}`.trim();
  const isOpen = batch.cancelledAt === null && openOf(sums).count > 0;
  const resume = "Run 'lenden payout batch send' with the same file again: it resumes.";
  const advice = hint ?? (isOpen ? resume : undefined);
  return new Failure(reason, message, {
    effect: effectOf(sums, kind),
    operation: batch.id,
    ...(advice && { hint: advice }),
  });
}

const endings: Partial<Record<FailureKind, { reason: Reason; text: string }>> = {
  access: { reason: "batch.access-denied", text: "" },
  conflict: {
    reason: "batch.in-conflict",
    text: "The API has a different payout under the reference of some rows.",
  },
  internal: { reason: "batch.ledger-failed", text: "" },
  mixed: { reason: "batch.rows-failed", text: "Some rows were rejected or cancelled." },
  pending: {
    reason: "batch.still-processing",
    text: "The wait ended before all rows were Completed or Cancelled.",
  },
  uncertain: { reason: "batch.outcome-unknown", text: "The outcome of some rows is unknown." },
  unreachable: { reason: "batch.incomplete", text: "Not all rows were sent." },
};

/** What happened to the money of a batch, by its rows. While a process sends it, its rows are still pending. */
function effectOf(sums: Standings, kind: FailureKind): Effect {
  const { completed, processing, cancelled, refused, conflict } = sums;
  if (kind !== "pending" && conflict.count + sums.uncertain.count > 0) return "outcome-unknown";
  if (completed.count + processing.count + cancelled.count > 0)
    return refused.count + openOf(sums).count > 0 ? "partly-sent" : "accepted";
  if (kind === "pending") return "partly-sent";
  return refused.count > 0 || kind === "access" ? "nothing-changed" : "nothing-sent";
}

/** How many rows of a batch were sent, and how the others ended. */
export function sentText({ batch, sums }: Pick<BatchStanding, "batch" | "sums">): string {
  const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
  const accepted = [sums.completed, sums.processing, sums.cancelled];
  const count = accepted.reduce((total, one) => total + one.count, 0);
  const sumPaisa = accepted.reduce((total, one) => total + one.sumPaisa, 0n);
  const others = [
    ["cancelled", sums.cancelled],
    ["rejected", sums.refused],
    ["in conflict", sums.conflict],
    ["outcome unknown", sums.uncertain],
    ["not sent", sums.unsent],
  ] as const;
  const sent = `${count} of ${rowsText(rowCount)} ${wasOrWere(rowCount)} sent (${formatPaisa(sumPaisa)} of ${formatPaisa(totalPaisa)})`;
  const rest = others.filter(([, sum]) => sum.count > 0);
  return `${[sent, ...rest.map(([label, sum]) => `${label}: ${sum.count}`)].join("; ")}.`;
}

/** What to do about rows that were rejected, cancelled or in conflict; undefined if there are none. */
export async function adviceOn(
  { batch, sums }: BatchStanding,
  ledger: Ledger,
): Promise<string | undefined> {
  const parts: string[] = [];
  const ended = sums.refused.count + sums.cancelled.count;
  if (ended > 0) {
    const again = await sentAgain(batch, ledger);
    parts.push(`${rowsText(ended)} ${wasOrWere(ended)} rejected or cancelled.`, againText(again));
    if (again.sent.count + again.others.count + again.beside.count < ended)
      parts.push(
        `'lenden payout batch export ${batch.id} --only failed' writes a file to correct and send again.`,
      );
  }
  if (sums.conflict.count > 0)
    parts.push(
      `The API has a different payout for ${rowsText(sums.conflict.count)}: check the dashboard for what 'lenden payout batch export ${batch.id} --only conflict' shows, before you pay again.`,
    );
  return parts.filter((part) => part !== "").join(" ") || undefined;
}

/** Rows that were sent again by new references, in sentences; empty if there are none. */
export function againText({ sent, others, beside }: SentAgain): string {
  return [
    ...(sent.count > 0 ? [`Sent again by new references: ${sumText(sent)}.`] : []),
    ...(others.count > 0
      ? [
          `By new references, but not sent, unknown or in conflict: ${rowsText(others.count)}; 'lenden ledger show ${others.first}' shows more.`,
        ]
      : []),
    ...(beside.count > 0
      ? [
          `In the same file again, by new references: ${rowsText(beside.count)}, as ${beside.first}.`,
        ]
      : []),
  ].join(" ");
}

export function wasOrWere(count: number): string {
  return count === 1 ? "was" : "were";
}
