import { setFlagsFromString } from "node:v8";
import { runJson } from "../../../batches/plain.ts";
import { difference, openOf, readStatus, totalOf } from "../../../batches/status.ts";
import { readCount, readWhole } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { writeCommand } from "../../../cli/command/write-command.ts";
import { readAmount } from "../../../domain/amount.ts";
import { rowsText } from "../../../domain/text.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import { batchArgument, batchFields, statusCard, waitWithProgress } from "./batch.ts";
import {
  checkExpected,
  fileFlags,
  type PlanInput,
  planOf,
  readingFor,
  type Sought,
  seek,
} from "./file.ts";

export const batchSend = writeCommand({
  description:
    "If one row of the file is invalid, nothing is sent. If the API rejects a row, the other rows are still sent. To resume after an interruption, run the same command again.",
  examples: {
    "Send a file, or resume it": "lenden payout batch send payroll.csv",
    "Send a file from a script, in production":
      "lenden payout batch send payroll.csv --yes --expect-total 152000.50 --expect-count 12",
    "Resume the newest batch without its file": "lenden payout batch send @last",
  },
  arguments: { batch: batchArgument },
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
    expectNew: flag.optional(
      "--expect-new <n>",
      "Send only if this many rows are still to be sent",
      readWhole(1_000_000_000),
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
  async resolve(given, context) {
    // After the rows of a big file are read, V8 would let as much garbage grow beside them.
    setFlagsFromString("--heap-growing-percent=50");
    const input = { ...given, file: given.batch };
    const ledger = await context.ledger.own();
    const what = await seek(input, ledger, context);
    if (!given.dryRun) await context.config.payoutSecret();
    return { input, what, ledger };
  },
  preview: ({ input, what, ledger }, context) => previewOf(input, what, ledger, context),
  // The batch is claimed before it is confirmed: what a person confirms cannot change.
  async send({ input, what, ledger }, context) {
    const plan = await planOf(input, what, ledger, context);
    const { batch } = plan;
    const pacing = { concurrency: input.concurrency ?? 4, perSecond: input.rate };
    const { endRun } = await import("../../../batches/ending.ts");
    const { runBatch } = await import("../../../batches/run.ts");
    const ran = await runBatch(plan, pacing, ledger, context.api.deps, context.ui);
    const wait = () => waitWithProgress(batch, waitOptionsOf(input), ledger, context);
    return endRun(batch, ran, ledger, input.wait ? wait : undefined);
  },
  output: (schema) => {
    const { z, count, amount, dryRun, warnings } = schema;
    const sum = z.strictObject({ rows: count, total: amount });
    const more = { existing: sum, sent: sum, warnings };
    return z.union([z.strictObject({ ...batchFields(schema), ...more }), dryRun]);
  },
  json: (ended) => runJson(ended),
  view: (ended) => statusCard(ended),
  ending: ({ failure }) => failure,
});

/** Checks the file, and returns the request of its first row; nothing is sent or stored. */
async function previewOf(input: PlanInput, what: Sought, ledger: Ledger, context: Context) {
  const { payoutBody } = await import("../../../operations/payout/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const { total, first } = await totalAndFirst(input, what, ledger, context);
  noteFirst(total.count, context);
  return context.api.preview("createPayout", payoutBody(orderOfRow(first)));
}

/** Of the plan, if it is a batch already. */
async function totalAndFirst(input: PlanInput, what: Sought, ledger: Ledger, context: Context) {
  const { describeBatch, readToSend } = await import("../../../batches/file.ts");
  const { isComplete } = await import("../../../batches/identity.ts");
  const { deniedByLimits } = await import("../../../batches/plan.ts");
  const sought = what.from
    ? await readToSend(input, what.from, ledger, () => readingFor(context))
    : { ...what, compare: undefined };
  if (sought.batch) {
    const { batch, compare } = sought;
    context.ui.notice(await describeBatch(batch, ledger, compare), "batch.exists");
    const total = totalOf(batch);
    checkExpected(input, total, openOf((await readStatus(batch, ledger)).sums));
    for await (const first of ledger.batches.rows(batch, "all")) return { total, first };
    throw new Error("a batch was planned without rows");
  }
  const { read, totals } = sought.examined;
  const { total, first: rows } = totals;
  checkExpected(input, total, difference(total, read.ledger.sentBefore));
  const denied = await deniedByLimits(read, ledger);
  if (denied) throw denied;
  const [first] = rows;
  if (!first || !isComplete(first)) throw new Error("a row without problems cannot be read");
  return { total, first };
}

function noteFirst(rows: number, { ui }: Context): void {
  if (rows > 1) ui.notice(`This is the request of the first of ${rowsText(rows)}.`);
}
