import { columnsOf, exportedRows, retryRows, selections } from "../../../batches/export.ts";
import { noRetries } from "../../../batches/retries.ts";
import { rowStatuses } from "../../../batches/status.ts";
import { exact } from "../../../cli/command/common-flags.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag, oneOf } from "../../../cli/command/flag.ts";
import { text } from "../../../cli/output/view.ts";
import { batchArgument, batchNamed, noteInProgress, retriesText, statusNames } from "./batch.ts";

export const batchExport = defineCommand({
  description: `Writes CSV, unless --output is json or ndjson. --only failed writes rejected and cancelled rows with new references (INV-7-lenden2), to correct and send, unless these were accepted. Statuses: ${rowStatuses.join(", ")}.`,
  examples: {
    "Export the rows that can be sent again":
      "lenden payout batch export payroll.csv --only failed",
  },
  arguments: { batch: batchArgument },
  flags: {
    only: flag.optional("--only <status>", "Rows with this status, or failed", oneOf(selections)),
    exact,
  },
  format: "csv",
  list: true,
  patient: true,
  exitCodes: { conflict: "the file differs from its batch" },
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
    const omitted = retriesText(retries);
    if (omitted) context.ui.notice(`Rows with new references are omitted. ${omitted}`);
  },
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
