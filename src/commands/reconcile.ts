import { basename } from "node:path";
import { type Balance, isOpen, signedText } from "../accounting/reconcile.ts";
import type { Acceptance, Reconciliation } from "../accounting/retrieve.ts";
import {
  type ColumnMapping,
  type Lines,
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
import { clockIn, whenClockShows } from "../domain/time-zone.ts";
import { fileFlags } from "./payout/batch/file.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

const flags = {
  mapping: flag.optional(
    "--mapping <name>",
    "Name of a column mapping; the first use saves it",
    readWord,
    { names: "mapping" },
  ),
  map: flag.many("--map <mapping>", "Read a column as a field: 'Trx ID=id'", readMap),
  listMappings: flag.toggle("--list-mappings", "List saved column mappings, without comparing"),
  removeMapping: flag.optional(
    "--remove-mapping <name>",
    "Remove a column mapping, without comparing",
    readWord,
    {
      names: "mapping",
    },
  ),
  delimiter: fileFlags.delimiter,
  since: { ...timeFilters.since, about: "Start of the period (default: first date in the file)" },
  until: { ...timeFilters.until, about: "End of the period (default: last date in the file)" },
  import: flag.toggle("--import", "Record operations that the ledger lacks, if the API has them"),
  accept: flag.many(
    "--accept <proposal>",
    "Accept a proposed match: <line>=<operation>:<reason>",
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
    "Matches statement lines with ledger operations by ID or reference. A match by amount and recipient is only a proposal, which you accept in a terminal or with --accept. lenden changes a status in the ledger only if the API's record has it.",
  examples: {
    "Reconcile a statement, and save how its columns are read":
      "lenden reconcile statement.csv --mapping provider --yes",
    "Record operations that the ledger lacks": "lenden reconcile statement.csv --import --yes",
  },
  arguments: {
    file: argument.optional("file", "CSV statement of the provider", ok<string>, "csv-file"),
  },
  flags,
  patient: true,
  exitCodes: {
    conflict: "the statement contradicts the ledger or itself",
    partial: "some items are still open",
  },

  async run(input, context) {
    const { openCsvFile } = await import("../batches/csv.ts");
    const { merged, readTable, readLines } = await import("../accounting/statement.ts");
    const retrieval = await import("../accounting/retrieve.ts");
    const { openMappings } = await import("../accounting/mappings.ts");
    const mappings = openMappings(context.host.folders.config);
    const { file, mapping: name, map, removeMapping: removed } = input;
    if (removed !== undefined && !mappings.names().includes(removed))
      throw usage([`--remove-mapping: ${quoted(removed)} does not exist.`], listHint);
    if (removed !== undefined) {
      mappings.remove(removed);
      context.ui.notice(`Column mapping ${removed} is removed.`);
    }
    if (input.listMappings || removed !== undefined) return { mappings: mappings.names() };
    if (file === undefined) throw usage(["Missing required argument <file>."]);
    const saved = name === undefined ? [] : mappings.find(name);
    const given = merged(saved, map);
    const csv = openCsvFile(file, fileHints);
    const named = given.map(({ column }) => column);
    const statement = await readTable(csv, input.delimiter, named);
    const ledger = await context.ledger.own();
    const columns = await columnsOf(input, given, statement, context);
    const zone = await zoneOf(context);
    const lines = await readLines(statement, columns, zone);
    const isNew = saved.length === 0 || map.length > 0;
    if (name !== undefined && isNew) mappings.save(name, columns.map(plainColumn));
    const period = periodOf(input, lines, zone, context);
    const { output, notice } = context.ui;
    const hasAll = output === "json" || output === "ndjson";
    const options = { name: basename(file), isImporting: input.import, hasAll, ...period };
    const found = await retrieval.reconcile(lines, options, ledger, await context.api.deps());
    const asked = input.accept.length > 0 ? input.accept : await askForProposals(found, context);
    const { user: by } = context.host;
    if (asked.length > 0) await retrieval.accept(found, asked, { ...options, by }, ledger);
    const report = { file, ...period, columns: columns.map(plainColumn), ...reportOf(found) };
    if (output !== "ids") for (const text of summaryOf(report, found.netLines, zone)) notice(text);
    const differing = report.lines.filter(isShown);
    // A table may lack the last rows.
    if (output === "table") differing.sort(contradictionsFirst);
    const rows = [...differing, ...report.onlyInLedger];
    const shown = output === "table" ? rows.slice(0, mostRows) : rows;
    if (shown.length < rows.length)
      notice(`${shown.length} of ${rows.length} shown. To list all, use --output csv.`);
    const ending = found.unseen ?? endingOf(report, found.outside, input.import);
    return { report, shown, zone, ending };
  },
  json: (result) => {
    if ("mappings" in result) return result;
    const { lines, onlyInLedger, ...others } = result.report;
    return { ...plain(others), lines: eachPlain(lines), onlyInLedger: eachPlain(onlyInLedger) };
  },
  view: (result) => {
    if ("mappings" in result)
      return table(result.mappings, {
        id: (name) => name,
        empty: "No column mapping is saved. To save one, use --mapping.",
        columns: { mapping: ["MAPPING", (name) => id(name)] },
      });
    const { shown, zone, ending } = result;
    return table(shown, {
      id: (row) => String(row.line ?? row.operation),
      empty: ending ? "No line differs from the ledger." : "Every line matches the ledger.",
      columns: {
        result: ["RESULT", ({ result }) => text(result)],
        line: ["LINE", ({ line }) => text(line)],
        id: ["ID", (row) => id(row.id ?? row.reference)],
        amount: ["AMOUNT", ({ amount }) => money(amount)],
        operation: ["OPERATION", ({ operation }) => id(operation)],
        detail: ["DETAIL", (row) => text(detailOf(row, zone) || null)],
      },
    });
  },
  ending: (result) => ("mappings" in result ? undefined : result.ending),
});

/** As JSON has it: every amount is a text. */
function plain(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === "bigint" ? signedText(one) : one)),
  );
}

