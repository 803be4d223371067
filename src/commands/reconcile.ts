import { basename } from "node:path";
import { readText } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand, type Schemas } from "../cli/command/define-command.ts";
import { argument, flag, type Input } from "../cli/command/flag.ts";
import { type Cell, id, money, table, text } from "../cli/output/view.ts";
import type { Paisa } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { formatDay, formatTime } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { isStatus } from "../domain/statuses.ts";
import { shellLine } from "../domain/text.ts";
import { clockIn, whenClockShows } from "../domain/time-zone.ts";
import type { Folders } from "../platform/host.ts";
import { type Balance, signedText } from "../reconcile/classify.ts";
import type { Finding, Findings, Missing } from "../reconcile/findings.ts";
import type { Acceptance, Reconciliation } from "../reconcile/reconcile.ts";
import {
  type ColumnMapping,
  type Lines,
  type StatementTable,
  statementFields,
} from "../reconcile/statement.ts";
import { fileFlags } from "./payout/batch/file.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

const savedMappings = async ({ config }: Folders) => {
  const { openMappings } = await import("../reconcile/mappings.ts");
  return openMappings(config).names();
};

const flags = {
  mapping: flag.optional(
    "--mapping <name>",
    "Name of a column mapping; the first use saves it",
    readText,
    { stored: savedMappings },
  ),
  map: flag.many("--map <mapping>", "Read a column as a field: 'Trx ID=id'", readMap),
  listMappings: flag.toggle("--list-mappings", "List saved column mappings, without comparing"),
  removeMapping: flag.optional(
    "--remove-mapping <name>",
    "Remove a column mapping, without comparing",
    readText,
    { stored: savedMappings },
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

const args = {
  file: argument.optional(
    "file",
    "CSV statement, unless mappings are listed or removed",
    ok<string>,
    "csv-file",
  ),
};
type ReconcileInput = Input<typeof flags & typeof args>;

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
  arguments: args,
  flags,
  patient: true,
  exitCodes: {
    conflict: "the statement contradicts the ledger or itself",
    partial: "some items are still open",
  },

  run(input, context) {
    const { output } = context.ui;
    return output === "csv" || output === "ids"
      ? pagesOf(input, context)
      : resultOf(input, context);
  },
  /** There may be a million lines, so they are read while they are printed. */
  output: reconcileOutput,
  json: (result) => {
    if ("mappings" in result) return result;
    const { found, report } = result;
    const { findings } = found;
    const lines = eachPlain(findings.list("all"), lineOf);
    return { ...plain(report), lines, onlyInLedger: eachPlain(findings.listMissing(), missingOf) };
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
        amount: ["AMOUNT", amountCell],
        operation: ["OPERATION", ({ operation }) => id(operation)],
        detail: ["DETAIL", (row) => text(detailOf(row, zone) || null)],
      },
    });
  },
  ending: (result) => ("mappings" in result ? undefined : result.ending),
});

/** Rows that are printed at once. */
const pageSize = 1_000;

/** All that a person has to see, page by page; an empty page if there is nothing. */
async function* pagesOf(
  input: ReconcileInput,
  context: Context,
): AsyncIterable<Awaited<ReturnType<typeof resultOf>>> {
  const result = await resultOf(input, context);
  if ("mappings" in result) return yield result;
  let shown: ReportRow[] = [];
  for (const row of rowsOf(result.found.findings)) {
    shown.push(row);
    if (shown.length < pageSize) continue;
    yield { ...result, shown };
    shown = [];
  }
  if (shown.length > 0 || result.count === 0) yield { ...result, shown };
}

function* rowsOf(findings: Findings): Iterable<ReportRow> {
  for (const one of findings.list("shown")) yield lineOf(one);
  for (const one of findings.listMissing()) yield missingOf(one);
}

