import { Failure, type FailureKind } from "../../../domain/failure.ts";
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
  const message = `${because ?? usualReasons[kind] ?? ""} ${sentText(standing)}`.trim();
  const resume = "Run 'lenden payout batch send' with the same file again: it resumes.";
  const { unsent, uncertain } = standing.sums;
  const isOpen = cancelledAt === null && unsent.count + uncertain.count > 0;
  const advice = hint ?? (isOpen ? resume : undefined);
  return new Failure(kind, message, { operation: id, ...(advice ? { hint: advice } : {}) });
}

const usualReasons: Partial<Record<FailureKind, string>> = {
  mixed: "Some rows were rejected or cancelled.",
  conflict: "The API has a different payout under the reference of some rows.",
  pending: "The wait ended before all rows were Completed or Cancelled.",
  uncertain: "The outcome of some rows is unknown: money may have moved.",
  unreachable: "Not all rows were sent.",
};
