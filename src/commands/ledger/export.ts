import { defineCommand } from "../../frame/command.ts";
import { text } from "../../ui/view.ts";
import { exported } from "./exported.ts";

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
  name: "ledger export",
  summary: "Write out the whole ledger of the account, oldest first",
  details: "As CSV, unless --output says json or ndjson.",
  examples: [{ line: "lenden ledger export", says: "as CSV, for a spreadsheet" }],
  format: "csv",
  list: true,
  exits: ["access"],
  async *run(_, context) {
    let isEmpty = true;
    for (const operation of (await context.ledger()).all()) {
      isEmpty = false;
      yield exported(operation);
    }
    if (isEmpty) context.notice("The ledger has nothing of this account yet.");
  },
  view: (row) => ({
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: [
      { id: row.operation, cells: Object.fromEntries(columns.map((key) => [key, text(row[key])])) },
    ],
    empty: "",
  }),
});