function* eachPlain(items: object[]): Iterable<object> {
  for (const one of items) yield plain(one);
}

const listHint = "To list the mappings, run 'lenden reconcile --list-mappings'.";

/** Of a table; other output is complete. */
const mostRows = 50;

const fileHints = {
  pipe: "Save the statement in a file.",
  missing: "Check the path. Download the statement from the provider's dashboard.",
  large: "Download the statement in parts, such as one for each month.",
};

type ReconcileInput = Input<typeof flags>;

/** The saved or given columns; if they are not enough, also recognized ones, which a person confirms. */
async function columnsOf(
  { since, until }: ReconcileInput,
  given: ColumnMapping[],
  statement: StatementTable,
  context: Context,
): Promise<ColumnMapping[]> {
  const { recognize, textsOf, withDateOrder } = await import("../accounting/statement.ts");
  let columns = await withDateOrder(statement, given);
  const has = (...fields: string[]) => columns.some(({ field }) => fields.includes(field));
  const isDated = has("date") || (since && until);
  if (!has("id", "reference") || !has("amount", "debit", "credit") || !isDated) {
    const known = await (await context.ledger.own()).ofNames(textsOf(statement));
    columns = await withDateOrder(statement, recognize(statement, columns, known));
    await context.ui.confirm({
      action: "Use these columns",
      rows: columns.map(({ column, field, why }) => [column, why ? `${field} (${why})` : field]),
      alwaysAsked: true,
      ofAllAccounts: true,
    });
  }
  return columns;
}

function plainColumn({ column, field }: ColumnMapping) {
  return { column, field };
}

/** From the day of the first date to that of the last, unless the flags say otherwise. ISO 8601, inclusive. */
function periodOf(input: ReconcileInput, { span }: Lines, zone: string, context: Context) {
  const { since, until, problems } = spanOf(input, zone, context);
  const { fromMs, toMs } = span ?? { fromMs: 0, toMs: 0 };
  if ((since === undefined || until === undefined) && !span)
    problems.push("The statement has no dates: add --since and --until.");
  if (problems.length > 0) throw usage(problems);
  const dayMs = 86_400_000;
  const day = (ms: number) => Math.floor(clockIn(zone, ms) / dayMs);
  const start = (of: number) => whenClockShows(zone, of * dayMs);
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    since: since ?? iso(start(day(fromMs))),
    until: until ?? iso(start(day(toMs) + 1) - 1),
  };
}

