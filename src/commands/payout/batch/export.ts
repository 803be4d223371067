import {
  columnsOf,
  exportedRows,
  rowsAgain,
  type Selection,
  selections,
} from "../../../batches/export.ts";
import { noneAgain } from "../../../batches/retries.ts";
import { exact } from "../../../cli/command/common-flags.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { flag, oneOf } from "../../../cli/command/flag.ts";
import { text } from "../../../cli/output/view.ts";
import { batchArgument, batchNamed, holderNow, inProgressText } from "./batch.ts";
import { againText } from "./ending.ts";

export const batchExport = defineCommand({
  description:
    "As CSV, unless --output is json or ndjson. With --only failed, the file can be corrected and sent again: a rejected or cancelled row gets a new reference (INV-7 becomes INV-7-lenden2), always the same one, and is omitted once it was sent by that reference. A row with an unknown outcome keeps its reference. A row in conflict is omitted: check it first.",
  examples: [
    { comment: "All rows", command: "lenden payout batch export payroll.csv" },
    {
      comment: "Cells unchanged, for a program and not for a spreadsheet",
      command: "lenden payout batch export payroll.csv --exact",
    },
    {
      comment: "What can be sent again, as a file of payouts",
      command: "lenden payout batch export payroll.csv --only failed",
    },
  ],
  arguments: { batch: batchArgument },
  flags: {
    only: flag.optional(
      "--only <standing>",
      `Only rows with this status: ${selections.join(", ")}`,
      oneOf(selections),
    ),
    exact,
  },
  format: "csv",
  list: true,
  patient: true,
  exitCodes: { "not-found": "the API or the ledger does not know this ID" },
  async *run({ batch: name, only, exact }, context) {
    const ledger = await context.ledger.records();
    const batch = await batchNamed(name, ledger);
    const by = await holderNow(batch, ledger);
    if (by) context.ui.notice(inProgressText(by));
    const columns = columnsOf(batch, only);
    const again = noneAgain();
    const pages =
      only === "failed" ? rowsAgain(batch, ledger, again) : exportedRows(batch, only, ledger);
    let count = 0;
    for await (const rows of pages) {
      count += rows.length;
      yield { columns, rows, exact };
    }
    if (count === 0 && only)
      context.ui.notice(`No row of batch ${batch.id} is ${words[only] ?? only}.`);
    const omitted = againText(again);
    if (omitted) context.ui.notice(`Rows that were sent again are omitted. ${omitted}`);
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

const words: Partial<Record<Selection, string>> = {
  failed: "left to be sent again",
  conflict: "in conflict",
};
