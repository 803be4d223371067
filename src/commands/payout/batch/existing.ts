import {
  columnsOf,
  exportedRows,
  retryRows,
  type Selection,
  selections,
} from "../../../batches/export.ts";
import { noRetries } from "../../../batches/retries.ts";
import {
  type BatchStatus,
  endingOf,
  openOf,
  readStatus,
  type Sum,
} from "../../../batches/status.ts";
import { exact } from "../../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag, notOneOf, oneOf, takes } from "../../../cli/command/flag.ts";
import { id, money, rowsText, text, time } from "../../../cli/output/view.ts";
import { collect, keysOf } from "../../../domain/collect.ts";
import { Failure, type FailureKind, usage } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import { err, ok, type Result } from "../../../domain/result.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { columnsFlag, type ListColumn, limit, pagesOf, pageTable } from "../../lists.ts";
import { spanOf, timeFilters, zoneOf } from "../../time-filters.ts";
import { waitFlags, waitOptionsOf } from "../../wait-options.ts";
import {
  batchArgument,
  batchFields,
  batchNamed,
  countsText,
  endingFailure,
  noteInProgress,
  retriesText,
  statusCard,
  statusJson,
  statusNames,
  sumJson,
  sumText,
  waitWithProgress,
  warnOfUnchecked,
} from "./batch.ts";

export const batchStatus = defineCommand({
  description: "Counts the rows by their last known status.",
  examples: { "Show a batch by its file": "lenden payout batch status payroll.csv" },
  arguments: { batch: batchArgument },
  flags: {
    refresh: flag.toggle("--refresh", "First update Processing and differing payouts from the API"),
    watch: flag.toggle("--watch", "Show the progress while another process sends the batch"),
    ...waitFlags,
  },
  sameFlagsAs: "payout batch send",
  patient: true,
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    pending: "still being sent, or still Processing after --wait",
    unreachable: "not all rows were sent, or the API did not respond",
    uncertain: "the outcome of some rows is unknown",
  },
  async run(input, context) {
    const { refresh, wait } = input;
    const ledger = await (refresh || wait ? context.ledger.own() : context.ledger.records());
    const batch = await batchNamed(input.batch, ledger);
    if (input.watch) await watch(batch, ledger, context);
    /** Why not every status could be requested: those shown may be old. */
    let unseen: FailureKind | undefined;
    if (wait) {
      const failure = await waitWithProgress(batch, waitOptionsOf(input), ledger, context);
      // A wait for an API that does not respond ends as pending.
      if (failure?.kind === "access") unseen = failure.kind;
    } else if (refresh) {
      const { refreshBatch } = await import("../../../batches/wait.ts");
      const failure = await refreshBatch(batch, ledger, await context.api.deps());
      warnOfUnchecked(failure, context);
      if (failure?.kind !== "not-found") unseen = failure?.kind;
    }
    const status = await readStatus(batch, ledger);
    const isInProgress = await noteInProgress(batch, ledger, context);
    const ended = endingOf(status.sums, { waited: wait, isCancelled: batch.cancelledAt !== null });
    const isOpen = ended === "uncertain" || ended === "unreachable";
    const kind = isInProgress && isOpen ? "pending" : endingKind(ended, status, unseen);
    const failure = await endingFailure(kind, status, { notes: [] }, ledger);
    return { ...status, failure };
  },
  output: (schema) => schema.z.strictObject({ ...batchFields(schema), warnings: schema.warnings }),
  json: (seen) => statusJson(seen),
  view: (seen) => statusCard(seen),
  ending: ({ failure }) => failure,
});

function endingKind(
  ended: FailureKind | undefined,
  { sums }: BatchStatus,
  unseen: FailureKind | undefined,
): FailureKind | undefined {
  if (ended === "conflict" || ended === "uncertain") return ended;
  // The rejected rows are why the others were not sent.
  const isRejected = ended === "unreachable" && sums.refused.count + sums.cancelled.count > 0;
  return unseen ?? (isRejected ? "partial" : ended);
}

const everyMs = 1_000;

/** Reads the ledger every second while a process sends the batch. */
async function watch(batch: Batch, ledger: Ledger, context: Context): Promise<void> {
  const deps = await context.api.deps();
  let line = "";
  const isInProgress = async (): Promise<boolean> => {
    line = countsText(await readStatus(batch, ledger));
    return (await ledger.batches.holderOf(batch)) !== undefined;
  };
  if (!(await isInProgress())) return;
  const progress = context.ui.progress(() => ({ parts: line.split("; ") }));
  try {
    while (!deps.isStopping() && (await isInProgress())) await deps.sleep(everyMs);
  } finally {
    progress.close();
  }
}