async function askForProposals(
  { entries }: Reconciliation,
  context: Context,
): Promise<Acceptance[]> {
  const { ui } = context;
  const zone = await zoneOf(context);
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
          name: `It is ${kind} ${reference ?? id}, completed ${formatTime(completedAt ?? "", zone)}`,
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

function reportOf({
  entries,
  onlyInLedger,
  onlyInLedgerSum: left,
  results,
  fees,
  balance,
}: Reconciliation) {
  return {
    results: Object.fromEntries(results),
    onlyInLedgerSum: { operations: left.count, total: left.totalPaisa },
    fees,
    balance: balance ?? null,
    lines: entries.map(({ line, operation, proposals, ...entry }) => ({
      ...{ line: line.line, result: entry.result, explained: entry.explained ?? null },
      ...{ id: line.id, reference: line.reference, date: line.date },
      amount: line.movementPaisa ?? line.amountPaisa,
      operation: operation?.id ?? null,
      differences: entry.differences,
      isNet: entry.isNet ?? false,
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
type Place = Pick<ReportLine, "line" | "amount">;

function isContradiction({ result }: ReportLine): boolean {
  return result === "differs" || result === "twice";
}

function contradictionsFirst(one: ReportLine, other: ReportLine): number {
  return Number(isContradiction(other)) - Number(isContradiction(one));
}

/** What a person has to see: also lines that something else than a match explains. */
function isShown(line: ReportLine): boolean {
  return line.explained !== null || isContradiction(line) || isOpen(line);
}

function detailOf(row: ReportLine | Report["onlyInLedger"][number], zone: string): string {
  if (row.result === "only-in-ledger")
    return `completed ${formatTime(row.completedAt ?? "", zone)}`;
  const { differences, firstLine, explained, reason, proposals } = row;
  return [
    ...differences.map(({ field, statement, ledger }) => {
      const ours = field === "date" ? formatTime(ledger, zone) : ledger;
      return `${field}: statement ${statement}, ledger ${ours}`;
    }),
    ...(firstLine === null ? [] : [`also on line ${firstLine}`]),
    ...[explained, reason].filter((one) => one !== null),
    ...proposals.map((one) => `may be ${one}`),
  ].join("; ");
}

function endingOf(
  { file, lines, balance, onlyInLedger, onlyInLedgerSum }: Report & { file: string },
  outside: Reconciliation["outside"],
  isImporting: boolean,
): Failure | undefined {
  const name = basename(file);
  const told = (some: Place[], one: string, many: string, count = some.length) =>
    sentences(count, `line of ${name} ${one}`, `lines of ${name} ${many}`, () => {
      const [first] = some;
      return `line ${first?.line}, ${formatPaisa(first?.amount ?? 0n)}`;
    });
  const { first } = outside;
  const outsideAt = first && { line: first.line, amount: first.movementPaisa ?? first.amountPaisa };
  const wrong = [
    ...told(lines.filter(isContradiction), "contradicts the ledger", "contradict the ledger"),
    ...(balance?.brokenAt ? [`The balance is wrong: ${brokenText(balance.brokenAt)}.`] : []),
  ];
  const open = lines.filter(isOpen);
  const unlisted = open.filter(({ result }) => result === "only-in-statement");
  const unknown = open.filter(({ result }) => result === "unknown-here");
  const isProposed = open.some(({ proposals }) => proposals.length > 0);
  const [missing] = onlyInLedger;
  const left = [
    ...told(unlisted, "is not in the ledger", "are not in the ledger"),
    ...told(unknown, "has an unknown outcome", "have an unknown outcome"),
    ...told(
      outsideAt ? [outsideAt] : [],
      "is outside the period",
      "are outside the period",
      outside.count,
    ),
    ...sentences(
      onlyInLedgerSum.operations,
      `operation is not in ${name}`,
      `operations are not in ${name}`,
      () => `${missing?.reference ?? missing?.operation}, ${formatPaisa(missing?.amount ?? 0n)}`,
    ),
  ];
  if (wrong.length + left.length === 0) return undefined;
  const isImportable = !isImporting && unlisted.some(({ id }) => id !== null);
  const hints = [
    ...(isImportable ? ["To record operations that only the statement has, add --import."] : []),
    ...(isProposed
      ? ["To accept a proposed match, use --accept <line>=<operation>:<reason>."]
      : []),
    ...(outside.count > 0 ? ["Correct --since and --until."] : []),
  ];
  const isWrong = wrong.length > 0;
  if (isWrong || hints.length === 0) hints.unshift("Check these items with the payment provider.");
  const code = isWrong ? "statement.contradicts" : "statement.open-items";
  return new Failure(code, [...wrong, ...left].join(" "), { hint: hints.join(" ") });
}

/** How many there are, and the first one; no sentence if there are none. */
function sentences(count: number, one: string, many: string, first: () => string): string[] {
  if (count === 0) return [];
  return [count === 1 ? `1 ${one} (${first()}).` : `${count} ${many} (first: ${first()}).`];
}

function brokenText({ line, shown, expected }: NonNullable<Balance["brokenAt"]>): string {
  const instead = expected === null ? "" : ` instead of ${formatPaisa(expected)}`;
  return `line ${line} shows ${formatPaisa(shown)}${instead}`;
}

function* summaryOf(
  report: Report & { since: string; until: string },
  netLines: number,
  zone: string,
) {
  const { since, until, results, onlyInLedgerSum: left, fees, balance } = report;
  yield `Period: ${formatDay(since, zone)} to ${formatDay(until, zone)}. Fees: ${formatPaisa(fees)}.`;
  // A sum would add money in and money out.
  for (const [result, { lines }] of Object.entries(results))
    if (result !== "balance") yield `${result}: ${lines}`;
  if (netLines > 0) yield `The amounts of ${netLines} lines match with their fee.`;
  if (left.operations > 0) yield `only-in-ledger: ${left.operations}, ${formatPaisa(left.total)}`;
  if (!balance) return;
  const { opening, movements, closing, brokenAt } = balance;
  const sum = `${formatPaisa(opening)} + movements ${formatPaisa(movements)} - fees ${formatPaisa(balance.fees)}`;
  if (!brokenAt) yield `Balance: opening ${sum} = closing ${formatPaisa(closing)}.`;
  else yield `Balance: ${brokenText(brokenAt)}.`;
}
