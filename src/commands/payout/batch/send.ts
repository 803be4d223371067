import { setFlagsFromString } from "node:v8";
import type { CsvFile } from "../../../batches/csv.ts";
import type { RowEnd, Sending } from "../../../batches/send.ts";
import {
  type BatchStatus,
  endingOf,
  openOf,
  readStatus,
  type Sum,
  sumOf,
  totalOf,
} from "../../../batches/status.ts";
import { readCount } from "../../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { durationText } from "../../../cli/output/time.ts";
import { rowsText } from "../../../cli/output/view.ts";
import type { ProgressLine } from "../../../cli/terminal/reporter.ts";
import { readAmount } from "../../../domain/amount.ts";
import {
  Failure,
  inOneLine,
  isOfLedger,
  type Reason,
  whatHappened,
} from "../../../domain/failure.ts";
import { formatDay } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch, PlannedPayout } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { resolveHint } from "../../../operations/compare.ts";
import type { OperationDeps } from "../../../operations/deps.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import {
  batchFields,
  endingFailure,
  existedText,
  resumeHint,
  sentences,
  statusCard,
  statusJson,
  sumJson,
  waitWithProgress,
} from "./batch.ts";
import {
  batchOfFile,
  checkExpected,
  describeBatch,
  type FileToSend,
  fileArgument,
  fileFlags,
  newPeriodText,
  type PlanInput,
  readToSend,
} from "./file.ts";

export const batchSend = defineCommand({
  description:
    "If one row of the file is invalid, nothing is sent. If the API rejects a row, the other rows are still sent. To resume after an interruption, run the same command again.",
  examples: {
    "Send a file, or resume it": "lenden payout batch send payroll.csv",
    "Send a file from a script, in production":
      "lenden payout batch send payroll.csv --yes --expect-total 152000.50 --expect-count 12",
  },
  arguments: fileArgument,
  flags: {
    ...fileFlags,
    concurrency: flag.optional(
      "--concurrency <n>",
      "Rows sent at the same time, 1 to 64 (default: 4)",
      readCount(64),
    ),
    rate: flag.optional(
      "--rate <n>",
      "Maximum requests per second (default: no limit)",
      readCount(10_000),
    ),
    expectTotal: flag.optional(
      "--expect-total <bdt>",
      "Send only if the amounts add up to this",
      readAmount,
    ),
    expectCount: flag.optional(
      "--expect-count <n>",
      "Send only if the file has this many rows",
      readCount(1_000_000_000),
    ),
    ...waitFlags,
    dryRun: flag.toggle("--dry-run", "Print the request of the first row without sending it"),
  },
  mode: "write",
  patient: true,
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    unreachable: "not all rows were sent; run it again",
    uncertain: "the outcome of some rows is unknown; run it again",
  },
  async run(input, context) {
    // After the rows of a big file are read, V8 would let as much garbage grow beside them.
    setFlagsFromString("--heap-growing-percent=50");
    const { readCsvFile } = await import("../../../batches/csv.ts");
    const csv = await readCsvFile(input.file);
    const ledger = await context.ledger.own();
    await context.config.payoutSecret();
    if (input.dryRun) return previewOf(input, csv, ledger, context);
    const batch = await batchOfFile(input, csv, ledger, context);
    const pacing = { concurrency: input.concurrency ?? 4, perSecond: input.rate };
    const { existing, certain, ...stop } = await sendRows(batch, pacing, ledger, context);
    const { stopped } = stop;
    try {
      if (input.wait && !stopped)
        await waitWithProgress(batch, waitOptionsOf(input), ledger, context);
      const status = await readStatus(batch, ledger);
      const kind = endingOf(status.sums, { waited: input.wait, stoppedBy: stopped?.kind });
      const failure = await endingFailure(kind, status, stop, ledger);
      return { ...status, existing, failure };
    } catch (error) {
      throw failedAfterSending(error, batch, certain);
    }
  },
  output: (schema) => {
    const { z, count, amount, dryRun, warnings } = schema;
    const existing = z.strictObject({ rows: count, total: amount });
    return z.union([z.strictObject({ ...batchFields(schema), existing, warnings }), dryRun]);
  },
  json: (sent) => ({ ...statusJson(sent), existing: sumJson(sent.existing) }),
  view: (sent) => statusCard(sent),
  ending: ({ failure }) => failure,
});

/** What a run shows of its batch without the ledger. */
interface Certain {
  /** Recorded as accepted, in this run or before it. */
  accepted: Sum;
  /** At least so many rows were not sent. */
  unsent: number;
}