export const batchCancel = defineCommand({
  description:
    "Accepted payouts are not cancelled, and unknown outcomes still have to be resolved. To send the file again, run 'lenden payout batch send' with another --name.",
  examples: { "Cancel a batch by its file": "lenden payout batch cancel payroll.csv --yes" },
  arguments: { batch: batchArgument },
  exitCodes: {
    refused: "every row was already sent; nothing changed",
  },
  async run({ batch: name }, context): Promise<BatchStatus> {
    const ledger = await context.ledger.own();
    const batch = await batchNamed(name, ledger);
    const { cancelledAt } = batch;
    if (cancelledAt !== null) {
      context.ui.notice(`Batch ${batch.id} was already cancelled on ${formatTime(cancelledAt)}.`);
      return readStatus(batch, ledger);
    }
    const cancelled = await cancelBatch(batch, ledger, context);
    const { uncertain } = cancelled.sums;
    if (uncertain.count > 0) context.ui.notice(unknownText(uncertain), "batch.outcome-unknown");
    return cancelled;
  },
  output: (schema) => {
    const { z, count, amount, warnings } = schema;
    const released = z.strictObject({ rows: count, total: amount });
    return z.strictObject({ ...batchFields(schema), released, warnings });
  },
  json: (done) => ({ ...statusJson(done), released: sumJson(done.sums.unsent) }),
  view: statusCard,
});