async function resultOf(input: ReconcileInput, context: Context) {
  const { openCsvFile } = await import("../batches/csv.ts");
  const { checkColumns, merged, readTable, readLines, unusedColumns } = await import(
    "../reconcile/statement.ts"
  );
  const retrieval = await import("../reconcile/reconcile.ts");
  const { openMappings } = await import("../reconcile/mappings.ts");
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
  const zone = await zoneOf(context);
  const { problems } = spanOf(input, zone, context);
  if (problems.length > 0) throw usage(problems, swapDates);
  const ledger = await context.ledger.own();
  const namesIn = async (texts: string[]) => {
    const found = await ledger.ofNames(texts);
    return new Set(
      found.flatMap(({ remoteId, reference }) => [remoteId ?? [], reference ?? []].flat()),
    );
  };
  const statement = await readTable(csv, input.delimiter, named, namesIn);
  checkColumns(statement, given);
  if (statement.sample.length === 0 && !(input.since && input.until))
    throw usage(
      [`${file} has no lines below its header, so lenden cannot know its period.`],
      "Download the statement again. If the period has no transactions, set --since and --until.",
    );
  const { columns, isNew } = await columnsOf(input, given, statement, context);
  const lines = await readLines(statement, columns, zone);
  const isSaved = saved.length > 0 && map.length === 0 && !isNew;
  if (name !== undefined && !isSaved) mappings.save(name, columns.map(plainColumn));
  const period = periodOf(input, lines, zone, context);
  const options = { name: basename(file), isImporting: input.import, ...period };
  const found = await retrieval.reconcile(lines, options, ledger, await context.api.deps());
  const asked = input.accept.length > 0 ? input.accept : await askForProposals(found, context);
  const { user: by } = context.host;
  if (asked.length > 0) await retrieval.accept(found, asked, { ...options, by }, ledger);
  const unused = unusedColumns(statement, columns);
  const report = {
    ...{ file, ...period, columns: columns.map(plainColumn), unusedColumns: unused },
    ...reportOf(found),
  };
  if (unused.length > 0)
    context.ui.notice(`Columns that are not used: ${unused.map(unusedText).join(", ")}.`);
  if (lines.oddDebits)
    context.ui.notice(oddDebitsText(basename(file), lines.oddDebits), "statement.odd-debits");
  return { found, report, zone, ...shownOf(found, report, input, context, zone) };
}

/** A column, with its texts if they are few. */
function unusedText({ column, values }: Unused): string {
  return values.length > 0 ? `${column} (${values.join(" | ")})` : column;
}

function oddDebitsText(name: string, odd: NonNullable<Lines["oddDebits"]>): string {
  const { line, others, isBelowZero } = odd;
  const more = others > 0 ? ` So are ${others} more.` : "";
  const [here, most] = isBelowZero ? ["below", "above"] : ["above", "below"];
  return `The debit on line ${line} of ${name} is ${here} zero, but most are ${most}: it is read as money that came back.${more}`;
}

/** What a table shows, what is said beside it, and the error that ends the run. */
function shownOf(
  found: Reconciliation,
  report: Report,
  { import: isImporting }: ReconcileInput,
  { ui }: Context,
  zone: string,
) {
  const { findings, netLines, unseen, conflict } = found;
  if (ui.output !== "ids") for (const text of summaryOf(report, netLines, zone)) ui.notice(text);
  const count = findings.count("shown").count + findings.countMissing().count;
  const lines = findings.mostImportant(mostRows).map(lineOf);
  const missing = take(findings.listMissing(), mostRows - lines.length).map(missingOf);
  const shown: ReportRow[] = [...lines, ...missing];
  if (ui.output === "table" && shown.length < count)
    ui.notice(`${shown.length} of ${count} shown. To list all, use --output csv.`);
  const ended = endingOf(found, report, isImporting);
  const contradiction = ended?.kind === "conflict" ? ended : conflict;
  return { count, shown, ending: contradiction ?? unseen ?? ended };
}

function take<Item>(items: Iterable<Item>, most: number): Item[] {
  const taken: Item[] = [];
  if (most > 0) for (const one of items) if (taken.push(one) === most) break;
  return taken;
}

/** As JSON has it: every amount is a text. */
function plain(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === "bigint" ? signedText(one) : one)),
  );
}

function* eachPlain<Item>(items: Iterable<Item>, rowOf: (one: Item) => object): Iterable<object> {
  for (const one of items) yield plain(rowOf(one));
}

const swapDates = "Set --since to the first day of the statement, and --until to the last.";

const listHint = "To list the mappings, run 'lenden reconcile --list-mappings'.";

/** Of a table; other output is complete. */
const mostRows = 50;

const fileHints = {
  pipe: "Save the statement in a file.",
  missing: "Check the path. Download the statement from the provider's dashboard.",
  large: "Download the statement in parts, such as one for each month.",
};

