import { hasReferenceColumn } from "../../../batches/header.ts";
import type { RowEnd, Sending } from "../../../batches/send.ts";
import { type BatchStatus, countRow, endingOf, openOf, type Sum } from "../../../batches/status.ts";
import { readCount } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import type { Preview } from "../../../cli/command/preview.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import type { Paisa } from "../../../domain/amount.ts";
import { readAmount } from "../../../domain/amount.ts";
import { Failure, usage, whatHappened } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { OperationDeps } from "../../../operations/deps.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import { readStatus, statusCard, statusJson, sumJson, waitWithProgress } from "./batch.ts";
import { examineFile, fileArgument, fileFlags } from "./file.ts";
import { checkExpected, existingBatch, newBatch, type PlanInput, resumedBatch } from "./plan.ts";
import {
  describeExisting,
  endingFailure,
  existingText,
  lockedRowsText,
  nothingLeftText,
  type RunStop,
  rejectProblems,
  shownEnding,
  unknownRowsTexts,
} from "./texts.ts";

export const batchSend = defineCommand({
  description:
    "Checks the whole file first: if one row is invalid, nothing is sent. Then copies the rows into the ledger and sends each of them once. After an interruption, the same command resumes the batch. A rejected row does not stop the others.",
  examples: {
    "Send a file, or resume it": "lenden payout batch send payroll.csv",
    "Send a file from a script, in production":
      "lenden payout batch send payroll.csv --yes --expect-total 152000.50 --expect-count 12",
    "Send 16 rows at a time and wait until all payouts end":
      "lenden payout batch send payroll.csv --concurrency 16 --wait",
  },
  arguments: fileArgument,
  flags: {
    ...fileFlags,
    concurrency: flag.optional(
      "--concurrency <n>",
      "Rows sent at a time, at most 64 (default: 4)",
      readCount(64),
    ),
    rate: flag.optional("--rate <n>", "Most requests per second", readCount(10_000)),
    expectTotal: flag.optional(
      "--expect-total <bdt>",
      "Send only if the file has this total",
      readAmount,
    ),
    expectCount: flag.optional(
      "--expect-count <n>",
      "Send only if the file has this many rows",
      readCount(1_000_000_000),
    ),
    ...waitFlags,
  },
  writes: true,
  patient: true,
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    partial: "some rows were rejected or cancelled; none is unknown",
    locked: "another process is sending the batch",
    unreachable: "not all rows were sent; run the same command again",
    uncertain: "the outcome of some rows is unknown; run it again",
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
    const { existing, ...stop } = await sendRows(batch, pacing, ledger, context);
    const { stopped } = stop;
    try {
      if (input.wait && !stopped)
        await waitWithProgress(batch, waitOptionsOf(input), ledger, context);
      const status = await readStatus(batch, ledger);
      const kind = endingOf(status.sums, { waited: input.wait, stoppedBy: stopped?.kind });
      const failure = await endingFailure(kind, status, stop, ledger);
      if (failure) context.ui.notice(shownEnding(failure));
      return { ...status, existing, failure };
    } catch (error) {
      throw failedAfterSending(error, batch);
    }
  },
  json: (sent) => ({ ...statusJson(sent), existing: sumJson(sent.existing) }),
  view: (sent) => statusCard(sent),
  ending: ({ failure }) => failure,
});

interface Sent extends BatchStatus {
  /** Rows that were not paid now: the API had payouts of their references before. */
  existing: Sum;
  failure: Failure | undefined;
}

/** Exit 1 means that nothing was sent, which is not known once the rows were. */
function failedAfterSending(cause: unknown, { id }: Batch): unknown {
  if (cause instanceof Failure && cause.kind !== "internal") return cause;
  const why = cause instanceof Failure ? ` ${cause.message}` : "";
  const message = `Batch ${id} was sent, but the status of its rows cannot be read.${why}`;
  const hint = `Do not send the rows in another way. Run 'lenden ledger check', then 'lenden payout batch status ${id}'.`;
  return new Failure("batch.outcome-unknown", message, { hint, operation: id, cause });
}