async function cancelBatch(planned: Batch, ledger: Ledger, context: Context): Promise<BatchStatus> {
  const { claimPlanned } = await import("../../../batches/plan.ts");
  const batch = await claimPlanned(planned, ledger);
  try {
    const { sums, total } = await readStatus(batch, ledger);
    const { unsent, uncertain } = sums;
    if (unsent.count === 0) {
      const inspect = `To see the rows, run 'lenden payout batch status ${batch.id}'.`;
      throw new Failure(
        "batch.nothing-to-cancel",
        `Batch ${batch.id} has no row to cancel: all rows were sent.`,
        { hint: uncertain.count > 0 ? unknownText(uncertain) : inspect, operation: batch.id },
      );
    }
    await context.ui.confirm({
      action: "Cancel a batch",
      rows: [
        ["Batch", `${batch.id}, ${batch.name}`],
        ["Total", sumText(total)],
        ["To be cancelled", sumText(unsent)],
        ["Outcome unknown", uncertain.count > 0 ? `${sumText(uncertain)}, not cancelled` : null],
      ],
      alwaysAsked: true,
    });
    return readStatus(await ledger.batches.cancel(batch), ledger);
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

function unknownText({ count }: Sum): string {
  return `The outcome of ${rowsText(count)} is unknown: money may have moved. Run 'lenden ledger resolve'.`;
}

/** The words of the tables, for statuses that have other names in JSON. */
const otherWords = new Map<string, Selection>([
  ["rejected", "refused"],
  ["unknown", "uncertain"],
  ["not-sent", "unsent"],
]);
const selectionWords = selections.map(
  (one) => [...otherWords].find(([, own]) => own === one)?.[0] ?? one,
);

function readSelection(typed: string): Result<Selection> {
  const found = otherWords.get(typed) ?? selections.find((one) => one === typed);
  return found ? ok(found) : err(notOneOf(typed, selectionWords));
}

export const batchExport = defineCommand({
  description: `Writes CSV by default. --only failed writes the rows that can be sent again: correct them, then send them as a new file. Of these, rejected and cancelled rows get new references (INV-7-lenden2). Other values of --only: ${selectionWords.slice(1).join(", ")}.`,
  examples: {
    "Export the rows that can be sent again":
      "lenden payout batch export payroll.csv --only failed",
  },
  arguments: { batch: batchArgument },
  flags: {
    only: flag.optional(
      "--only <status>",
      "Only rows with this status, or failed",
      takes(selectionWords, readSelection),
    ),
    exact,
  },
  format: "csv",
  list: true,
  patient: true,
  async *run({ batch: name, only, exact }, context) {
    const ledger = await context.ledger.records();
    const batch = await batchNamed(name, ledger);
    await noteInProgress(batch, ledger, context);
    const columns = columnsOf(batch, only);
    const retries = noRetries();
    const pages =
      only === "failed" ? retryRows(batch, ledger, retries) : exportedRows(batch, only, ledger);
    let count = 0;
    for await (const rows of pages) {
      count += rows.length;
      yield { columns, rows, exact };
    }
    if (count === 0 && only) {
      const which =
        only === "failed" ? "that can be sent again" : `with status ${statusNames[only]}`;
      context.ui.notice(`Batch ${batch.id} has no rows ${which}.`);
    }
    if (only === "failed") await noteUnknown(batch, ledger, context);
    const omitted = retriesText(retries);
    if (omitted) context.ui.notice(`Rows with new references are omitted. ${omitted}`);
  },
  output: ({ z }) => z.record(z.string(), z.string()),
  json: ({ rows }) => rows,
  view: ({ columns, rows, exact }) => ({
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: rows.map((row) => ({
      id: row.payoutId ?? "",
      cells: Object.fromEntries(columns.map((key) => [key, text(row[key])])),
    })),
    empty: "",
    csv: exact ? "exact" : "safe",
  }),
});

/** Rows of unknown outcome are among those that can be sent again, but only as they are. */
async function noteUnknown(batch: Batch, ledger: Ledger, { ui }: Context): Promise<void> {
  const { count } = (await readStatus(batch, ledger)).sums.uncertain;
  const what = `The outcome of ${rowsText(count)} is unknown`;
  if (count > 0) ui.notice(`${what}: do not change their references or amounts.`);
}

/** An open batch has rows that were not sent, or whose outcome is unknown. */
const statuses = ["open", "ended", "cancelled"] as const;

function statusOf({ batch, sums }: BatchStatus): (typeof statuses)[number] {
  if (batch.cancelledAt !== null) return "cancelled";
  return openOf(sums).count > 0 ? "open" : "ended";
}

const listColumns = {
  batch: ["BATCH", ({ batch }) => id(batch.id)],
  name: ["NAME", ({ batch }) => text(batch.name)],
  rows: ["ROWS", ({ total }) => text(total.count)],
  total: ["TOTAL", ({ total }) => money(total.sumPaisa)],
  accepted: ["ACCEPTED", ({ sums }) => text(sums.completed.count + sums.processing.count)],
  failed: ["FAILED", ({ sums }) => text(sums.refused.count + sums.cancelled.count)],
  conflict: ["CONFLICT", ({ sums }) => text(sums.conflict.count)],
  uncertain: ["UNKNOWN", ({ sums }) => text(sums.uncertain.count)],
  unsent: ["NOT SENT", ({ sums }) => text(sums.unsent.count)],
  createdAt: ["CREATED", ({ batch }) => time(batch.createdAt)],
  status: ["STATUS", (one) => text(statusOf(one))],
  cancelledAt: ["CANCELLED", ({ batch }) => time(batch.cancelledAt)],
  user: ["USER", ({ batch }) => text(batch.user)],
} satisfies Record<string, ListColumn<BatchStatus>>;

const names = keysOf(listColumns);
const list = {
  columns: listColumns,
  table: names.slice(0, 10),
  all: names,
  id: ({ batch }: BatchStatus) => batch.id,
};

export const batchList = defineCommand({
  description: "An open batch has rows that were not sent, or whose outcome is unknown.",
  examples: { "List batches with the status of their rows": "lenden payout batch list" },
  flags: {
    status: flag.optional(
      "--status <status>",
      `Status: {${statuses.join(" | ")}}`,
      oneOf(statuses),
    ),
    ...timeFilters,
    columns: columnsFlag(list),
    limit,
  },
  sameFlagsAs: "payout list",
  list: true,
  async *run({ status, ...given }, context) {
    const { since = "", until = "9", problems } = spanOf(given, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const ledger = await context.ledger.records();
    async function* read(most: number) {
      let left = most;
      for (const batch of await ledger.batches.list(Number.MAX_SAFE_INTEGER)) {
        if (batch.createdAt < since || batch.createdAt > until) continue;
        const one = await readStatus(batch, ledger);
        if (status !== undefined && statusOf(one) !== status) continue;
        yield one;
        left -= 1;
        if (left === 0) return;
      }
    }
    const count = async (most: number) => (await collect(read(most))).length;
    yield* pagesOf(list, { read, count }, { ...given, status }, context);
  },
  output: (schema) => schema.z.strictObject({ ...batchFields(schema), warnings: schema.warnings }),
  json: ({ items }) => items.map(statusJson),
  view: (page) =>
    pageTable(
      page,
      list,
      page.isWhole
        ? "No batches yet. To create a sample file, run 'lenden payout batch template'."
        : "No batch matches. To list all, run 'lenden payout batch list'.",
    ),
});