/**
 * The saved or given columns; if they are not enough, or if another column changes what an amount means, also
 * recognized ones, which a person confirms.
 */
async function columnsOf(
  { since, until }: ReconcileInput,
  given: ColumnMapping[],
  statement: StatementTable,
  context: Context,
): Promise<{ columns: ColumnMapping[]; isNew: boolean }> {
  const { recognize, recognizeMeaning, requireColumns, textsOf, unusedColumns, withDateOrder } =
    await import("../reconcile/statement.ts");
  let columns = await withDateOrder(statement, given);
  const has = (...fields: string[]) => columns.some(({ field }) => fields.includes(field));
  const isDated = has("date") || (since && until);
  const isEnough = has("id", "reference") && has("amount", "debit", "credit") && isDated;
  const others = isEnough ? recognizeMeaning(statement, columns) : [];
  if (isEnough && others.length === 0) return { columns, isNew: false };
  const known = isEnough ? [] : await (await context.ledger.own()).ofNames(textsOf(statement));
  columns = isEnough
    ? [...columns, ...others]
    : await withDateOrder(statement, recognize(statement, columns, known));
  requireColumns(statement, columns);
  await context.ui.confirm({
    action: "Use these columns",
    rows: [
      ...columns.map(({ column, field, why }): [string, string] => [
        column,
        why ? `${field} (${why})` : field,
      ]),
      ...unusedColumns(statement, columns).map((one): [string, string] => [
        unusedText(one),
        "not used",
      ]),
    ],
    alwaysAsked: true,
    ofAllAccounts: true,
  });
  return { columns, isNew: true };
}

function plainColumn({ column, field }: ColumnMapping) {
  return { column, field };
}

/** From the day of the first date to that of the last, unless the flags say otherwise. ISO 8601, inclusive. */
function periodOf(input: ReconcileInput, { span }: Lines, zone: string, context: Context) {
  const { since, until } = spanOf(input, zone, context);
  const { fromMs, toMs } = span ?? { fromMs: 0, toMs: 0 };
  if ((since === undefined || until === undefined) && !span)
    throw usage(
      ["No line of the statement has a date."],
      "To set the period, add --since and --until.",
    );
  const dayMs = 86_400_000;
  const day = (ms: number) => Math.floor(clockIn(zone, ms) / dayMs);
  const start = (of: number) => whenClockShows(zone, of * dayMs);
  const iso = (ms: number) => new Date(ms).toISOString();
  const period = {
    since: since ?? iso(start(day(fromMs))),
    until: until ?? iso(start(day(toMs) + 1) - 1),
  };
  if (period.since <= period.until) return period;
  const dates = `The dates of the statement are ${formatDay(iso(fromMs), zone)} to ${formatDay(iso(toMs), zone)}.`;
  const flag =
    since === undefined ? `--until ${input.until?.typed}` : `--since ${input.since?.typed}`;
  throw usage([`${flag} is not a day of the statement. ${dates}`], swapDates);
}

async function askForProposals(
  { findings }: Reconciliation,
  context: Context,
): Promise<Acceptance[]> {
  const { ui } = context;
  const zone = await zoneOf(context);
  const ledger = await context.ledger.own();
  const accepted: Acceptance[] = [];
  const ask = findings.count("proposed").count > 0 ? await ui.ask() : undefined;
  if (!ask) return [];
  for (const { line, proposals } of findings.list("proposed")) {
    const left = proposals.filter((id) => accepted.every(({ operation }) => operation !== id));
    if (left.length === 0) continue;
    const operations = await Promise.all(left.map((id) => ledger.find(id)));
    const operation = await ask.choice(
      `Line ${line.line} (${formatPaisa(line.amountPaisa ?? 0n)}):`,
      [
        { name: "I do not know: leave it open", value: undefined },
        ...operations.flatMap((one) =>
          one === undefined
            ? []
            : {
                name: `It is ${one.kind} ${one.reference ?? one.id}, completed ${formatTime(one.completedAt ?? "", zone)}`,
                value: one.id,
              },
        ),
      ],
    );
    if (operation === undefined) continue;
    const check = (typed: string) => (typed.trim() ? undefined : "Enter a reason.");
    const reason = (await ask.text("Reason:", { check })).trim();
    accepted.push({ line: line.line, operation, reason });
  }
  return accepted;
}

