import {
  columnsOf,
  exportedRows,
  retryRows,
  type Selection,
  selections,
} from "../../../batches/export.ts";
import { noRetries } from "../../../batches/retries.ts";
import { readStatus } from "../../../batches/status.ts";
import { createdText, retriesText, statusNames } from "../../../batches/texts.ts";
import { exact } from "../../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag, notOneOf, takes } from "../../../cli/command/flag.ts";
import { text } from "../../../cli/output/view.ts";
import { err, ok, type Result } from "../../../domain/result.ts";
import { rowsText } from "../../../domain/text.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { batchArgument, batchNamed, noteInProgress } from "./batch.ts";

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
    if (batch.login !== ledger.login)
      context.ui.notice(`Batch ${batch.id} was ${createdText(batch)}.`, "batch.created-by-other");
    const columns = columnsOf(batch, only);
    const retries = noRetries(ledger);
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
