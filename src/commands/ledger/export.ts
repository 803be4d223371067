import { exact } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { text } from "../../cli/output/view.ts";
import { exported } from "./operation.ts";

const columns = [
  "operation",
  "kind",
  "reference",
  "remoteId",
  "target",
  "amount",
  "state",
  "status",
  "code",
  "message",
  "attempts",
  "createdAt",
  "updatedAt",
  "profile",
  "environment",
  "baseUrl",
  "user",
  "command",
] as const;

export const ledgerExport = defineCommand({
  description: "As CSV, unless --output is json or ndjson.",
  examples: { "Export as CSV for a spreadsheet": "lenden ledger export" },
  flags: { exact },
  format: "csv",
  list: true,

  async *run({ exact }, context) {
    let isEmpty = true;
    for await (const operation of (await context.ledger.records()).list(undefined, {
      oldestFirst: true,
    })) {
      isEmpty = false;
      yield { row: exported(operation), exact };
    }
    if (isEmpty) context.ui.notice("The ledger has nothing of this account yet.");
  },
  json: ({ row }) => row,
  view: ({ row, exact }) => ({
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: [
      { id: row.operation, cells: Object.fromEntries(columns.map((key) => [key, text(row[key])])) },
    ],
    empty: "",
    csv: exact ? "exact" : "safe",
  }),
});
