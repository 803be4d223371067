import { type CsvRecord, type CsvText, recordPages, Unreadable } from "../batches/csv.ts";
import { delimiters } from "../batches/header.ts";
import type { Paisa } from "../domain/amount.ts";
import { unguarded } from "../domain/csv-guard.ts";
import { type Failure, usage } from "../domain/failure.ts";
import { payeeOf } from "../domain/mobile.ts";
import { asciiDigits, err, ok, quoted, type Result } from "../domain/result.ts";
import type { Resource } from "../domain/statuses.ts";
import { counted, shellLine } from "../domain/text.ts";
import type { Operation } from "../ledger/operation.ts";
import {
  currencyOfHeading,
  type Direction,
  dayFirst,
  directionAmong,
  directionIn,
  hasDigit,
  isAboutStatement,
  isCurrency,
  isHeadingWithNumber,
  kindIn,
  magnitude,
  namesBothDirections,
  otherCurrencyOf,
  readDate,
  readMoney,
  statusIn,
  valueIn,
  wordsIn,
} from "./cells.ts";

/** What a column of a statement can hold. */
export const statementFields = [
  ...([
    "id",
    "reference",
    "date",
    "date-month-first",
    "type",
    "amount",
    "debit",
    "credit",
    "direction",
    "currency",
  ] as const),
  ...(["fee", "balance", "status", "recipient", "narration", "ignore"] as const),
] as const;
export type StatementField = (typeof statementFields)[number];
/** Fields that more than one column can have. */
type Shared = "narration" | "ignore";
type Read = Exclude<StatementField, Shared | "date-month-first">;

export interface ColumnMapping {
  column: string;
  field: StatementField;
  /** Why it was recognized; absent if it was given. */
  why?: string;
}

/** The cells of a statement. */
export interface StatementTable {
  path: string;
  header: string[];
  /** The currency that a line above the header names if it is not BDT. */
  currency: string | undefined;
  /** The first records below the header. */
  sample: CsvRecord[];
  /** All records below the header, read from the file again, so that they are not in memory. */
  pages(): AsyncIterable<CsvRecord[]>;
}

/** The lines above the header, such as the name of the account. */
const mostPreamble = 20;
const sampled = 1_000;

/**
 * Reads a table. Its header is the row that names the most columns: given ones, or else well-known ones. A row with a
 * value, such as a date or an amount, is a line of the table: taken for the header, it would be lost.
 *
 * @param namesIn those of the texts that are IDs or references of the ledger
 * @throws Failure `usage` if the file is not a CSV file with a header
 */
export async function readTable(
  { path, pieces }: CsvText,
  delimiter?: string,
  given: string[] = [],
  namesIn: (texts: string[]) => Promise<Set<string>> = async () => new Set(),
): Promise<StatementTable> {
  let known = delimiter;
  async function* allPages() {
    try {
      known ??= await delimiterOf(pieces(), given);
      for await (const page of recordPages(pieces(), known))
        yield page.map(({ line, cells }) => ({
          line,
          cells: cells.map(plainCell),
        }));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      throw usage([`${path}, line ${error.line}: ${error.message}`]);
    }
  }
  const first: CsvRecord[] = [];
  for await (const page of allPages()) {
    first.push(...page);
    if (first.length > mostPreamble + sampled) break;
  }
  const head = first.slice(0, mostPreamble + 1);
  const place = placeOfHeader(path, head, given, await namesIn(textsOf({ sample: head })));
  const { cells: header = [], line: headerLine = 0 } = first[place] ?? {};
  if (header.length < 2)
    throw usage([`${path} has no header with at least two columns.`], addDelimiter);
  async function* pages() {
    for await (const page of allPages()) yield page.filter(({ line }) => line > headerLine);
  }
  const sample = first.slice(place + 1, place + 1 + sampled);
  const currency = head.slice(0, place).map(currencyAbove).find(Boolean);
  return { path, header, currency, sample, pages };
}

/**
 * @param head the records at the beginning of the file
 * @param names IDs and references of the ledger
 * @throws Failure `usage` if a line of money would be the header, or above it
 */
