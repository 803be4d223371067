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
import { batchArgument, batchNamed } from "./named.ts";
import { againText } from "./standing-card.ts";
import { holderNow, underWayText } from "./under-way.ts";

export const batchExport = defineCommand({
  name: "payout batch export",
  summary: "Write out a batch: the file's columns, and what came of each row",
  details:
    "As CSV, unless --output says json or ndjson. With --only failed it is a file to send again after mending: a refused or cancelled row gets a new reference (INV-7 becomes INV-7-lenden2), always the same one, and is left out once it was sent by that; a row in doubt keeps its own; a row in conflict is left out, for somebody has to look at it first.",
  examples: [
    { line: "lenden payout batch export payroll.csv", says: "all rows" },
    {
      line: "lenden payout batch export payroll.csv --exact",
      says: "cells unchanged, for a program and not for a spreadsheet",
    },
    {
      line: "lenden payout batch export payroll.csv --only failed",
      says: "what can be sent again, as a file of payouts",
    },
  ],
  arguments: { batch: batchArgument },
  flags: {
    only: flag.optional(
      "--only <standing>",
      `Only the rows that stand there: ${selections.join(", ")}`,
      oneOf(selections),
    ),
    exact,
  },
  format: "csv",
  list: true,
  patient: true,
  exits: ["access", "not-found"],
  async *run({ batch: name, only, exact }, context) {
    const ledger = await context.records();
    const batch = await batchNamed(name, ledger);
    const by = await holderNow(batch, ledger);
    if (by) context.notice(underWayText(by));
    const columns = columnsOf(batch, only);
    const leftOut = noneAgain();
    const pages =
      only === "failed" ? rowsAgain(batch, ledger, leftOut) : exportedRows(batch, only, ledger);
    let count = 0;
    for await (const rows of pages) {
      count += rows.length;
      yield { columns, rows, exact };
    }
    if (count === 0 && only) context.notice(`No row of batch ${batch.id} is ${wordsOf(only)}.`);
    const says = againText(leftOut);
    if (says) context.notice(`Left out is what went on. ${says}`);
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

function wordsOf(only: Selection): string {
  const words: Partial<Record<Selection, string>> = {
    failed: "left to be sent again",
    conflict: "in conflict",
  };
  return words[only] ?? only;
}
