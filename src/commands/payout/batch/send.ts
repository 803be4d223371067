import { hasReferenceColumn } from "../../../batches/header.ts";
import type { RowEnd, Sending } from "../../../batches/send.ts";
import { countRow, endingOf, type Standings, type Sum } from "../../../batches/status.ts";
import { readCount } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import type { Preview } from "../../../cli/command/preview.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { Paisa } from "../../../domain/amount.ts";
import { readAmount } from "../../../domain/amount.ts";
import { Failure, type FailureKind, inOneLine, whatHappened } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { OperationDeps } from "../../../operations/deps.ts";
import { patienceOf, waitFlags } from "../../patience.ts";
import {
  type BatchStanding,
  openOf,
  readStanding,
  standingCard,
  standingJson,
  sumJson,
  sumText,
  waitWithProgress,
} from "./batch.ts";
import { adviceOn, batchFailure, sentText } from "./ending.ts";
import { sourceFlags, sourceInput } from "./file.ts";
import { newBatch, previewOf, resumedBatch } from "./plan.ts";

export const batchSend = defineCommand({
  description:
    "The whole file is checked first: one bad row means that nothing is sent. Its rows are then stored in the ledger as a plan, and the file is not read again. The same command again resumes, rows with an unknown outcome first. A rejected row does not stop the others; a conflict, denied access, a failing ledger, five rows in a row without a response, or ten identical rejections in a row do. --dry-run shows the request of the first row.",
  examples: [
    {
      comment: "After 'lenden payout batch check payroll.csv'",
      command: "lenden payout batch send payroll.csv",
    },
    {
      comment: "From a script, in production",
      command:
        "lenden payout batch send payroll.csv --yes --expect-total 152000.50 --expect-count 12",
    },
    {
      comment: "Sixteen rows at a time, until all are Completed or Cancelled",
      command: "lenden payout batch send payroll.csv --concurrency 16 --wait",
    },
  ],
  arguments: sourceInput,
  flags: {
    ...sourceFlags,
    concurrency: flag.optional(
      "--concurrency <n>",
      "Rows at a time (default 4, at most 64)",
      readCount(64),
    ),
    rate: flag.optional("--rate <n>", "At most so many requests a second", readCount(10_000)),
    expectTotal: flag.optional(
      "--expect-total <bdt>",
      "Send only if this is the file's total",
      readAmount,
    ),
    expectCount: flag.optional(
      "--expect-count <n>",
      "Send only if the file has so many rows",
      readCount(1_000_000_000),
    ),
    ...waitFlags,
  },
  writes: true,
  patient: true,
  exitCodes: {
    refused: "rejected by the API or by a safety check; nothing changed",
    conflict: "the reference or ID belongs to a different transaction",
    mixed: "a batch ended with rejected or cancelled rows, none unknown",
    pending: "still Processing when the wait timed out",
    uncertain: "outcome unknown: money may have moved",
  },
  async run(input, context): Promise<Sent | Preview> {
    const { hashOf } = await import("../../../batches/csv.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger.own();
    await context.config.payoutSecret();
    if (input.dryRun) return previewOf(input, hash, ledger, context);
    const known = await ledger.batches.ofFile(hash, input.name);
    const batch = known
      ? await resumedBatch(known, input, ledger, context)
      : await newBatch(input, hash, ledger, context);
    const pacing = { concurrency: input.concurrency ?? 4, perSecond: input.rate };
    const { stopped, existing, because } = await sendRows(batch, pacing, ledger, context);
    try {
      if (input.wait && !stopped) await waitWithProgress(batch, patienceOf(input), ledger, context);
      const standing = await readStanding(batch, ledger);
      const advice = await adviceOn(standing, ledger);
      if (advice) context.ui.notice(advice);
      const stoppedBy = stopped?.kind;
      return { ...standing, existing, waited: input.wait, stoppedBy, because, advice };
    } catch (error) {
      throw failedAfterSending(error, batch);
    }
  },
  json: (done) => ({ ...standingJson(done), existing: sumJson(done.existing) }),
  view: (done) => standingCard(done),
  ending: (done) =>
    batchFailure(endingOf(done.sums, done), done, { because: done.because, hint: done.advice }),
});

interface Sent extends BatchStanding {
  /** Rows that were not paid now: the API had payouts of their references before. */
  existing: Sum;
  waited: boolean;
  stoppedBy: FailureKind | undefined;
  /** What ended it early, in words. */
  because: string | undefined;
  advice: string | undefined;
}

/** Exit 1 means that nothing was sent, which is not known once the rows were. */
function failedAfterSending(cause: unknown, { id }: Batch): unknown {
  if (cause instanceof Failure && cause.kind !== "internal") return cause;
  const why = cause instanceof Failure ? ` ${cause.message}` : "";
  const message = `Batch ${id} was sent, but the states of its rows cannot be read.${why}`;
  const hint = `Run 'lenden ledger check', then 'lenden payout batch status ${id}'. Do not send the rows in another way.`;
  return new Failure("batch.outcome-unknown", message, { hint, operation: id, cause });
}

type Pacing = Pick<Sending, "concurrency" | "perSecond">;

/** What one run did with a batch. */
interface Run {
  /** Why it stopped before the end, if it did. */
  stopped: Failure | undefined;
  existing: Sum;
  because?: string | undefined;
}

/** Sends what is open of a batch, with its progress on stderr; then ends the lock. */
async function sendRows(
  batch: Batch,
  pacing: Pacing,
  ledger: Ledger,
  context: Context,
): Promise<Run> {
  const before = (await readStanding(batch, ledger)).sums;
  if (openOf(before).count === 0) {
    await ledger.batches.release(batch);
    if (before.refused.count + before.cancelled.count + before.conflict.count === 0) {
      const references = hasReferenceColumn(batch.columns)
        ? "give them new references in the column ref and the batch"
        : "give the batch";
      context.ui.notice(
        `To pay the same rows in another month, ${references} a new name with --name.`,
      );
    }
    return { stopped: undefined, existing: { count: 0, sumPaisa: 0n } };
  }
  const { countForgotten, sendBatch } = await import("../../../batches/send.ts");
  const world = await context.api.deps();
  const forgotten = await countForgotten(batch, ledger, world);
  for (const text of unknownTexts(batch, before.uncertain.count, forgotten))
    context.ui.notice(text);
  const seen = createTally(batch, before);
  const progress = context.ui.progress(seen.line);
  const onRow: Sending["onRow"] = (row, end, failure) => {
    seen.add(row, end, failure);
    const isLost = isNotRecorded(end, failure);
    if (failure && (isLost || end === "refused" || end === "conflict"))
      context.ui.notice(
        `line ${row.line}, ${row.reference}: ${whatHappened(failure)}`,
        isLost ? "payout.outcome-not-recorded" : undefined,
      );
  };
  const stopped = await sendBatch({ ...pacing, batch, ledger, onRow }, world).finally(
    progress.close,
  );
  // A ledger that fails does not end the lock: it ends with this process.
  await ledger.batches.release(batch).catch(() => {});
  if (seen.existing.count > 0)
    context.ui.notice(
      `Not paid now: ${sumText(seen.existing)}; the API had payouts of their references before. 'lenden payout batch export' shows since when.`,
      "batch.existing",
    );
  const ended = endTexts(stopped, seen, world);
  for (const text of ended) context.ui.notice(text);
  const isLate = world.isOutOfTime() && seen.left() > 0;
  if (isLate || (seen.silence() && !stopped)) {
    // Rows were sent: a ledger that cannot be read now is reported with what is known of them.
    const standing = await readStanding(batch, ledger).catch(() => undefined);
    const counts = standing ? `${sentText(standing)} ` : "";
    const late = `--timeout ended the batch: ${counts}Run the same command again to resume.`;
    if (isLate || counts) context.ui.notice(isLate ? late : counts.trim());
  }
  if (isLate) ended.push("--timeout ended the batch.");
  return { stopped, existing: seen.existing, because: ended.join(" ") || undefined };
}

/** What happens to rows whose outcome is unknown from an earlier run. */
function unknownTexts({ id }: Batch, uncertain: number, forgotten: number): string[] {
  return [
    ...(uncertain > forgotten
      ? [
          `${rowsText(uncertain - forgotten)} with an unknown outcome from an earlier run: sent first, with the same references, after a rest of up to 10 seconds, because the API may still be working on them.`,
        ]
      : []),
    ...(forgotten > 0
      ? [
          `${rowsText(forgotten)} with an outcome unknown for over 24 hours: they are not sent again automatically. Check the dashboard, then run 'lenden payout batch resolve ${id} --not-created' for those that were not created.`,
        ]
      : []),
  ];
}

type RunTally = ReturnType<typeof createTally>;

/** Counts the rows of a run, so that the ledger is not added up for every line of progress. */
function createTally(batch: Batch, before: Standings) {
  const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
  let done = rowCount - openOf(before).count;
  let sentPaisa =
    before.completed.sumPaisa + before.processing.sumPaisa + before.cancelled.sumPaisa;
  const counts = { refused: before.refused.count, uncertain: 0 };
  const existing: Sum = { count: 0, sumPaisa: 0n };
  let silence: Failure | undefined;
  let locked: { count: number; by: Failure } | undefined;
  return {
    existing,
    left: () => rowCount - done,
    /** The last row that had no response. */
    silence: () => silence,
    /** Rows that other processes work on. */
    locked: () => locked,
    add: (row: { amountPaisa: Paisa }, end: RowEnd, failure: Failure | undefined): void => {
      const isAccepted = end === "sent" || end === "existing";
      if (isAccepted || end === "refused" || end === "conflict") done += 1;
      if (isAccepted) sentPaisa += row.amountPaisa;
      if (end === "existing") countRow(existing, row);
      if (end === "refused" || end === "uncertain") counts[end] += 1;
      if (end === "unreachable" || end === "uncertain") silence = failure ?? silence;
      if (end === "locked" && failure) locked = { count: (locked?.count ?? 0) + 1, by: failure };
    },
    /** The most important first: what does not fit is omitted from the end. */
    line: (): string[] => [
      `${done} of ${rowsText(rowCount)}`,
      ...(counts.refused > 0 ? [`${counts.refused} rejected`] : []),
      ...(counts.uncertain > 0 ? [`${counts.uncertain} unknown`] : []),
      `${formatPaisa(sentPaisa)} of ${formatPaisa(totalPaisa)}`,
    ],
  };
}

/** P21: of what was sent and could not be recorded, a line is all that is left. */
function isNotRecorded(end: RowEnd, failure: Failure | undefined): boolean {
  const { cause, unrecorded } = failure?.details ?? {};
  return end === "uncertain" && cause !== undefined && unrecorded !== "NOT_SENT";
}

/** Why a run ended before its last row, and how to resume. */
function endTexts(stopped: Failure | undefined, seen: RunTally, world: OperationDeps): string[] {
  const [locked, silence, left] = [seen.locked(), seen.silence(), seen.left()];
  const texts: string[] = [];
  if (locked)
    texts.push(
      `${rowsText(locked.count)} not sent now, because other processes work on them. ${inOneLine(locked.by)}`,
    );
  if (stopped) texts.push(inOneLine(stopped));
  const resume = "Run the same command again to resume.";
  const isHalfDone = stopped
    ? ["conflict", "access", "mixed"].includes(stopped.kind)
    : world.isStopping() && !world.isOutOfTime();
  if (left > 0 && isHalfDone) texts.push(`Stopped; still open: ${rowsText(left)}. ${resume}`);
  else if (silence && !stopped && !world.isOutOfTime()) texts.push(`${silence.message} ${resume}`);
  return texts;
}
