import type { Sending } from "../../../batch/send.ts";
import type { Sum } from "../../../batch/standing.ts";
import type { RowEnd } from "../../../batch/stop-rules.ts";
import { type Failure, inOneLine, whatHappened } from "../../../failure.ts";
import type { Batch, Context, Ledger } from "../../../frame/context.ts";
import { rowsText } from "../../../ui/rows.ts";
import { openCounter } from "./counter.ts";
import { readStanding, rowsAnd } from "./standing-card.ts";

interface Pacing {
  concurrency: number;
  perSecond: number | undefined;
}

/** What came of one run over a batch. */
interface RunOver {
  /** Why it stopped before the end, if it did. */
  stopped: Failure | undefined;
  /** Rows that were not paid now: the service had payouts of their references already. */
  existing: Sum;
}

/** Sends what is open of a batch, with its progress on stderr; then lets it go. */
export async function sendWithProgress(
  batch: Batch,
  pacing: Pacing,
  ledger: Ledger,
  context: Context,
): Promise<RunOver> {
  const { countForgotten } = await import("../../../batch/doubtful.ts");
  const { sendBatch } = await import("../../../batch/send.ts");
  const before = readStanding(batch, ledger).sums;
  const seen = openCounter(batch, before, context.host);
  if (seen.isDone()) {
    ledger.batches().letGo(batch);
    const again =
      "To pay the same again, as in another month, give the rows new references in the column ref.";
    const ended = before.refused.count + before.cancelled.count + before.conflict.count;
    const nothing = "No row of this file is left to be sent; nothing was sent now.";
    context.notice(ended > 0 ? nothing : `${nothing} ${again}`);
    return { stopped: undefined, existing: seen.existing };
  }
  const forgotten = countForgotten(batch, ledger, context.host);
  const resent = before.uncertain.count - forgotten;
  if (resent > 0)
    context.notice(
      `${rowsText(resent)} in doubt from before this run: they are taken first, and go out with the same references after a rest of up to 10 seconds, for the service may still be at work on them. Others go out meanwhile only where there is room beside them.`,
    );
  if (forgotten > 0)
    context.notice(
      `${rowsText(forgotten)} in doubt for more than a day: they are not sent again, for nobody knows whether the service still knows their references. Look in the merchant dashboard, then say what you found with 'lenden ledger resolve'.`,
    );
  const world = await context.world();
  const progress = context.progress(seen.line);
  let stopped: Failure | undefined;
  let silence: Failure | undefined;
  let held: { rows: number; by: Failure } | undefined;
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
        if (end === "locked" && failure) held = { rows: (held?.rows ?? 0) + 1, by: failure };
        const told = textOf(end, failure);
        if (told) progress.note(`line ${row.line}, ${row.reference}: ${told}`);
      },
    };
    stopped = await sendBatch(sending, world);
  } finally {
    progress.close();
  }
  letGo(batch, ledger);
  if (seen.existing.count > 0) context.notice(notPaidNow(seen.existing));
  if (held)
    context.notice(
      `${rowsText(held.rows)} not sent now, for others work on them. ${inOneLine(held.by)}`,
    );
  if (stopped) context.notice(inOneLine(stopped));
  const isHalfDone = stopped?.kind === "conflict" || stopped?.kind === "access";
  const isToGoOn = stopped ? isHalfDone && !seen.isOver() : world.isStopping();
  const why = world.isOutOfTime() ? "The time of --timeout is over" : "Stopped";
  if (isToGoOn)
    context.notice(`${why}; still open: ${seen.left()}. The same command again goes on.`);
  else if (silence && !stopped)
    context.notice(`${silence.message} The same command again goes on.`);
  return { stopped, existing: seen.existing };
}

function notPaidNow({ count, sumPaisa }: Sum): string {
  return `Not paid now: ${rowsAnd(count, sumPaisa)}; the service had payouts of their references already. 'lenden payout batch export' says of each since when.`;
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
