import { setFlagsFromString } from "node:v8";
import type { CsvFile } from "../../../batches/csv.ts";
import type { FileToSend } from "../../../batches/file.ts";
import { statusJson, sumJson } from "../../../batches/plain.ts";
import { endingOf, readStatus, totalOf } from "../../../batches/status.ts";
import { readCount } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { writeCommand } from "../../../cli/command/write-command.ts";
import { readAmount } from "../../../domain/amount.ts";
import { rowsText } from "../../../domain/text.ts";
import type { PlannedPayout } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import { batchFields, statusCard, waitWithProgress } from "./batch.ts";
import {
  batchOfFile,
  checkExpected,
  fileArgument,
  fileFlags,
  type PlanInput,
  readingFor,
} from "./file.ts";

export const batchSend = writeCommand({
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
  patient: true,
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    unreachable: "not all rows were sent; run it again",
    uncertain: "the outcome of some rows is unknown; run it again",
  },
  async resolve(input, { config, ledger }) {
    // After the rows of a big file are read, V8 would let as much garbage grow beside them.
    setFlagsFromString("--heap-growing-percent=50");
    const { readCsvFile } = await import("../../../batches/csv.ts");
    const csv = await readCsvFile(input.file);
    const own = await ledger.own();
    await config.payoutSecret();
    return { input, csv, ledger: own };
  },
  preview: ({ input, csv, ledger }, context) => previewOf(input, csv, ledger, context),
  // The batch is claimed before it is confirmed: what a person confirms cannot change.
  async send({ input, csv, ledger }, context) {
    const batch = await batchOfFile(input, csv, ledger, context);
    const pacing = { concurrency: input.concurrency ?? 4, perSecond: input.rate };
    const { endingFailure, failedAfterSending } = await import("../../../batches/ending.ts");
    const { runBatch } = await import("../../../batches/run.ts");
    const reporting = { ...context.ui, isQuiet: context.ui.output === "ids" };
    const sent = await runBatch(batch, pacing, ledger, context.api.deps, reporting);
    const { existing, certain, ...stop } = sent;
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

/** Checks the file, and returns the request of its first row; nothing is sent or stored. */
async function previewOf(input: PlanInput, csv: CsvFile, ledger: Ledger, context: Context) {
  const { payoutBody } = await import("../../../operations/payout/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const { describeBatch, readToSend } = await import("../../../batches/file.ts");
  const sought = await readToSend(input, csv, ledger, () => readingFor(context));
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