function reportOf({ findings, balance }: Reconciliation) {
  const { count, totalPaisa } = findings.countMissing();
  return {
    results: Object.fromEntries(findings.totals()),
    onlyInLedgerSum: { operations: count, total: totalPaisa },
    fees: findings.fees(),
    balance: balance ?? null,
  };
}
type Report = ReturnType<typeof reportOf> & {
  file: string;
  since: string;
  until: string;
  columns: ReturnType<typeof plainColumn>[];
  unusedColumns: Unused[];
};
type Unused = { column: string; values: string[] };

/** A line as it is printed. */
function lineOf({ line, operation, proposals, ...finding }: Finding) {
  return {
    ...{ line: line.line, result: finding.result, explained: finding.explained },
    ...{ id: line.id, reference: line.reference, date: line.date },
    amount: line.movementPaisa ?? line.amountPaisa,
    currency: line.currency,
    operation: operation?.id ?? null,
    differences: finding.differences,
    isNet: finding.isNet ?? false,
    proposals,
    firstLine: finding.firstLine,
    reason: finding.reason,
  };
}

/** An operation that no line names, as it is printed. */
function missingOf({ id, kind, remoteId, reference, amountPaisa, completedAt }: Missing) {
  return {
    ...{ line: null, result: "only-in-ledger" as const, operation: id, kind },
    ...{ id: remoteId, reference, amount: amountPaisa, completedAt },
  };
}

type ReportRow = ReturnType<typeof lineOf> | ReturnType<typeof missingOf>;

function amountCell(row: ReportRow): Cell {
  const { amount } = row;
  const currency = "currency" in row ? row.currency : null;
  if (currency === null || amount === null) return money(amount);
  return text(amountIn(currency, amount));
}

/** In the currency of the line. */
function amountIn(currency: string, paisa: Paisa): string {
  return formatPaisa(paisa).replace("BDT", () => currency);
}

function detailOf(row: ReportRow, zone: string): string {
  if (row.result === "only-in-ledger")
    return `completed ${formatTime(row.completedAt ?? "", zone)}`;
  const { differences, firstLine, explained, reason, proposals, currency } = row;
  const isTold = differences.some(({ field }) => field === "currency");
  return [
    ...(currency === null || isTold ? [] : [`currency: ${currency}`]),
    ...differences.map(({ field, statement, ledger }) => {
      const ours = field === "date" ? formatTime(ledger, zone) : ledger;
      const isStrange = field === "status" && !isStatus(statement);
      const theirs = isStrange ? `${quoted(statement)} (unknown word)` : statement;
      return `${field}: statement ${theirs}, ledger ${ours}`;
    }),
    ...(firstLine === null ? [] : [`also on line ${firstLine}`]),
    ...[explained, reason].filter((one) => one !== null),
    ...proposals.map((one) => `may be ${one}`),
  ].join("; ");
}

function endingOf(
  found: Reconciliation,
  report: Report,
  isImporting: boolean,
): Failure | undefined {
  const { findings, balance, outside, unsettled } = found;
  const name = basename(report.file);
  const told = (
    { count, first }: { count: number; first: Pick<Finding, "line"> | undefined },
    one: string,
    many: string,
  ) =>
    sentences(count, `line of ${name} ${one}`, `lines of ${name} ${many}`, () => {
      const { line, movementPaisa = null, amountPaisa = null, currency } = first?.line ?? {};
      return `line ${line}, ${amountIn(currency ?? "BDT", movementPaisa ?? amountPaisa ?? 0n)}`;
    });
  const missing = findings.countMissing();
  const toldMissing = (count: number, first: Missing | undefined, one: string, many: string) =>
    sentences(count, `${one} is not in ${name}`, `${many} are not in ${name}`, () => {
      const { reference = null, id, amountPaisa = null } = first ?? {};
      return `${reference ?? id}, ${formatPaisa(amountPaisa ?? 0n)}`;
    });
  const unlisted = isImporting
    ? [
        ...told(
          findings.count("unlistedWithId"),
          "has an ID that the API does not know",
          "have IDs that the API does not know",
        ),
        ...told(
          findings.count("unrecorded"),
          "has a record of the API that is not valid",
          "have records of the API that are not valid",
        ),
        ...told(
          findings.count("unlistedWithoutId"),
          "has no ID and is not in the ledger",
          "have no ID and are not in the ledger",
        ),
      ]
    : told(findings.count("unlisted"), "is not in the ledger", "are not in the ledger");
  const wrong = [
    ...told(findings.count("contradicting"), "contradicts the ledger", "contradict the ledger"),
    ...(balance?.brokenAt ? [`The balance is wrong: ${brokenText(balance.brokenAt)}.`] : []),
  ];
  const left = [
    ...unlisted,
    ...told(findings.count("unknown"), "has an unknown outcome", "have an unknown outcome"),
    ...told(
      { count: outside.count, first: outside.first && { line: outside.first } },
      "is outside the period",
      "are outside the period",
    ),
    ...toldMissing(missing.count, missing.first, "operation", "operations"),
    ...toldMissing(
      unsettled.length,
      unsettled[0],
      "operation with an unknown outcome",
      "operations with an unknown outcome",
    ),
  ];
  if (wrong.length + left.length === 0) return undefined;
  const isWrong = wrong.length > 0;
  const hints = hintsOf(found, report, isImporting);
  if (isWrong || hints.length === 0) hints.unshift("Check these items with the payment provider.");
  const code = isWrong ? "statement.contradicts" : "statement.open-items";
  return new Failure(code, [...wrong, ...left].join(" "), { hint: hints.join(" ") });
}

