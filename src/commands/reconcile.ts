import { basename } from "node:path";
import { checkBalance, type Entry, isOpen, signedText } from "../accounting/reconcile.ts";
import type { Acceptance, Reconciliation } from "../accounting/retrieve.ts";
import {
  type ColumnMapping,
  type Line,
  type StatementTable,
  statementFields,
} from "../accounting/statement.ts";
import { readWord } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, type Input } from "../cli/command/flag.ts";
import { id, money, table, text } from "../cli/output/view.ts";
import { Failure, usage } from "../domain/failure.ts";
import { formatDay, formatTime } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { fileFlags } from "./payout/batch/file.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

const flags = {
  mapping: flag.optional("--mapping <name>", "Saved columns, stored at the first use", readWord),
  map: flag.many("--map <mapping>", "What a column has: 'Trx ID=id'", readMap),
  delimiter: fileFlags.delimiter,
  since: { ...timeFilters.since, about: "Start of the period (default: first date)" },
  until: { ...timeFilters.until, about: "End of the period (default: last date)" },
  import: flag.toggle("--import", "Record what only the statement has, as the API returns it"),
  accept: flag.many(
    "--accept <proposal>",
    "Accept a proposal: <line>=<operation>:<reason>",
    readAcceptance,
  ),
};

/** Reads `Trx ID=id`. A column's name may contain an equals sign. */
function readMap(typed: string): Result<ColumnMapping> {
  const [, column = "", name = ""] = /^(.*)=([^=]*)$/s.exec(typed) ?? [];
  const field = statementFields.find((one) => one === name.trim());
  if (column.trim() !== "" && field) return ok({ column: column.trim(), field });
  return err(
    `${quoted(typed)} is not <column>=<field>. The fields are: ${statementFields.join(", ")}.${didYouMean(name, statementFields)}`,
  );
}

function readAcceptance(typed: string): Result<Acceptance> {
  const [, line, operation = "", reason = ""] =
    /^([0-9]{1,9})=([^\s:=]+):(.*\S.*)$/.exec(typed) ?? [];
  return line === undefined
    ? err(`${quoted(typed)} is not <line>=<operation>:<reason>. Example: 12=INV-7:paid by hand.`)
    : ok({ line: Number(line), operation, reason: reason.trim() });
}

export const reconcile = defineCommand({
  description:
    "Matches lines by ID or reference. A statement changes no status: only records of the API do. A proposal is accepted with a reason.",
  examples: {
    "Reconcile a statement, and save how its columns are read":
      "lenden reconcile statement.csv --mapping provider --yes",
    "Record what only the statement has": "lenden reconcile statement.csv --import --yes",
  },
  arguments: {
    file: argument.required("file", "CSV statement of the provider", ok<string>, "csv-file"),
  },
  flags,
  patient: true,
  exitCodes: {
    conflict: "the statement contradicts the ledger or itself",
    partial: "open items are left",
  },

  async run(input, context) {
    const { readCsvFile } = await import("../batches/csv.ts");
    const { readTable, readLines } = await import("../accounting/statement.ts");
    const retrieval = await import("../accounting/retrieve.ts");
    const { file } = input;
    const statement = await readTable(await readCsvFile(file, fileHints), input.delimiter);
    const ledger = await context.ledger.own();
    const columns = await columnsOf(input, statement, context);
    const zone = await zoneOf(context);
    const lines = readLines(statement, columns, zone);
    const period = periodOf(input, lines, zone, context);
    const options = { name: basename(file), isImporting: input.import, ...period };
    const found = await retrieval.reconcile(lines, options, ledger, await context.api.deps());
    const asked = input.accept.length > 0 ? input.accept : await askForProposals(found, context);
    const { user: by } = context.host;
    if (asked.length > 0) await retrieval.accept(found, asked, { ...options, by }, ledger);
    const report = { file, ...period, columns: columns.map(plainColumn), ...reportOf(found) };
    if (context.ui.output !== "ids")
      for (const text of summaryOf(report, zone)) context.ui.notice(text);
    return { report, ending: found.unseen ?? endingOf(report) };
  },
  /** Every amount is a text. */
  json: ({ report }) =>
    JSON.parse(
      JSON.stringify(report, (_, value) => (typeof value === "bigint" ? signedText(value) : value)),
    ),
  view: ({ report }) =>
    table([...report.lines.filter(isShown), ...report.onlyInLedger], {
      id: (row) => String(row.line ?? row.operation),
      empty: "Every line matches the ledger.",
      columns: {
        result: ["RESULT", ({ result }) => text(result)],
        line: ["LINE", ({ line }) => text(line)],
        id: ["ID", (row) => id(row.id ?? row.reference)],
        amount: ["AMOUNT", ({ amount }) => money(amount)],
        operation: ["OPERATION", ({ operation }) => id(operation)],
        detail: ["DETAIL", (row) => text(detailOf(row) || null)],
      },
    }),
  ending: ({ ending }) => ending,
});