/** Checks the file, and returns the request of its first row; nothing is sent or stored. */
async function previewOf(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Preview> {
  const { payoutBody } = await import("../../../payouts/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const { isComplete } = await import("../../../batches/identity.ts");
  const examined = await examineFile(input, hash, ledger, context);
  const { problems, totals } = examined;
  const existing = await existingBatch(examined, input.name, ledger);
  if (existing?.kind === "rejected") throw existing.failure;
  if (existing) context.ui.notice(await describeExisting(existing, ledger), "batch.exists");
  else await rejectProblems(input.file, problems, ledger);
  checkExpected(input, totals.total);
  const [first] = totals.first;
  if (!first || !isComplete(first)) throw usage(["The file has no row."]);
  return context.api.preview("createPayout", payoutBody(orderOfRow(first)));
}

type Pacing = Pick<Sending, "concurrency" | "perSecond">;

/** Sends what is open of a batch, with progress on stderr; then ends the lock. */
async function sendRows(
  batch: Batch,
  pacing: Pacing,
  ledger: Ledger,
  { api, ui }: Context,
): Promise<RunStop & { existing: Sum }> {
  const before = await readStatus(batch, ledger);
  if (openOf(before.sums).count === 0) {
    await ledger.batches.release(batch);
    const text = await nothingLeftText(before, hasReferenceColumn(batch.columns), ledger);
    ui.notice(text, "batch.already-sent");
    return { notes: [], existing: { count: 0, sumPaisa: 0n } };
  }
  const { countForgotten, sendBatch } = await import("../../../batches/send.ts");
  const world = await api.deps();
  const forgotten = await countForgotten(batch, ledger, world);
  for (const text of unknownRowsTexts(batch, before.sums.uncertain.count, forgotten))
    ui.notice(text);
  const run = createRunTally(before);
  const progress = ui.progress(run.progressLine);
  const onRow: Sending["onRow"] = (row, end, failure) => {
    run.add(row, end, failure);
    if (!failure) return;
    const isLost = isNotRecorded(end, failure);
    const text = `line ${row.line}, ${row.reference}: ${whatHappened(failure)}`;
    if (isLost) ui.notice(text, "payout.outcome-not-recorded");
    else if (end === "refused" || end === "conflict") ui.notice(text);
  };
  const stopped = await sendBatch({ ...pacing, batch, ledger, onRow }, world).finally(
    progress.close,
  );
  // If the ledger fails, the lock ends with this process.
  await ledger.batches.release(batch).catch(() => {});
  if (run.existing.count > 0) ui.notice(existingText(run.existing), "batch.existing");
  return { stopped, notes: run.notes(stopped, world), existing: run.existing };
}

/** Counts the rows of a run, so that the ledger is not added up for every line of progress. */
function createRunTally({ total, sums }: BatchStatus) {
  let done = total.count - openOf(sums).count;
  let acceptedPaisa = sums.completed.sumPaisa + sums.processing.sumPaisa + sums.cancelled.sumPaisa;
  const counts = { refused: sums.refused.count, uncertain: 0 };
  const existing: Sum = { count: 0, sumPaisa: 0n };
  /** The last row that had no response. */
  let silence: Failure | undefined;
  let locked: { count: number; by: Failure } | undefined;
  return {
    existing,
    add: (row: { amountPaisa: Paisa }, end: RowEnd, failure: Failure | undefined): void => {
      const isAccepted = end === "accepted" || end === "existing";
      if (isAccepted || end === "refused" || end === "conflict") done += 1;
      if (isAccepted) acceptedPaisa += row.amountPaisa;
      if (end === "existing") countRow(existing, row);
      if (end === "refused" || end === "uncertain") counts[end] += 1;
      if (end === "unreachable" || end === "uncertain") silence = failure ?? silence;
      if (end === "locked" && failure) locked = { count: (locked?.count ?? 0) + 1, by: failure };
    },
    /** The most important part first: the end of the line may not fit. */
    progressLine: (): string[] => [
      `${done} of ${rowsText(total.count)}`,
      ...(counts.refused > 0 ? [`${counts.refused} rejected`] : []),
      ...(counts.uncertain > 0 ? [`${counts.uncertain} unknown`] : []),
      `${formatPaisa(acceptedPaisa)} of ${formatPaisa(total.sumPaisa)}`,
    ],
    /** Why rows are still open, apart from the rule that stopped the run. */
    notes: (stopped: Failure | undefined, world: OperationDeps): string[] => {
      const isLate = world.isOutOfTime() && done < total.count;
      return [
        ...(locked ? [lockedRowsText(locked)] : []),
        ...(isLate ? ["The time of --timeout elapsed."] : []),
        ...(silence && !stopped && !isLate ? [silence.message] : []),
      ];
    },
  };
}

/** P21: one line is all that is left of an outcome that could not be recorded. */
function isNotRecorded(end: RowEnd, { details }: Failure): boolean {
  const { cause, unrecorded } = details;
  return end === "uncertain" && cause !== undefined && unrecorded !== "NOT_SENT";
}