function placeOfHeader(
  path: string,
  head: CsvRecord[],
  given: string[],
  names: Set<string>,
): number {
  // Amounts have many notations, so that any number is a value unless it is part of a heading.
  const isValue = (cell: string) =>
    !given.some((name) => isSame(name, cell)) &&
    (names.has(cell) || (hasDigit(cell) && !isHeadingWithNumber(cell)));
  const ranks = head.slice(0, mostPreamble).map((record) => {
    if (record.cells.some(isValue)) return -1;
    const isTitle = record.cells.filter(Boolean).length < 2;
    return isTitle ? 0 : 1 + columnsIn(record.cells, given);
  });
  const best = Math.max(...ranks);
  const place = ranks.indexOf(best);
  const first = head.find(({ cells }) => cells.filter(Boolean).length > 1 && cells.some(isValue));
  if (first && best < 1) {
    const column = first.cells.find(isValue) ?? "";
    const map = shellLine(["--map", `${column}=ignore`]);
    const hint = `If line ${first.line} is the header, map its columns, for example ${map}. If not, add a first line that names the columns, such as Date,Reference,Amount.`;
    throw withValues(`${path} has no header`, first, hint);
  }
  const kindsOf = ({ cells }: CsvRecord) =>
    cells.map((cell) => (isValue(cell) ? valueIn(cell) : undefined));
  const below = head[place + 1];
  const kindsBelow = below ? kindsOf(below) : [];
  const isLikeBelow = (record: CsvRecord) =>
    kindsOf(record).filter((kind, at) => kind && kind === kindsBelow[at]).length > 1;
  const isAmount = (cell: string) => {
    const kind = valueIn(cell);
    return isValue(cell) && kind !== "date" && kind !== "mobile";
  };
  const isLine = ({ cells }: CsvRecord) =>
    cells.some(isAmount) && !isAboutStatement(cells.filter(Boolean));
  const above = head.slice(0, place).find((one) => isLine(one) || isLikeBelow(one));
  if (above) {
    const hint = `If line ${above.line} is a transaction, move it below the header. If not, delete it.`;
    throw withValues(`${path} has values above its header`, above, hint);
  }
  return place;
}

/** The other currency in `Currency: USD`, in one cell or in two. */
function currencyAbove({ cells }: CsvRecord): string | undefined {
  const [, named] =
    /^(?:account )?(?:currency|মুদ্রা)\s*:?\s+(\S+)$/iu.exec(cells.filter(Boolean).join(" ")) ?? [];
  return otherCurrencyOf(named ?? "");
}

function withValues(what: string, { line, cells }: CsvRecord, hint: string): Failure {
  const shown = cells
    .filter(Boolean)
    .slice(0, 8)
    .map((cell) => quoted(cell));
  return usage([`${what}: line ${line} has the values ${shown.join(", ")}.`], hint);
}

/** A cell without what spreadsheets and web pages add: an apostrophe, a formula of a text, and invisible marks. */
function plainCell(cell: string): string {
  const visible = cell
    .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, "")
    .trim();
  const inner = /^="([^"]*)"$/.exec(visible)?.[1] ?? visible;
  return unguarded(inner).replace(/^'/, "").trim();
}

const addDelimiter = "If the file uses another separator, set --delimiter.";

/** The names by which a column is recognized if its cells do not show what it holds. */
const columnNames: Record<Read, RegExp> = {
  id: /^(?:(?:trx|txn|transaction|payment|payout|record)[ _-]*(?:id|no|number)?|id)$/i,
  reference: /\bref|reference|invoice/i,
  date: /date|time|completed|created/i,
  type: /type|kind|particular/i,
  amount: /amount/i,
  debit: /debit|withdraw|(?:paid|money|amount|cash) out|^(?:out|outflow)\b|^(?!.*\bcr\b).*\bdr\b/i,
  credit:
    /credit|deposit|(?:paid|money|amount|cash) in|^(?:in|inflow)\b(?! )|^(?!.*\bdr\b).*\bcr\b/i,
  direction:
    /^direction$|^(?:dr ?cr|cr ?dr)\b|^(?:debit ?credit|in ?out)$|^(?:amount )?sign$|দিক$/i,
  currency: /currency|^ccy$|^cur\.?$|মুদ্রা/i,
  fee: /fee|charge|commission/i,
  balance: /balance/i,
  status: /status|^state$/i,
  recipient: /recipient|receiver|beneficiary|mobile|msisdn|wallet|^to$/i,
};

/** True if a heading has the name of a field. One that names both directions is neither a debit nor a credit. */
function isNamed(field: Read, heading: string): boolean {
  if (!namesBothDirections(heading)) return columnNames[field].test(heading);
  return field === "direction" || field === "amount";
}

/** How many columns a row names. One that was given counts more than all others. */
function columnsIn(cells: string[], given: string[]): number {
  const isGiven = (cell: string) => given.some((name) => isSame(name, cell));
  const isKnown = (cell: string) =>
    Object.values(columnNames).some((name) => name.test(cell.trim()));
  return cells.filter(isGiven).length * 1_000 + cells.filter(isKnown).length;
}

/** The delimiter by which a line at the beginning names the most columns. */
async function delimiterOf(pieces: AsyncIterable<string>, given: string[]): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text = piece.slice(0, 16 * 1024);
    break;
  }
  const lines = text.replaceAll('"', "").split(/\r\n|[\r\n]/);
  const named = (one: string) =>
    Math.max(...lines.slice(0, mostPreamble).map((line) => columnsIn(line.split(one), given)));
  return [...delimiters.values()].reduce((best, one) => (named(one) > named(best) ? one : best));
}

