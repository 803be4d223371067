import { type Failure, inOneLine, type Reason, whatHappened } from "../domain/failure.ts";
import { formatDay } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { durationText, rowsText } from "../domain/text.ts";
import type { PlannedPayout } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { declaredByOther } from "../operations/declared-text.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { resolveHint } from "../operations/response-failure.ts";
import type { Certain } from "./ending.ts";
import type { HeldPlan } from "./plan.ts";
import { countForgotten, isOmitted, type RowEnd, type Sending, sendBatch } from "./send.ts";
import { type BatchStatus, openOf, recordedStatus, type Sum, sumOf } from "./status.ts";
import { existedText, newPeriodText, sentences } from "./texts.ts";
import { isHeldBack } from "./throttle.ts";
import { mostClaimed } from "./workers.ts";

type Pacing = Pick<Sending, "concurrency" | "perSecond">;

/** What a run shows while it sends. */
export interface Reporting {
  notice(text: string, reason?: string): void;
  /** Shows a line until it is closed; it is called for every update. */
  progress(line: () => ProgressLine): { note(text: string): void; close(): void };
}

interface ProgressLine {
  /** The most important first. */
  parts: string[];
  /** From 0 to 1. */
  done: number;
}

/** Sends what is open of a batch, with progress; then ends the lock. */
export async function runBatch(
  plan: HeldPlan,
  pacing: Pacing,
  ledger: Ledger,
  openDeps: () => Promise<OperationDeps>,
  { notice, progress: startProgress }: Reporting,
) {
  const { batch } = plan;
  // The confirmation took a while.
  const before = await recordedStatus(batch, ledger);
  const { completed, processing, cancelled } = before.sums;
  const accepted = sumOf(completed, processing, cancelled);
  const told = new Set<string>();
  const noticeOthers = async () => {
    for (const { login, count } of await ledger.batches.acceptedByOthers(batch)) {
      const text = `${count} of ${rowsText(before.total.count)} were recorded as accepted by ${login}. To compare them with the API, run 'lenden ledger audit'.`;
      if (!told.has(text)) notice(text, "batch.accepted-by-others");
      told.add(text);
    }
  };
  if (accepted.count > 0) await noticeOthers();
  const isOpen = openOf(before.sums).count > 0;
  if (!isOpen || !plan.isConfirmed) {
    await ledger.batches.release(batch);
    if (!isOpen) notice(await nothingLeftText(before, ledger), "batch.already-sent");
    const certain = { accepted, unsent: before.sums.unsent.count };
    const none: Sum = { count: 0, sumPaisa: 0n };
    return { notes: [], existing: none, sent: none, certain };
  }
  const deps = await openDeps().catch(async (error) => {
    await ledger.batches.release(batch);
    throw error;
  });
  const forgotten = await countForgotten(batch, ledger, deps);
  const retried = before.sums.uncertain.count - forgotten;
  const since = (await deps.guarantees()).references ? " for over 24 hours" : "";
  if (forgotten > 0)
    notice(
      `lenden does not retry ${rowsText(forgotten)} with an unknown outcome${since}. If the API does not have these payouts, run 'lenden payout batch resolve ${batch.id} --not-created'.`,
    );
  const run = createRunTally(before, deps);
  const progress = startProgress(run.progressLine);
  if (retried > 0)
    progress.note(
      `Retrying ${rowsText(retried)} with an unknown outcome first, with the same references (delay up to 10 s).`,
    );
  const onRow: Sending["onRow"] = (row, end, failure) => {
    run.add(row, end, failure);
    if (!failure) return;
    const text = `line ${row.line}, ${row.reference}: ${whatHappened(failure)}`;
    const { cause, unrecorded } = failure.details;
    // P21: one line is all that is left of an outcome that could not be recorded.
    if (end === "uncertain" && cause !== undefined && unrecorded !== "NOT_SENT")
      notice(text, "payout.outcome-not-recorded");
    else if (end === "refused" || end === "conflict") notice(text);
  };
  const onDeclared: Sending["onDeclared"] = ({ line, reference }, declared) => {
    const [text, reason] = declaredByOther(declared, reference);
    notice(`line ${line}, ${reference}: ${text}`, reason);
  };
  const hasUnknown = before.sums.uncertain.count > 0;
  const sending = sendBatch({ ...pacing, plan, hasUnknown, ledger, onDeclared, onRow }, deps);
  const stopped = await sending.finally(progress.close);
  // If the ledger fails, the lock ends with this process.
  await ledger.batches.release(batch).catch(() => {});
  // Others may have recorded rows meanwhile. A ledger that cannot be read is reported with the status.
  await noticeOthers().catch(() => {});
  const existing = run.existing();
  if (existing.count > 0)
    notice(
      `${existedText(existing, before.total)}, already existed at the API and were not paid now. For their dates, run 'lenden payout batch export ${batch.id}'.`,
      "batch.existing",
    );
  const certain = run.certain(mostClaimed(pacing.concurrency));
  const sent = run.sent();
  const [notes, blocked, skipped] = [run.notes(stopped), run.blocked(), run.skipped()];
  return { stopped, notes, blocked, skipped, existing, sent, certain };
}

