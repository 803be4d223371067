import type { Sending } from "../../../batch/send.ts";
import type { Standings } from "../../../batch/standing.ts";
import type { RowEnd } from "../../../batch/stop-rules.ts";
import { formatPaisa } from "../../../contract/money.ts";
import { type Failure, inOneLine, whatHappened } from "../../../failure.ts";
import type { Batch, Context, Ledger } from "../../../frame/context.ts";
import { rowsText } from "../../../ui/rows.ts";
import { rowsAnd, standingOf } from "./standing-card.ts";

interface Pacing {
  concurrency: number;
  perSecond: number | undefined;
}

/** Sends what is open of a batch, with its progress on stderr; then lets it go. */
export async function sendWithProgress(
  batch: Batch,
  pacing: Pacing,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { countForgotten, sendBatch } = await import("../../../batch/send.ts");
  const before = standingOf(batch, ledger).sums;
  const seen = openCounter(batch, before, context.host);
  if (seen.isDone()) {
    ledger.batches().letGo(batch);
    const again =
      "To pay the same again, as in another month, give the rows new references in the column ref.";
    const ended = before.refused.count + before.cancelled.count + before.conflict.count;
    const nothing = "No row of this file is left to be sent; nothing was sent now.";
    context.notice(ended > 0 ? nothing : `${nothing} ${again}`);
    return undefined;
  }
  const forgotten = countForgotten({ batch, ledger }, context.host);
  const resent = before.uncertain.count - forgotten;
  if (resent > 0)
    context.notice(
      `${rowsText(resent)} in doubt since an earlier run: they are taken first, and go out with the same references after a rest of up to 10 seconds, for the service may still be at work on them. Other rows go out meanwhile.`,
    );
  if (forgotten > 0)
    context.notice(
      `${rowsText(forgotten)} in doubt for more than a day: they are not sent again, for nobody knows whether the service still knows their references. Look in the merchant dashboard, then say what you found with 'lenden ledger resolve'.`,
    );
  const progress = context.progress(seen.line);
  let reason: Failure | undefined;
  let silence: Failure | undefined;
  try {
    const sending: Sending = {
      ...pacing,
      batch,
      ledger,
      commit: await context.committer(),
      onRow: (row, end, failure) => {
        seen.saw(row, end);
        const isSilence = end === "unreachable" || end === "uncertain";
        if (isSilence) silence = failure ?? silence;
        const told = textOf(end, failure);
        if (told) progress.note(`line ${row.line}, ${row.reference}: ${told}`);
      },
    };
    reason = await sendBatch(sending, await context.world());
  } finally {
    progress.close();
  }
  letGo(batch, ledger);
  const existing = seen.existing();
  if (existing) context.notice(existing);
  if (reason) context.notice(inOneLine(reason));
  const isHalfDone = reason?.kind === "conflict" || reason?.kind === "access";
  if (isHalfDone && !seen.isOver()) context.notice(seen.goOn());
  if (reason) return reason;
  if (context.stopping.aborted) context.notice(seen.goOn());
  else if (silence) context.notice(`${silence.message} The same command again goes on.`);
  return reason;
}

/** What is told of a row in a line of its own. */
function textOf(end: RowEnd, failure: Failure | undefined): string | undefined {
  if (!failure) return undefined;
  const isTold = end === "refused" || end === "conflict" || isAllThatIsLeft(end, failure);
  return isTold ? whatHappened(failure) : undefined;
}

/**
 * Of what was sent and could not be written down (P21), a line is all that is left. What was not
 * sent needs none.
 */
function isAllThatIsLeft(end: RowEnd, failure: Failure | undefined): boolean {
  const { cause, unrecorded } = failure?.details ?? {};
  return end === "uncertain" && cause !== undefined && unrecorded !== "NOT_SENT";
}

/** A ledger that fails cannot be told any more; the lock dies with this process. */
function letGo(batch: Batch, ledger: Ledger): void {
  try {
    ledger.batches().letGo(batch);
  } catch {}
}

/** Counts along, so that the ledger need not be added up for every line. */
function openCounter(batch: Batch, before: Standings, { now }: { now(): number }) {
  const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
  const startMs = now();
  const open = before.unsent.count + before.uncertain.count;
  let done = rowCount - open;
  let sentPaisa =
    before.completed.sumPaisa + before.processing.sumPaisa + before.cancelled.sumPaisa;
  const counts = { refused: before.refused.count, uncertain: 0 };
  const existing = { count: 0, sumPaisa: 0n };
  const doneBefore = done;
  return {
    isDone: () => open === 0,
    isOver: () => done === rowCount,
    goOn: (): string =>
      `Stopped; still open: ${rowsText(rowCount - done)}. The same command again goes on.`,
    /** What the service had before, if there is such. */
    existing: (): string | undefined =>
      existing.count === 0
        ? undefined
        : `Not paid now: ${rowsAnd(existing.count, existing.sumPaisa)}; the service had payouts of their references already. 'lenden payout batch export' says of each since when.`,
    saw: ({ amountPaisa }: { amountPaisa: bigint }, end: string): void => {
      const isThere = end === "sent" || end === "existing";
      if (isThere || end === "refused" || end === "conflict") done += 1;
      if (isThere) sentPaisa += amountPaisa;
      if (end === "existing") {
        existing.count += 1;
        existing.sumPaisa += amountPaisa;
      }
      if (end === "refused" || end === "uncertain") counts[end] += 1;
    },
    /** The most important first: what does not fit is left out from the end. */
    line: (): string[] => {
      const seconds = Math.max(0.001, (now() - startMs) / 1_000);
      const rate = (done - doneBefore) / seconds;
      return [
        `${done} of ${rowCount} rows`,
        ...(counts.refused > 0 ? [`${counts.refused} refused`] : []),
        ...(counts.uncertain > 0 ? [`${counts.uncertain} uncertain`] : []),
        `${formatPaisa(sentPaisa)} of ${formatPaisa(totalPaisa)}`,
        `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} rows/s`,
        ...(rate > 0 && done < rowCount ? [`${duration((rowCount - done) / rate)} left`] : []),
      ];
    },
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