/** The texts of a statement that may be IDs or references, of its first lines. */
export function textsOf({ sample }: Pick<StatementTable, "sample">): string[] {
  return [...new Set(sample.flatMap(({ cells }) => cells))].filter((cell) =>
    /^[^\s]{2,256}$/.test(cell),
  );
}

/** A field, what its cells are, and whether a cell is one. Without the last, any cell can be in the column. */
type Recognition = [
  field: Read,
  what: string,
  fits: (cell: string, operation: Operation | undefined) => boolean,
  isReadable?: (cell: string) => boolean,
];

/** Fields whose wrong cells are errors also if the column has another name for the field. */
const namedAnyhow: Read[] = ["status", "currency"];

/** Columns that can change what an amount means, and that are neither read nor ignored. */
export function recognizeMeaning(table: StatementTable, given: ColumnMapping[]): ColumnMapping[] {
  const others = recognize(table, given, []).slice(given.length);
  return others.filter(({ field }) => ["direction", "narration", "currency"].includes(field));
}

/**
 * Recognizes columns by what the ledger knows: IDs and references first; then amounts, statuses, types and recipients
 * of these operations. Names of columns count only if their cells decide nothing.
 *
 * @param given columns that are not to be recognized
 * @param known operations that the sample names
 */
export function recognize(
  { header, sample }: Pick<StatementTable, "header" | "sample">,
  given: ColumnMapping[],
  known: Operation[],
): ColumnMapping[] {
  const ids = new Map(known.map((one) => [one.remoteId ?? "", one]));
  const references = new Map(known.map((one) => [one.reference ?? "", one]));
  const found = [...given];
  const placeOf = (field: Read) =>
    header.indexOf(found.find((one) => readAs(one) === field)?.column ?? " ");
  const isMoney = (cell: string) => readMoney(cell).ok;
  const isDate = (cell: string) => readDate(cell, "UTC").ok || readDate(cell, "UTC", true).ok;
  const isStatus = (cell: string) => statusIn(cell) !== undefined;
  const hasDirection = (cell: string) => directionIn(cell) !== undefined;
  const never = () => false;
  const recognitions: Recognition[] = [
    ["id", "IDs of the ledger", (cell) => ids.has(cell)],
    ["reference", "references of the ledger", (cell) => references.has(cell)],
    ["date", "times", isDate, isDate],
    ["debit", "", never, isMoney],
    ["credit", "", never, isMoney],
    ["amount", "amounts of these operations", isAmountOf, isMoney],
    ["fee", "", never, isMoney],
    ["balance", "", never, isMoney],
    ["currency", "currencies", isCurrency],
    ["direction", "directions", hasDirection],
    ["status", "statuses", isStatus, isStatus],
    [
      "type",
      "types of these operations",
      (cell, one) => one !== undefined && kindIn(cell) === one.kind,
    ],
    ["recipient", "recipients of these operations", isRecipientOf],
  ];
  // With signs in the amounts, Dr and Cr beside a balance are of the balance.
  const isOfBalance = (place: number) =>
    placeOf("balance") >= 0 &&
    place === placeOf("balance") + 1 &&
    sample.some(({ cells }) => isNegative(cells[placeOf("amount")] ?? ""));
  for (const [field, what, fits, isReadable = () => true] of recognitions) {
    const isTwoColumns = placeOf("debit") >= 0 && placeOf("credit") >= 0;
    const isOfAmount = field === "amount" || field === "direction";
    if (placeOf(field) >= 0 || (isOfAmount && isTwoColumns)) continue;
    const candidates = header.flatMap((column, place) => {
      if (column === "" || found.some((one) => isSame(one.column, column))) return [];
      const filled = sample.filter(({ cells }) => cells[place]);
      const operationOf = ({ cells }: CsvRecord) =>
        ids.get(cells[placeOf("id")] || " ") ?? references.get(cells[placeOf("reference")] || " ");
      const hits = filled.filter((one) => fits(one.cells[place] ?? "", operationOf(one))).length;
      const cells = filled.map((one) => one.cells[place] ?? "");
      const isPossible = hits > 0 || isNamed(field, column);
      // A wrong cell of a column with the name of a field is an error, not a sign of another column.
      const isSure = namedAnyhow.includes(field)
        ? isNamed(field, column)
        : column.toLowerCase() === field;
      const isRead =
        field === "direction"
          ? isDirection(column, cells) && !isOfBalance(place)
          : isPossible && (isSure || cells.every(isReadable));
      return isRead ? [{ column, hits, filled: filled.length }] : [];
    });
    const [best] = candidates.sort((one, other) => other.hits - one.hits);
    if (!best) continue;
    const why = best.hits > 0 ? `${best.hits} of ${best.filled} cells are ${what}` : "by its name";
    found.push({ column: best.column, field, why });
  }
  return [...found, ...recognizeWords({ header, sample }, found)];
}

