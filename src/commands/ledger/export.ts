import { exact } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { text, type View } from "../../cli/output/view.ts";
import { actors } from "../../domain/actor.ts";
import { signedText } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { localIso } from "../../domain/local-time.ts";
import type { ListedEntry } from "../../ledger/entry.ts";
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
  "actor",
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
      for await (const page of ledger.entries.list())
        for (const one of page)
          if (isWithin(one, { since, until }) && !(isMixed && one.environment === "sandbox"))
            yield journal.entryOfStatement(one);
      yield* journal.end();
      return;
    }
    const filter = { since, until, oldestFirst: true };
    const listed = { read: () => ledger.list(undefined, filter), count: async () => 0 };
    for await (const page of itemsOf(listed, Number.MAX_SAFE_INTEGER, context.ui)) {
      if (page.length === 0)
        context.ui.notice("The ledger has no operation of this account and period.");
      else yield { rows: page.map((one): ExportedRow => rowOf(one, zone)), exact };
    }
    for await (const page of ledger.entries.list()) {
      const rows = page
        .filter((one) => isWithin(one, { since, until }))
        .map((one) => rowOfEntry(one, zone));
      if (rows.length > 0) yield { rows, exact };
    }
  },
  output: (schema) => {
    const { z, text, textOrNull, signed, each } = schema;
    return z.strictObject({
      ...operationFields(schema),
      /** Null of an entry of a statement. */
      actor: z.nullable(z.enum(actors)),
      /** Of an entry with its sign. */
      amount: z.nullable(signed),
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

function isWithin(
  { bookedAt }: ListedEntry,
  { since = "", until = "9" }: { since: string | undefined; until: string | undefined },
) {
  return bookedAt >= since && bookedAt <= until;
}

type ExportedRow = Omit<ReturnType<typeof rowOf>, "kind" | "state" | "actor"> & {
  kind: string;
  state: string;
  actor: string | null;
};

/** An entry of a statement in the columns of an operation. Its amount has a sign: what it adds to the balance. */
function rowOfEntry(entry: ListedEntry, zone: string): ExportedRow {
  const { key, category, paisa, bookedAt, line, reason, recordedAt, user, login } = entry;
  const none = { reference: null, remoteId: null, target: null, code: null, methodName: null };
  return {
    ...{ ...none, acceptedAt: null, paymentUrl: null, recipient: null, name: null, method: null },
    ...{ operation: key, kind: "entry", state: "ENTRY", status: category, attempts: 0 },
    ...{ amount: signedText(paisa), message: `${reason} (${line})`, batch: null, payment: null },
    ...{ createdAt: recordedAt, openedAt: recordedAt, updatedAt: recordedAt, user, login },
    ...{ command: "reconcile", profile: "", baseUrl: "", actor: null },
    ...{ account: entry.account, environment: entry.environment },
    ...{ localTime: localIso(recordedAt, zone), completedAt: bookedAt },
    completedLocalTime: localIso(bookedAt, zone),
  };
}

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
