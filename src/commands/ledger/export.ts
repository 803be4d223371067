import { exact } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { text, type View } from "../../cli/output/view.ts";
import { usage } from "../../domain/failure.ts";
import { localIso } from "../../domain/local-time.ts";
import type { ListedOperation } from "../../ledger/operation.ts";
import { createJournal } from "../../report/hledger.ts";
import { itemsOf } from "../lists.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";
import { exported, operationFields } from "./operation.ts";

/** The order is a contract with what reads the export: a new column is the last one. */
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
  "account",
  "recipient",
  "name",
  "method",
  "batch",
  "payment",
  "localTime",
  "completedAt",
  "completedLocalTime",
  "login",
] as const;

export const ledgerExport = defineCommand({
  description:
    "CSV has all operations. --since and --until use the time of recording; for imported operations, the time of creation. An accounting journal (-o hledger) has only completed operations, selected by their time of completion.",
  examples: {
    "Export as CSV for a spreadsheet": "lenden ledger export",
    "Export a month as an hledger journal":
      "lenden ledger export --since 2026-11-01 --until 2026-11-30 -o hledger",
  },
  flags: { ...timeFilters, exact },
  format: "csv",
  formats: ["hledger"],
  list: true,

  async *run({ exact, ...times }, context) {
    const zone = await zoneOf(context);
    const { since, until, problems } = spanOf(times, zone, context);
    if (problems.length > 0) throw usage(problems);
    const ledger = await context.ledger.records();
    if (context.ui.output === "hledger") {
      const journal = createJournal(zone);
      yield journal.start;
      const filter = { bookedSince: since, bookedUntil: until, oldestFirst: true };
      // Money that does not exist must not be added to money that does.
      const isMixed = ledger.hasAllAccounts;
      for await (const one of ledger.list(undefined, filter)) {
        if (isMixed && one.environment === "sandbox") continue;
        const entry = journal.entryOf(one);
        if (entry !== undefined) yield entry;
      }
      yield* journal.end();
      return;
    }
    const filter = { since, until, oldestFirst: true };
    const listed = { read: () => ledger.list(undefined, filter), count: async () => 0 };
    for await (const page of itemsOf(listed, Number.MAX_SAFE_INTEGER, context.ui)) {
      if (page.length === 0)
        context.ui.notice("The ledger has no operation of this account and period.");
      else yield { rows: page.map((one) => rowOf(one, zone)), exact };
    }
  },
  output: (schema) => {
    const { z, text, textOrNull, each } = schema;
    return z.strictObject({
      ...operationFields(schema),
      localTime: text,
      ...each(textOrNull, "recipient name method batch payment completedLocalTime"),
    });
  },
  json: (one) => (typeof one === "string" ? one : one.rows),
  view: (one): View => {
    if (typeof one === "string") return { kind: "raw", text: one };
    const { rows, exact } = one;
    return {
      kind: "table",
      columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
      rows: rows.map((row) => ({
        id: row.operation,
        cells: Object.fromEntries(columns.map((key) => [key, text(row[key])])),
      })),
      empty: "",
      csv: exact ? "exact" : "safe",
    };
  },
});

/** Amounts in BDT, times in UTC and as clocks in the zone show them. */
function rowOf(operation: ListedOperation, zone: string) {
  const { kind, asked, target, methodName, batchId, createdAt, completedAt } = operation;
  const given = (...names: string[]) =>
    names.map((name) => asked[name]).find((one) => typeof one === "string") ?? null;
  return {
    ...exported(operation),
    recipient: given("recipientNumber", "accountNumber"),
    name: given("recipientName"),
    method: methodName ?? given("paymentMethodId"),
    batch: batchId,
    payment: kind === "refund" ? target : null,
    localTime: localIso(createdAt, zone),
    completedLocalTime: completedAt === null ? null : localIso(completedAt, zone),
  };
}