/**
 * The columns with words of directions among others, such as `Credit transfer`, in a file whose amounts have no signs.
 * There may be more than one. A wrong direction is seen, and a payout that came back must not match.
 */
function recognizeWords(
  table: Pick<StatementTable, "header" | "sample">,
  found: ColumnMapping[],
): ColumnMapping[] {
  const { header, sample } = table;
  const amount = found.find(({ field }) => field === "amount")?.column ?? " ";
  const place = header.findIndex((one) => isSame(one, amount));
  const isSigned = sample.some(({ cells }) => isNegative(cells[place] ?? ""));
  const hasDirection = found.some(({ field }) => field === "direction");
  if (place < 0 || isSigned || hasDirection) return [];
  return unread(header, found)
    .filter(({ column }) => column && header.filter((one) => isSame(one, column)).length === 1)
    .flatMap(({ column }) => {
      const cells = cellsOf(table, column);
      const hits = cells.filter((cell) => wordsIn(cell) !== undefined).length;
      if (hits === 0) return [];
      const why = `${hits} of ${cells.length} cells contain words of directions`;
      return [{ column, field: "narration" as const, why }];
    });
}

/** The columns that are neither read nor ignored. */
function unread(header: string[], mapping: ColumnMapping[]): { column: string; place: number }[] {
  return header.flatMap((column, place) =>
    mapping.some((one) => isSame(one.column, column)) ? [] : [{ column, place }],
  );
}

/** A column that is not read, with its texts if these are few. */
export interface UnusedColumn {
  column: string;
  values: string[];
}

/** Columns that change nothing: a text of one may show what an amount means. */
export function unusedColumns(
  { header, sample }: Pick<StatementTable, "header" | "sample">,
  mapping: ColumnMapping[],
): UnusedColumn[] {
  return unread(header, mapping).flatMap(({ column, place }) => {
    const values = [...new Set(sample.flatMap(({ cells }) => cells[place] || []))];
    if (column === "" && values.length === 0) return [];
    const areFew = values.length <= 4 && values.every((value) => value.length <= 20);
    return [{ column: column || `column ${place + 1}`, values: areFew ? values : [] }];
  });
}

/** The cells of the sample that are not empty. */
function cellsOf(
  { header, sample }: Pick<StatementTable, "header" | "sample">,
  column: string,
): string[] {
  const place = header.findIndex((one) => isSame(one, column));
  return sample.flatMap(({ cells }) => cells[place] || []);
}

/** True if most texts of a column show a direction, and not all the same: then the others are odd. */
function areMostDirected(cells: string[]): boolean {
  const found = cells.flatMap((cell) => wordsIn(cell) ?? (kindIn(cell) === "payout" ? "out" : []));
  return found.length * 2 > cells.length && new Set(found).size > 1;
}

function isNegative(cell: string): boolean {
  const money = readMoney(cell);
  return money.ok && money.value < 0n;
}

/**
 * True if a column has the directions of the amounts: by its name, or by its cells. If half of them are directions,
 * the others are errors: a direction that is not read may be that of money which came back.
 */
function isDirection(column: string, cells: string[]): boolean {
  if (cells.length === 0) return false;
  if (isNamed("direction", column)) return true;
  const words = cells.filter((cell) => directionIn(cell) !== undefined);
  // One letter or sign may mean anything, unless another one is its opposite.
  const isClear = words.some((word) => word.length > 1) || new Set(words.map(directionIn)).size > 1;
  const isOther = columnNames.status.test(column) || columnNames.type.test(column);
  const isMost = words.length === cells.length || (words.length * 2 >= cells.length && !isOther);
  return isClear && isMost && !columnNames.status.test(column);
}

function isAmountOf(cell: string, operation: Operation | undefined): boolean {
  const money = readMoney(cell);
  return money.ok && magnitude(money.value) === operation?.amountPaisa;
}

function isRecipientOf(cell: string, operation: Operation | undefined): boolean {
  const ours = operation && recipientOf(operation);
  return ours !== undefined && payeeOf(cell) === payeeOf(ours);
}

/** The number that gets the money of a payout or a refund. */
export function recipientOf({
  kind,
  asked,
}: Pick<Operation, "kind" | "asked">): string | undefined {
  const number = kind === "payout" ? asked.recipientNumber : asked.accountNumber;
  return typeof number === "string" ? number : undefined;
}