const fileHints = {
  pipe: "Save the statement in a file.",
  missing: "Check the path. Download the statement from the provider's dashboard.",
  large: "Download the statement in parts, such as one for each month.",
};

type ReconcileInput = Input<typeof flags>;

/** The saved or given columns; if they are not enough, also recognized ones, which a person confirms. */
async function columnsOf(
  { mapping: name, map, since, until }: ReconcileInput,
  statement: StatementTable,
  context: Context,
): Promise<ColumnMapping[]> {
  const { openMappings } = await import("../accounting/mappings.ts");
  const { merged, recognize, sampleOf } = await import("../accounting/statement.ts");
  const mappings = openMappings(context.host.folders.config);
  const saved = name === undefined ? [] : mappings.find(name);
  let columns = merged(saved, map);
  const has = (...fields: string[]) => columns.some(({ field }) => fields.includes(field));
  const isDated = has("date") || (since && until);
  if (!has("id", "reference") || !has("amount", "debit", "credit") || !isDated) {
    const known = await (await context.ledger.own()).ofNames(sampleOf(statement));
    columns = recognize(statement, columns, known);
    await context.ui.confirm({
      action: "Read the columns",
      rows: columns.map(({ column, field, why }) => [column, why ? `${field} (${why})` : field]),
      alwaysAsked: true,
      ofAllAccounts: true,
    });
  }
  const isNew = saved.length === 0 || map.length > 0;
  if (name !== undefined && isNew) mappings.save(name, columns.map(plainColumn));
  return columns;
}

function plainColumn({ column, field }: ColumnMapping) {
  return { column, field };
}

/** From the first to the last date, unless the flags say otherwise. ISO 8601, inclusive. */
function periodOf(input: ReconcileInput, lines: Line[], zone: string, context: Context) {
  const { since, until, problems } = spanOf(input, zone, context);
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { span } of lines) {
    if (!span) continue;
    fromMs = Math.min(fromMs, span.fromMs);
    toMs = Math.max(toMs, span.toMs);
  }
  if ((since === undefined || until === undefined) && fromMs > toMs)
    problems.push("The statement has no dates: add --since and --until.");
  if (problems.length > 0) throw usage(problems);
  const iso = (ms: number) => new Date(ms).toISOString();
  return { since: since ?? iso(fromMs), until: until ?? iso(toMs) };
}

async function askForProposals(
  { entries }: Reconciliation,
  { ui }: Context,
): Promise<Acceptance[]> {
  const accepted: Acceptance[] = [];
  const proposed = entries.filter(({ proposals }) => proposals.length > 0);
  const ask = proposed.length > 0 ? await ui.ask() : undefined;
  for (const { line, proposals } of ask ? proposed : []) {
    const left = proposals.filter((one) => accepted.every(({ operation }) => operation !== one.id));
    if (!ask || left.length === 0) continue;
    const operation = await ask.choice(
      `Line ${line.line} (${formatPaisa(line.amountPaisa ?? 0n)}):`,
      [
        { name: "I do not know: leave it open", value: undefined },
        ...left.map(({ id, kind, reference, completedAt }) => ({
          name: `It is ${kind} ${reference ?? id}, completed ${formatTime(completedAt ?? "")}`,
          value: id,
        })),
      ],
    );
    if (operation === undefined) continue;
    const check = (typed: string) => (typed.trim() ? undefined : "Enter a reason.");
    const reason = (await ask.text("Reason:", { check })).trim();
    accepted.push({ line: line.line, operation, reason });
  }
  return accepted;
}