function hintsOf(
  { findings, outside, strangeStatus, strangeWords, unsettled }: Reconciliation,
  { columns }: Report,
  isImporting: boolean,
): string[] {
  const hints: string[] = [];
  if (strangeStatus) {
    const { line, status } = strangeStatus;
    const column = columns.find(({ field }) => field === "status")?.column;
    hints.push(
      `lenden does not know the status ${quoted(status ?? "")} (line ${line}). If all lines moved money, ignore the column: --map '${column}=ignore'.`,
    );
  }
  if (strangeWords) {
    const { column, text: words, line } = strangeWords;
    hints.push(
      `The direction of line ${line} is read from ${quoted(words)}. If the words of this column are not directions, ignore it: ${shellLine(["--map", `${column}=ignore`])}.`,
    );
  }
  if (findings.count("unlistedWithId").count > 0)
    hints.push(
      isImporting
        ? "If another account has these IDs, select its profile with --profile."
        : "To record operations that only the statement has, add --import.",
    );
  if (findings.count("proposed").count > 0)
    hints.push("To accept a proposed match, use --accept <line>=<operation>:<reason>.");
  if (outside.count > 0) hints.push("Correct --since and --until.");
  if (unsettled.length > 0)
    hints.push("To see unknown outcomes, run 'lenden ledger list --unknown'.");
  return hints;
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

function* summaryOf(report: Report, netLines: number, zone: string) {
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

function reconcileOutput({
  z,
  text,
  textOrNull,
  count,
  amount,
  amountOrNull,
  signed,
  each,
  warnings,
}: Schemas) {
  return z.union([
    z.strictObject({ mappings: z.array(text), warnings }),
    z.strictObject({
      ...each(text, "file since until"),
      columns: z.array(z.strictObject(each(text, "column field"))),
      /** With their texts if these are few. */
      unusedColumns: z.array(z.strictObject({ column: text, values: z.array(text) })),
      /** By the results of lines. */
      results: z.record(z.string(), z.strictObject({ lines: count, total: amount })),
      onlyInLedgerSum: z.strictObject({ operations: count, total: amount }),
      fees: amount,
      balance: z.nullable(
        z.strictObject({
          ...each(signed, "opening movements fees closing"),
          brokenAt: z.nullable(
            z.strictObject({ line: count, expected: z.nullable(signed), shown: signed }),
          ),
        }),
      ),
      lines: z.array(
        z.strictObject({
          line: count,
          result: text,
          ...each(textOrNull, "explained reason id reference date operation"),
          amount: z.nullable(signed),
          /** Null for BDT. */
          currency: textOrNull,
          differences: z.array(z.strictObject(each(text, "field statement ledger"))),
          proposals: z.array(text),
          firstLine: z.nullable(count),
          isNet: z.boolean(),
        }),
      ),
      onlyInLedger: z.array(
        z.strictObject({
          line: z.null(),
          result: z.literal("only-in-ledger"),
          ...each(text, "operation kind"),
          ...each(textOrNull, "id reference completedAt"),
          amount: amountOrNull,
        }),
      ),
      warnings,
    }),
  ]);
}