/** Later mappings replace earlier ones of the same column or field. */
export function merged(earlier: ColumnMapping[], later: ColumnMapping[]): ColumnMapping[] {
  const isReplaced = (one: ColumnMapping) =>
    later.some(
      (other) =>
        isSame(other.column, one.column) || (readAs(other) === readAs(one) && !isShared(other)),
    );
  return [...earlier.filter((one) => !isReplaced(one)), ...later];
}

function readAs({ field }: ColumnMapping): Read | Shared {
  return field === "date-month-first" ? "date" : field;
}

function isShared({ field }: ColumnMapping): boolean {
  return field === "narration" || field === "ignore";
}

/**
 * Decides whether dates such as 03/04/2026 begin with the day or the month: by a number above 12 anywhere in the
 * column. If nothing decides, the day is first.
 */
export async function withDateOrder(
  { header, sample, pages }: StatementTable,
  mapping: ColumnMapping[],
): Promise<ColumnMapping[]> {
  const date = mapping.find(({ field }) => field === "date");
  const place = header.findIndex((one) => isSame(one, date?.column ?? " "));
  const numbersIn = ({ cells }: CsvRecord) => dayFirst.exec(asciiDigits(cells[place] ?? ""));
  const example = sample.map(numbersIn).find((found) => found && !/\D/.test(found[2] ?? ""));
  if (!date || !example) return mapping;
  let [isDayFirst, isMonthFirst] = [false, false];
  for await (const page of pages())
    for (const found of page.map(numbersIn)) {
      isDayFirst ||= Number(found?.[1]) > 12;
      isMonthFirst ||= Number(found?.[2]) > 12;
    }
  const decided = isMonthFirst && !isDayFirst ? "date-month-first" : "date";
  const why =
    isDayFirst || isMonthFirst
      ? date.why
      : `${example[0]} is read day first. If the month is first: --map '${date.column}=date-month-first'`;
  return mapping.map((one) =>
    one === date ? { ...one, field: decided, ...(why === undefined ? {} : { why }) } : one,
  );
}

function isSame(one: string, other: string): boolean {
  return plainCell(one).normalize("NFC") === plainCell(other).normalize("NFC");
}

/** A line of a statement, as far as its columns are known. */
export interface Line {
  line: number;
  id: string | null;
  reference: string | null;
  /** As it is written, and the moments that it means. */
  date: string | null;
  span: { fromMs: number; toMs: number } | null;
  kind: Resource | "fee" | null;
  /** Without its sign. Null for a line that has only a balance. */
  amountPaisa: Paisa | null;
  /** With its sign, for a statement that shows one. */
  movementPaisa: Paisa | null;
  feePaisa: Paisa | null;
  balancePaisa: Paisa | null;
  /** As the statement has it if it is not BDT. */
  currency: string | null;
  /** The API's status, or the word of the statement if that means none of them. */
  status: string | null;
  recipient: string | null;
  /** The words that show its direction, in a file without signs. */
  words?: DirectionWords | undefined;
}

/** A cell whose words show the direction of an amount. */
interface DirectionWords {
  column: string;
  text: string;
  direction: Direction | undefined;
  /** True for a reversal, for no direction among directions, and for another one than in another column. */
  isOdd: boolean;
  /** True for a refund, which is odd for other operations. */
  isRefund: boolean;
}

/** The lines of a statement. All cells were read once, and can be read. */
export interface Lines {
  /** From the first to the last moment of the dates; undefined without dates. */
  span: { fromMs: number; toMs: number } | undefined;
  /** Undefined if the dates do not show it. */
  isNewestFirst: boolean | undefined;
  /** The debits with another sign than most: their first line, and how many more there are. */
  oddDebits: { line: number; others: number; isBelowZero: boolean } | undefined;
  /** Reads the file again, so that long statements are not in memory. */
  pages(): AsyncIterable<Line[]>;
}

/** @throws Failure `usage` if the columns are not enough, or name none of the file */
export function requireColumns(table: StatementTable, mapping: ColumnMapping[]): void {
  const problems = [...problemsOfMapping(table, mapping)];
  if (problems.length > 0) throw usage(problems, mapExample);
}

/**
 * Reads the lines of a statement.
 *
 * @throws Failure `usage` that names every cell that cannot be read: nothing is guessed
 */
