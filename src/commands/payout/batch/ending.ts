import type { Standings } from "../../../batches/status.ts";
import { type Effect, Failure, type FailureKind, type Reason } from "../../../domain/failure.ts";
import { type BatchStanding, sentText } from "./standing-card.ts";

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
  const { id, cancelledAt } = standing.batch;
  const { reason, text } = endings[kind] ?? { reason: kind, text: "" };
  const message = `${because ?? text} ${sentText(standing)}`.trim();
  const resume = "Run 'lenden payout batch send' with the same file again: it resumes.";
  const { unsent, uncertain } = standing.sums;
  const isOpen = cancelledAt === null && unsent.count + uncertain.count > 0;
  const advice = hint ?? (isOpen ? resume : undefined);
  const effect = effectOf(standing.sums, kind);
  return new Failure(reason, message, { effect, operation: id, ...(advice && { hint: advice }) });
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
  const { completed, processing, cancelled, refused, conflict, uncertain, unsent } = sums;
  if (kind !== "pending" && conflict.count + uncertain.count > 0) return "outcome-unknown";
  const rejected = refused.count;
  if (completed.count + processing.count + cancelled.count > 0)
    return rejected + unsent.count + uncertain.count > 0 ? "partly-sent" : "accepted";
  if (kind === "pending") return "partly-sent";
  return rejected > 0 || kind === "access" ? "nothing-changed" : "nothing-sent";
}