/** Why a file has no row to send, and how to pay the same rows again. */
async function nothingLeftText(status: BatchStatus, { batches }: Ledger): Promise<string> {
  const { batch } = status;
  const times = await batches.sentBetween(batch);
  const days = times ? [...new Set([formatDay(times.first), formatDay(times.last)])] : [];
  const when = days.length === 0 ? "" : ` (sent on ${days.join(" to ")})`;
  const text = `No row of batch ${batch.id}, ${batch.name}, is left to send${when}. Nothing was sent.`;
  return sentences([text, newPeriodText(status)]);
}

/** True for a row of unknown outcome that is not sent again (P25, P25b, P25c). */
function isBlocked(failure: Failure | undefined): boolean {
  return failure === undefined || unresendable.includes(failure.reason);
}

const unresendable: Reason[] = [
  "payout.other-key",
  "payout.reference-unreliable",
  "payout.unknown-over-24-hours",
];

/** Counts the rows of a run, so that the ledger is not added up for every line of progress. */
function createRunTally({ total, sums }: BatchStatus, deps: OperationDeps) {
  const { now, isOutOfTime } = deps;
  const startedMs = now();
  const ends = new Map<RowEnd, Sum>();
  const last = new Map<RowEnd, Failure>();
  let blocked: { count: number; hint: string } | undefined;
  let skipped: { count: number; failure: Failure } | undefined;
  const sumOfEnds = (...some: RowEnd[]): Sum =>
    sumOf(...some.flatMap((one) => ends.get(one) ?? []));
  const before = sumOf(sums.completed, sums.processing, sums.cancelled);
  const done = (): number =>
    total.count -
    openOf(sums).count +
    sumOfEnds("accepted", "existing", "refused", "conflict").count;
  /** The time that the other rows take at this speed, and the speed; nothing in the first second. */
  const speedTexts = (left: number): string[] => {
    const ms = now() - startedMs;
    const ended = done() - total.count + openOf(sums).count;
    if (ms < 1_000 || ended === 0) return [];
    const perSecond = (ended * 1_000) / ms;
    return [
      ...(left > 0 ? [`${durationText((left * ms) / ended)} left`] : []),
      `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} rows/s`,
    ];
  };
  return {
    add: ({ amountPaisa, reference }: PlannedPayout, end: RowEnd, failure?: Failure): void => {
      ends.set(end, sumOf(sumOfEnds(end), { count: 1, sumPaisa: amountPaisa }));
      if (failure && isOmitted(failure.reason))
        skipped = { count: (skipped?.count ?? 0) + 1, failure: skipped?.failure ?? failure };
      else if (failure && !isHeldBack(failure)) last.set(end, failure);
      if (end !== "uncertain" || !isBlocked(failure)) return;
      const hint = failure?.details.hint ?? resolveHint(reference, "payout", deps.account);
      blocked = { count: (blocked?.count ?? 0) + 1, hint: blocked?.hint ?? hint };
    },
    /** The rows of unknown outcome that no further run sends, with how the first one is resolved. */
    blocked: () => blocked,
    /** The rows that were omitted, and why the first one was. */
    skipped: () => skipped,
    existing: () => sumOfEnds("existing"),
    /** Accepted by requests of this run. */
    sent: () => sumOfEnds("accepted"),
    /** An internal error may have kept the end of one row from each worker. */
    certain: (workers: number): Certain => ({
      accepted: sumOf(before, sumOfEnds("accepted", "existing")),
      unsent: Math.max(0, sums.unsent.count - sumOf(...ends.values()).count - workers),
    }),
    progressLine: (): ProgressLine => {
      const rejected = sums.refused.count + sumOfEnds("refused").count;
      const unknown = sumOfEnds("uncertain").count;
      const { sumPaisa } = sumOf(before, sumOfEnds("accepted", "existing"));
      const parts = [
        `${done()} of ${rowsText(total.count)}`,
        ...(rejected > 0 ? [`${rejected} rejected`] : []),
        ...(unknown > 0 ? [`${unknown} unknown`] : []),
        `${formatPaisa(sumPaisa)} of ${formatPaisa(total.sumPaisa)}`,
        ...speedTexts(total.count - done()),
      ];
      return { parts, done: done() / total.count };
    },
    /** Why rows are still open, apart from the rule that stopped the run. */
    notes: (stopped: Failure | undefined): string[] => {
      const isLate = isOutOfTime() && done() < total.count;
      const locked = last.get("locked");
      const silence = last.get("uncertain") ?? last.get("unreachable");
      const others = `Other processes are working on ${rowsText(sumOfEnds("locked").count)}.`;
      return [
        ...(skipped ? [`${rowsText(skipped.count)} not tried: ${skipped.failure.message}`] : []),
        ...(locked ? [`${others} ${inOneLine(locked)}`] : []),
        ...(isLate ? ["The time limit (--timeout) elapsed."] : []),
        ...(silence && !stopped && !isLate ? [silence.message] : []),
      ];
    },
  };
}