export async function readLines(
  table: StatementTable,
  mapping: ColumnMapping[],
  zone: string,
): Promise<Lines> {
  requireColumns(table, mapping);
  const problems: string[] = [];
  let more = 0;
  const report = (problem: string) => {
    if (problems.length < mostProblems) problems.push(problem);
    else more += 1;
  };
  const read = createLineReader(table, mapping, zone, report);
  const signs = createSigns();
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [firstMs, lastMs]: (number | undefined)[] = [];
  for await (const page of table.pages())
    for (const one of page.flatMap(read)) {
      const { span } = one.line;
      signs.add(one);
      if (!span) continue;
      firstMs ??= span.fromMs;
      lastMs = span.fromMs;
      fromMs = Math.min(fromMs, span.fromMs);
      toMs = Math.max(toMs, span.toMs);
    }
  for (const line of signs.withoutDirection())
    report(
      `${table.path}, line ${line} has an amount without a direction. ${ignoring(mapping, "direction")}`,
    );
  for (const problem of signs.unreadWords()) report(problem);
  if (more > 0) problems.push(`And ${counted(more, "more problem")}.`);
  if (problems.length > 0) throw usage(problems, "Correct the cells, then run the command again.");
  async function* pages() {
    for await (const page of table.pages()) yield page.flatMap(read).map(signs.lineOf);
  }
  return {
    span: firstMs === undefined ? undefined : { fromMs, toMs },
    isNewestFirst: firstMs === lastMs ? undefined : (firstMs ?? 0) > (lastMs ?? 0),
    oddDebits: signs.oddDebits(),
    pages,
  };
}

function ignoring(mapping: ColumnMapping[], field: Read): string {
  const column = mapping.find((one) => readAs(one) === field)?.column ?? "";
  return `To ignore the column: ${shellLine(["--map", `${column}=ignore`])}.`;
}

/** A line whose direction depends on the other lines of the file. */
interface ReadLine {
  line: Omit<Line, "amountPaisa" | "movementPaisa">;
  /** An amount that is not known to be a debit or a credit. */
  amountPaisa: Paisa | null;
  /** By its column or by its word. */
  debitPaisa: Paisa | null;
  creditPaisa: Paisa | null;
  /** Words among others. Signs of the file say more. */
  words: DirectionWords | undefined;
  /** The problem of such words in a column that is not read. */
  unreadWords: string | undefined;
  /** True if the file has a column of directions, and this line has none. */
  lacksDirection: boolean;
}

/** What the signs of all amounts of a file mean. */
function createSigns() {
  let isSigned = false;
  const debits = { above: 0, below: 0 };
  const first: { above?: number; below?: number } = {};
  const without: number[] = [];
  const unreadWords: string[] = [];
  return {
    add({ line, amountPaisa, debitPaisa, lacksDirection, ...one }: ReadLine): void {
      isSigned ||= (amountPaisa ?? 0n) < 0n;
      if (debitPaisa) {
        const side = debitPaisa > 0n ? "above" : "below";
        debits[side] += 1;
        first[side] ??= line.line;
      }
      if (lacksDirection && without.length <= mostProblems) without.push(line.line);
      if (one.unreadWords && unreadWords.length <= mostProblems) unreadWords.push(one.unreadWords);
    },

    /** The lines that show their direction neither by a word nor by a sign. */
    withoutDirection: (): number[] => (isSigned ? [] : without),
    unreadWords: (): string[] => (isSigned ? [] : unreadWords),

    oddDebits(): Lines["oddDebits"] {
      const isBelowZero = debits.below <= debits.above;
      const side = isBelowZero ? "below" : "above";
      const { [side]: line } = first;
      return line === undefined ? undefined : { line, others: debits[side] - 1, isBelowZero };
    },

    lineOf({ line, amountPaisa, debitPaisa, creditPaisa, words }: ReadLine): Line {
      // Some statements write all debits below zero. A debit with another sign than most is one that came back.
      const debit = debits.below > debits.above ? -(debitPaisa ?? 0n) : (debitPaisa ?? 0n);
      // A line with only a balance may have an amount of zero.
      const moved = (amountPaisa ?? (creditPaisa ?? 0n) - debit) || null;
      // Without any sign in the whole file, the direction follows from what a line is.
      const shown = amountPaisa === null || isSigned ? undefined : words;
      const hasDirection = amountPaisa === null || isSigned || shown?.direction !== undefined;
      const isOut = shown?.direction === "out";
      const movement = isOut && moved !== null ? -moved : moved;
      return {
        ...line,
        amountPaisa: moved === null ? null : magnitude(moved),
        movementPaisa: hasDirection ? movement : null,
        words: shown,
      };
    },
  };
}