/** Exit 1 means that nothing was sent, which is not known once the rows were. */
function failedAfterSending(cause: unknown, batch: Batch, { accepted, unsent }: Certain): unknown {
  if (cause instanceof Failure && cause.kind !== "internal" && !isOfLedger(cause)) return cause;
  const { id } = batch;
  const total = totalOf(batch);
  const isWhole = accepted.count === total.count;
  const amounts = `${formatPaisa(accepted.sumPaisa)} of ${formatPaisa(total.sumPaisa)}`;
  const message = sentences([
    isWhole
      ? `Batch ${id} was sent, but the status of its rows cannot be read.`
      : `The status of batch ${id} cannot be read. At least ${accepted.count} of ${rowsText(total.count)} were accepted (${amounts}).`,
    unsent > 0 ? `At least ${rowsText(unsent)} were not sent.` : "",
    cause instanceof Failure ? cause.message : "",
  ]);
  const hint = sentences([
    `Do not pay the rows in another way. Run 'lenden ledger check', then 'lenden payout batch status ${id}'.`,
    isWhole ? "" : resumeHint,
  ]);
  return new Failure("batch.outcome-unknown", message, { hint, operation: id, cause });
}

/** Checks the file, and returns the request of its first row; nothing is sent or stored. */
async function previewOf(input: PlanInput, csv: CsvFile, ledger: Ledger, context: Context) {
  const { payoutBody } = await import("../../../operations/payout/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const sought = await readToSend(input, csv, ledger, context);
  if (sought.batch) context.ui.notice(await describeBatch(sought.batch, ledger), "batch.exists");
  const total = sought.batch ? totalOf(sought.batch) : sought.examined.totals.total;
  checkExpected(input, total);
  const first = await firstRow(sought, ledger);
  noteFirst(total.count, context);
  return context.api.preview("createPayout", payoutBody(orderOfRow(first)));
}

/** Of the plan of a batch, whatever its file has. */
async function firstRow(
  sought: FileToSend,
  ledger: Ledger,
): Promise<Omit<PlannedPayout, "isAccepted">> {
  const { isComplete } = await import("../../../batches/identity.ts");
  if (sought.batch) {
    for await (const row of ledger.batches.rows(sought.batch, "all")) return row;
    throw new Error("a batch was planned without rows");
  }
  const [first] = sought.examined.totals.first;
  if (!first || !isComplete(first)) throw new Error("a row without problems cannot be read");
  return first;
}

function noteFirst(rows: number, { ui }: Context): void {
  if (rows > 1) ui.notice(`This is the request of the first of ${rowsText(rows)}.`);
}

type Pacing = Pick<Sending, "concurrency" | "perSecond">;

/** Sends what is open of a batch, with progress on stderr; then ends the lock. */
async function sendRows(batch: Batch, pacing: Pacing, ledger: Ledger, { api, ui }: Context) {
  const before = await readStatus(batch, ledger);
  if (openOf(before.sums).count === 0) {
    await ledger.batches.release(batch);
    if (ui.output !== "ids") ui.notice(await nothingLeftText(before, ledger), "batch.already-sent");
    const { completed, processing, cancelled } = before.sums;
    const certain = { accepted: sumOf(completed, processing, cancelled), unsent: 0 };
    return { notes: [], existing: { count: 0, sumPaisa: 0n }, certain };
  }
  const { countForgotten, sendBatch } = await import("../../../batches/send.ts");
  const deps = await api.deps();
  const forgotten = await countForgotten(batch, ledger, deps);
  const retried = before.sums.uncertain.count - forgotten;
  const since = (await deps.guarantees()).references ? " for over 24 hours" : "";
  if (forgotten > 0)
    ui.notice(
      `lenden does not retry ${rowsText(forgotten)} with an unknown outcome${since}. If the API does not have these payouts, run 'lenden payout batch resolve ${batch.id} --not-created'.`,
    );
  const run = createRunTally(before, deps);
  const progress = ui.progress(run.progressLine);
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
      ui.notice(text, "payout.outcome-not-recorded");
    else if (end === "refused" || end === "conflict") ui.notice(text);
  };
  const sending = sendBatch({ ...pacing, batch, ledger, onRow }, deps);
  const stopped = await sending.finally(progress.close);
  // If the ledger fails, the lock ends with this process.
  await ledger.batches.release(batch).catch(() => {});
  const existing = run.existing();
  if (existing.count > 0)
    ui.notice(
      `${existedText(existing, before.total)}, already existed at the API and were not paid now. For their dates, run 'lenden payout batch export ${batch.id}'.`,
      "batch.existing",
    );
  const certain = run.certain(pacing.concurrency);
  return { stopped, notes: run.notes(stopped), blocked: run.blocked(), existing, certain };
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
      if (failure) last.set(end, failure);
      if (end !== "uncertain" || !isBlocked(failure)) return;
      const hint = failure?.details.hint ?? resolveHint(reference, "payout", deps.account);
      blocked = { count: (blocked?.count ?? 0) + 1, hint: blocked?.hint ?? hint };
    },
    /** The rows of unknown outcome that no further run sends, with how the first one is resolved. */
    blocked: () => blocked,
    existing: () => sumOfEnds("existing"),
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
        ...(locked ? [`${others} ${inOneLine(locked)}`] : []),
        ...(isLate ? ["The time limit (--timeout) elapsed."] : []),
        ...(silence && !stopped && !isLate ? [silence.message] : []),
      ];
    },
  };
}