function reportOf({ entries, onlyInLedger, onlyInLedgerSum: left }: Reconciliation) {
  const balance = checkBalance(entries);
  const sums = [...new Set(entries.map(({ result }) => result))].map((result) => {
    const own = entries.filter((one) => one.result === result);
    const total = own.reduce((sum, { line }) => sum + (line.amountPaisa ?? 0n), 0n);
    return [result, { lines: own.length, total }] as const;
  });
  return {
    results: Object.fromEntries(sums),
    onlyInLedgerSum: { operations: left.count, total: left.totalPaisa },
    fees: feesOf(entries),
    balance: balance ?? null,
    lines: entries.map(({ line, operation, proposals, ...entry }) => ({
      ...{ line: line.line, result: entry.result, explained: entry.explained ?? null },
      ...{ id: line.id, reference: line.reference, date: line.date },
      amount: line.movementPaisa ?? line.amountPaisa,
      operation: operation?.id ?? null,
      differences: entry.differences,
      proposals: proposals.map(({ id }) => id),
      firstLine: entry.firstLine ?? null,
      reason: entry.reason ?? null,
    })),
    onlyInLedger: onlyInLedger.map((one) => ({
      ...{ line: null, result: "only-in-ledger" as const, operation: one.id, kind: one.kind },
      ...{ id: one.remoteId, reference: one.reference, amount: one.amountPaisa },
      completedAt: one.completedAt,
    })),
  };
}

type Report = ReturnType<typeof reportOf>;
type ReportLine = Report["lines"][number];

/** Fees beside the amounts, and lines that are fees. */
function feesOf(entries: Entry[]): bigint {
  return entries.reduce((sum, { line, result }) => {
    const own = line.feePaisa ?? (result === "fee" ? line.amountPaisa : null) ?? 0n;
    return sum + (own < 0n ? -own : own);
  }, 0n);
}

function isContradiction({ result }: ReportLine): boolean {
  return result === "differs" || result === "twice";
}

/** What a person has to see: also lines that something else than a match explains. */
function isShown(line: ReportLine): boolean {
  return line.explained !== null || isContradiction(line) || isOpen(line);
}

function detailOf(row: ReportLine | Report["onlyInLedger"][number]): string {
  if (row.result === "only-in-ledger") return `completed ${formatTime(row.completedAt ?? "")}`;
  const { differences, firstLine, explained, reason, proposals } = row;
  return [
    ...differences.map((one) => `${one.field}: statement ${one.statement}, ledger ${one.ledger}`),
    ...(firstLine === null ? [] : [`also on line ${firstLine}`]),
    ...[explained, reason].filter((one) => one !== null),
    ...proposals.map((one) => `may be ${one}`),
  ].join("; ");
}

function endingOf({ file, lines, balance, onlyInLedger }: Report & { file: string }) {
  const name = basename(file);
  if (lines.some(isContradiction) || balance?.brokenAt)
    return new Failure("statement.contradicts", `${name} contradicts the ledger or itself.`, {
      hint: "Check these lines in the provider's dashboard.",
    });
  if (!lines.some(isOpen) && onlyInLedger.length === 0) return undefined;
  return new Failure("statement.open-items", `${name} and the ledger have open items.`, {
    hint: "Add --import to record what only the statement has. To explain a line, use --accept.",
  });
}

function* summaryOf(report: Report & { since: string; until: string }, zone: string) {
  const { since, until, results, onlyInLedgerSum: left, fees, balance } = report;
  yield `Period: ${formatDay(since, zone)} to ${formatDay(until, zone)}. Fees: ${formatPaisa(fees)}.`;
  for (const [result, { lines, total }] of Object.entries(results))
    yield `${result}: ${lines}, ${formatPaisa(total)}`;
  if (left.operations > 0) yield `only-in-ledger: ${left.operations}, ${formatPaisa(left.total)}`;
  if (!balance) return;
  const { opening, movements, closing, brokenAt } = balance;
  const sum = `${formatPaisa(opening)} + movements ${formatPaisa(movements)} - fees ${formatPaisa(balance.fees)}`;
  if (!brokenAt) yield `Balance: opening ${sum} = closing ${formatPaisa(closing)}.`;
  else {
    const { line, shown, expected } = brokenAt;
    const instead = expected === null ? "" : ` instead of ${formatPaisa(expected)}`;
    yield `Balance: line ${line} shows ${formatPaisa(shown)}${instead}.`;
  }
}