/** Reads a record. What cannot be read is reported. */
function createLineReader(
  table: StatementTable,
  mapping: ColumnMapping[],
  zone: string,
  report: (problem: string) => void,
) {
  const { path, header, currency: currencyOfFile } = table;
  const places = new Map(
    mapping.map((one) => [readAs(one), header.findIndex((name) => isSame(name, one.column))]),
  );
  const isUndirected = places.has("amount") && !places.has("direction");
  const words = createWordReader(table, isUndirected ? mapping : undefined);
  const contradictions = createDirectionCheck(table, mapping);
  const isMonthFirst = mapping.some(({ field }) => field === "date-month-first");
  const currencies = (["amount", "debit", "credit", "fee", "balance"] as const).flatMap((field) => {
    const currency = currencyOfHeading(header[places.get(field) ?? -1] ?? "");
    return currency === undefined ? [] : [{ field, currency }];
  });
  return ({ line, cells }: CsvRecord): ReadLine[] => {
    const at = `${path}, line ${line}`;
    if (cells.length !== header.length) {
      report(`${at} has ${counted(cells.length, "cell")}, but the header has ${header.length}.`);
      return [];
    }
    const text = (field: Read) => cells[places.get(field) ?? -1] || null;
    const read = <Value>(field: Read, reader: (cell: string) => Result<Value>): Value | null => {
      const cell = text(field);
      const reading = cell === null ? undefined : reader(cell);
      if (reading?.ok === false)
        report(`${at}, ${header[places.get(field) ?? -1]}: ${reading.problem}`);
      return reading?.ok ? reading.value : null;
    };
    const readDirection = (cell: string): Result<Direction> => {
      const direction = directionIn(cell) ?? directionAmong(cell);
      const problem = `${quoted(cell)} is not a direction. Examples: Dr, Cr, Debit, Credit, In, Out. ${ignoring(mapping, "direction")}`;
      return direction ? ok(direction) : err(problem);
    };
    const [debit, credit] = [read("debit", readMoney), read("credit", readMoney)];
    if (debit && credit) report(`${at} has a debit and a credit.`);
    const amount = read("amount", readMoney);
    const kind = kindIn(text("type") ?? "") ?? null;
    // A word such as Credit among types shows that money came back.
    const direction = places.has("direction")
      ? read("direction", readDirection)
      : directionIn(text("type") ?? "");
    if (direction && amount)
      for (const problem of contradictions(cells, direction)) report(`${at}: ${problem}`);
    if (amount !== null && amount < 0n && direction === "in")
      report(`${at} has an amount below zero, but its direction is in.`);
    const isNamed = text("id") !== null || text("reference") !== null;
    const isEmpty = [text("amount"), text("debit"), text("credit")].every((one) => one === null);
    if (isNamed && isEmpty) report(`${at} has no amount.`);
    const isOther = ({ field }: (typeof currencies)[number]) => {
      const money = readMoney(text(field) ?? "");
      return money.ok && money.value !== 0n;
    };
    const cell = text("currency");
    const currency = cell === null ? currencyOfFile : otherCurrencyOf(cell);
    return [
      {
        line: {
          line,
          id: text("id"),
          reference: text("reference"),
          date: text("date"),
          span: read("date", (cell) => readDate(cell, zone, isMonthFirst)),
          kind,
          feePaisa: read("fee", readMoney),
          balancePaisa: read("balance", readMoney),
          currency: currency ?? currencies.find(isOther)?.currency ?? null,
          status: statusIn(text("status") ?? "") ?? text("status"),
          recipient: text("recipient"),
        },
        amountPaisa: direction ? null : amount,
        words: words.shownBy(cells),
        unreadWords: isNamed && amount ? words.unreadIn({ line, cells }) : undefined,
        debitPaisa: direction === "out" ? amount : debit,
        creditPaisa: direction === "in" ? amount : credit,
        lacksDirection:
          places.has("direction") && text("direction") === null && !!amount && kind !== "fee",
      },
    ];
  };
}

/** Compares the direction of a line with other columns of directions. Beside a balance, they are of the balance. */
function createDirectionCheck(table: StatementTable, mapping: ColumnMapping[]) {
  const columns = table.header.map((column, place) => {
    const field = mapping.find((one) => isSame(one.column, column))?.field;
    return { column, place, field };
  });
  const read = columns.find(({ field }) => field === "direction");
  const others = columns.filter(({ column, place, field }) => {
    if (!read || (field !== undefined && field !== "type" && field !== "narration")) return false;
    const { column: before = "", field: fieldBefore } = columns[place - 1] ?? {};
    const isOfBalance =
      fieldBefore === "balance" || [before, column].some((one) => isNamed("balance", one));
    return column !== "" && !isOfBalance && isDirection(column, cellsOf(table, column));
  });
  return (cells: string[], direction: Direction): string[] =>
    others.flatMap(({ column, place }) => {
      const cell = cells[place] ?? "";
      const other = directionIn(cell);
      if (!read || other === undefined || other === direction) return [];
      const ignored = shellLine(["--map", `${column}=ignore`]);
      return `${read.column} is ${quoted(cells[read.place] ?? "")}, but ${column} is ${quoted(cell)}. To ignore the second column: ${ignored}.`;
    });
}

/**
 * Reads the words of a line's direction: in its type and its narrations.
 *
 * @param mapping undefined if the file shows its directions otherwise
 */
