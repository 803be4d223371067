import { hasReferenceColumn } from "../../../batches/header.ts";
import type { RowEnd, Sending } from "../../../batches/send.ts";
import type { Standings, Sum } from "../../../batches/status.ts";
import type { Batch, Context, Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Failure, inOneLine, whatHappened } from "../../../domain/failure.ts";
import type { World } from "../../../operations/world.ts";
import { type Counter, openCounter } from "./counter.ts";
import { readStanding, rowsAnd, sentText } from "./standing-card.ts";

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
  /** What ended it before its last row, in words. */
  because?: string | undefined;
}

/** Sends what is open of a batch, with its progress on stderr; then lets it go. */
export async function sendWithProgress(
  batch: Batch,
  pacing: Pacing,
  ledger: Ledger,
  context: Context,
): Promise<RunOver> {
  const before = (await readStanding(batch, ledger)).sums;
  const seen = openCounter(batch, before, context.host);
  if (seen.isDone()) {
    await ledger.batches.release(batch);
    if (isAllAccepted(before))
      context.notice(
        hasReferenceColumn(batch.columns)
          ? "To pay the same rows in another month, give them new references in the column ref and the batch a new name with --name."
          : "To pay the same rows in another month, give the batch a new name with --name.",
      );
    return { stopped: undefined, existing: seen.existing };
  }
  const { countForgotten } = await import("../../../batches/send.ts");
  const forgotten = await countForgotten(batch, ledger, context.host);
  for (const text of onDoubts(batch, before.uncertain.count, forgotten)) context.notice(text);
  const told = await sendTelling(batch, pacing, seen, ledger, context);
  await letGo(batch, ledger);
  const { existing } = seen;
  if (existing.count > 0) context.notice(notPaidNow(existing), "batch.existing");
  const world = await context.world();
  const ended = [...onEnd(told, seen, world)];
  for (const text of ended) context.notice(text);
  const isLate = world.isOutOfTime() && !seen.isOver();
  if (isLate || (told.silence && !told.stopped)) {
    const counts = sentText(await readStanding(batch, ledger));
    const late = `--timeout ended the batch: ${counts} Run the same command again to resume.`;
    context.notice(isLate ? late : counts);
  }
  if (isLate) ended.push("--timeout ended the batch.");
  return { stopped: told.stopped, existing, because: ended.join(" ") || undefined };
}

function isAllAccepted({ refused, cancelled, conflict }: Standings): boolean {
  return refused.count + cancelled.count + conflict.count === 0;
}

/** Before anything goes out: what becomes of rows in doubt. */
function* onDoubts({ id }: Batch, uncertain: number, forgotten: number): Generator<string> {
  if (uncertain > forgotten)
    yield `${rowsText(uncertain - forgotten)} in doubt from before this run: they are taken first, and go out with the same references after a rest of up to 10 seconds, for the service may still be at work on them. Others go out meanwhile only where there is room beside them.`;
  if (forgotten > 0)
    yield `${rowsText(forgotten)} with an outcome unknown for over 24 hours: they are not sent again automatically. Check the dashboard, then run 'lenden payout batch resolve ${id} --not-created' for those that were not created.`;
}

/** What is to be said of a run when it is over. */
interface Told {
  stopped: Failure | undefined;
  /** The last row that had no answer. */
  silence: Failure | undefined;
  /** Rows that others work on. */
  held: { rows: number; by: Failure } | undefined;
}

async function sendTelling(
  batch: Batch,
  pacing: Pacing,
  seen: Counter,
  ledger: Ledger,
  context: Context,
): Promise<Told> {
  const { sendBatch } = await import("../../../batches/send.ts");
  const world = await context.world();
  const told: Told = { stopped: undefined, silence: undefined, held: undefined };
  const progress = context.progress(seen.line);
  const onRow: Sending["onRow"] = (row, end, failure) => {
    seen.saw(row, end);
    if (end === "unreachable" || end === "uncertain") told.silence = failure ?? told.silence;
    if (end === "locked" && failure) told.held = { rows: (told.held?.rows ?? 0) + 1, by: failure };
    const text = textOf(end, failure);
    if (!text) return;
    const reason = isAllThatIsLeft(end, failure) ? "payout.outcome-not-recorded" : undefined;
    context.notice(`line ${row.line}, ${row.reference}: ${text}`, reason);
  };
  try {
    told.stopped = await sendBatch({ ...pacing, batch, ledger, onRow }, world);
  } finally {
    progress.close();
  }
  return told;
}

function* onEnd({ stopped, silence, held }: Told, seen: Counter, world: World): Generator<string> {
  const goesOn = "The same command again goes on.";
  if (held)
    yield `${rowsText(held.rows)} not sent now, for others work on them. ${inOneLine(held.by)}`;
  if (stopped) yield inOneLine(stopped);
  const isHalfDone = ["conflict", "access", "mixed"].includes(stopped?.kind ?? "");
  const isStopped = world.isStopping() && !world.isOutOfTime();
  const isToGoOn = !seen.isOver() && (stopped ? isHalfDone : isStopped);
  if (isToGoOn) yield `Stopped; still open: ${seen.left()}. ${goesOn}`;
  else if (silence && !stopped && !world.isOutOfTime()) yield `${silence.message} ${goesOn}`;
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
async function letGo(batch: Batch, ledger: Ledger): Promise<void> {
  try {
    await ledger.batches.release(batch);
  } catch {}
}