function createWordReader(table: StatementTable, mapping: ColumnMapping[] | undefined) {
  const { path, header } = table;
  const texts = (mapping ?? []).filter(({ field }) => field === "type" || field === "narration");
  const others = mapping ? unread(header, mapping) : [];
  const all = texts.map(({ column, field }) => {
    const cells = cellsOf(table, column);
    const place = header.findIndex((name) => isSame(name, column));
    const hits = cells.filter((cell) => wordsIn(cell) !== undefined).length;
    return { column, place, hits, isStrict: field === "narration" && areMostDirected(cells) };
  });
  // A word by chance is in a column with few of them: that column is shown.
  const columns = all.sort((one, other) => other.hits - one.hits);
  const wordsOf = (cells: string[]) =>
    columns.flatMap(({ column, place, isStrict }): DirectionWords[] => {
      const text = cells[place] ?? "";
      const shown = wordsIn(text);
      const kind = kindIn(text);
      const isUnclear = isStrict && shown === undefined && kind !== "payout" && kind !== "fee";
      if (shown === undefined && !isUnclear) return [];
      const direction = shown === "out" || shown === "in" ? shown : undefined;
      const isRefund = shown === "refund";
      return [{ column, text, direction, isOdd: isUnclear || shown === "reversal", isRefund }];
    });
  return {
    shownBy(cells: string[]): DirectionWords | undefined {
      const found = wordsOf(cells);
      const directed = found.filter(({ direction }) => direction);
      const [first] = directed;
      const differing = directed.find(({ direction }) => direction !== first?.direction);
      const back = found.find(({ text }) => wordsIn(text) === "reversal");
      return (
        back ??
        found.find(({ isRefund }) => isRefund) ??
        (differing && { ...differing, direction: undefined, isOdd: true }) ??
        first ??
        found[0]
      );
    },
    /** The problem of words in a column that is not read: they are below the sample. */
    unreadIn({ line, cells }: CsvRecord): string | undefined {
      const other = others.find(({ place }) => wordsIn(cells[place] ?? ""));
      if (!other) return undefined;
      const { column, place } = other;
      const isUnique = header.filter((one) => isSame(one, column)).length === 1 && column !== "";
      const named = column || `column ${place + 1}`;
      const way = isUnique
        ? readingOrIgnoring(column)
        : "Give the column a unique name in the header.";
      return `${path}, line ${line}, ${named}: ${quoted(cells[place] ?? "")} may be a direction. ${way}`;
    },
  };
}

function readingOrIgnoring(column: string): string {
  const [read, ignored] = ["narration", "ignore"].map((field) =>
    shellLine(["--map", `${column}=${field}`]),
  );
  return `To read the column: ${read}. To ignore it: ${ignored}.`;
}

const mapExample = "Map one column of the file to each field, for example --map 'Trx ID=id'.";
const mostProblems = 20;

/** Columns that a file does not have exactly once, and columns that cannot be used together. */
function* problemsOfColumns(
  { path, header }: Pick<StatementTable, "path" | "header">,
  mapping: ColumnMapping[],
) {
  const names = header.filter((name) => name !== "").map((name) => quoted(name));
  for (const [place, one] of mapping.entries()) {
    const { column, field } = one;
    const { length } = header.filter((name) => isSame(name, column));
    if (length === 0)
      yield `${path} has no column ${quoted(column)}. Its columns are ${names.join(", ")}.`;
    if (length > 1) yield `${path} has ${length} columns with the name ${quoted(column)}.`;
    const earlier = mapping.slice(0, place);
    const sameColumn = earlier.find((other) => isSame(other.column, column));
    const sameField = earlier.find(
      (other) => !isShared(one) && readAs(other) === readAs(one) && other !== sameColumn,
    );
    if (sameColumn)
      yield `The column ${quoted(column)} is mapped twice: to ${sameColumn.field} and to ${field}.`;
    if (sameField)
      yield `Two columns are mapped to ${readAs(one)}: ${quoted(sameField.column)} and ${quoted(column)}.`;
  }
}

/** @throws Failure `usage` if columns were given that cannot be read */
export function checkColumns(table: StatementTable, given: ColumnMapping[]): void {
  const problems = [...problemsOfColumns(table, given)];
  if (problems.length > 0) throw usage(problems, mapExample);
}

function* problemsOfMapping({ path, header }: StatementTable, mapping: ColumnMapping[]) {
  const has = (...fields: Read[]) =>
    mapping.some(({ field }) => fields.some((one) => one === field));
  yield* problemsOfColumns({ path, header }, mapping);
  if (!has("id", "reference")) yield "No column is used as id or as reference.";
  if (!has("amount", "debit", "credit")) yield "No column is used as amount.";
  if (has("amount") && has("debit", "credit"))
    yield "Map an amount column, or a debit and a credit column, but not both.";
  if (has("direction") && !has("amount"))
    yield `A direction column needs an amount column. ${ignoring(mapping, "direction")}`;
}
