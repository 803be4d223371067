import { magnitude } from "../domain/amount.ts";
import { mobilesIn, payeeOf } from "../domain/mobile.ts";
import { shellLine } from "../domain/text.ts";
import type { Operation } from "../ledger/operation.ts";
import { AmountColumn, type DecimalMark } from "../tables/amount.ts";
import { isCurrency } from "../tables/currency.ts";
import { DateColumn, type DateOrder, type FoundOrder, isDateInAnyOrder } from "../tables/date.ts";
import { directionIn, wordsIn } from "../tables/direction.ts";
import { isSameHeading } from "../tables/heading.ts";
import { isFeeLabel, kindIn, statusIn } from "../tables/kind.ts";
import { isOneWord, mentionsIn } from "../tables/mentions.ts";
import { readPaisa } from "./certain.ts";
import {
  type ColumnMapping,
  columnNames,
  isNamed,
  type Read,
  readAs,
  type StatementField,
} from "./fields.ts";
import type { StatementRow, StatementTable } from "./table.ts";

/** A field, what its cells are, and whether a cell is one. Without the last, any cell can be in the column. */
type Recognition = [
  field: Read,
  what: string,
  fits: (cell: string, operation: Operation | undefined, mark: DecimalMark) => boolean,
  isReadable?: (cell: string, mark: DecimalMark) => boolean,
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
  const { ids, references, mentioned } = namesOf(known);
  const found = [...given];
  const marks = header.map((_, place) => markOf(sample, place));
  const placeOf = (field: Read) =>
    header.indexOf(found.find((one) => readAs(one) === field)?.column ?? " ");
  const isStatus = (cell: string) => statusIn(cell) !== undefined;
  const hasDirection = (cell: string) => directionIn(cell) !== undefined;
  const never = () => false;
  const recognitions: Recognition[] = [
    ["id", "IDs of the ledger", (cell) => ids.has(cell)],
    ["reference", "references of the ledger", (cell) => references.has(cell) || !!mentioned(cell)],
    ["date", "times", isDateInAnyOrder, isDateInAnyOrder],
    ["debit", "", never, isPaisa],
    ["credit", "", never, isPaisa],
    ["amount", "amounts of these operations", isAmountOf, isPaisa],
    ["fee", "", never, isPaisa],
    ["balance", "", never, isPaisa],
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
    hasNegative(sample, placeOf("amount"));
  for (const [field, what, fits, isReadable = () => true] of recognitions) {
    const isTwoColumns = placeOf("debit") >= 0 && placeOf("credit") >= 0;
    const isOfAmount = field === "amount" || field === "direction";
    if (placeOf(field) >= 0 || (isOfAmount && isTwoColumns)) continue;
    const candidates = header.flatMap((column, place) => {
      if (column === "" || found.some((one) => isSameHeading(one.column, column))) return [];
      const filled = sample.filter(({ cells }) => cells[place]);
      const mark = marks[place] ?? "point";
      const operationOf = ({ cells }: StatementRow) =>
        ids.get(cells[placeOf("id")] || " ") ??
        references.get(cells[placeOf("reference")] || " ") ??
        mentioned(cells[placeOf("reference")] ?? "");
      const hits = filled.filter((one) =>
        fits(one.cells[place] ?? "", operationOf(one), mark),
      ).length;
      const cells = filled.map((one) => one.cells[place] ?? "");
      const isPossible = hits > 0 || isNamed(field, column);
      // A wrong cell of a column with the name of a field is an error, not a sign of another column.
      const isSure = namedAnyhow.includes(field)
        ? isNamed(field, column)
        : column.toLowerCase() === field;
      const isRead =
        field === "direction"
          ? isDirection(column, cells) && !isOfBalance(place)
          : isPossible && (isSure || cells.every((cell) => isReadable(cell, mark)));
      return isRead ? [{ column, hits, filled: filled.length }] : [];
    });
    const [best] = candidates.sort((one, other) => other.hits - one.hits);
    if (!best) continue;
    const why = best.hits > 0 ? `${best.hits} of ${best.filled} cells are ${what}` : "by its name";
    found.push({ column: best.column, field, why });
  }
  const texts = header.flatMap((column, place) => {
    const field = found.find((one) => isSameHeading(one.column, column))?.field;
    return field === "reference" || field === "narration" ? place : [];
  });
  const isForeign = isForeignId(sample, { id: placeOf("id"), texts }, known);
  const named = found.map((one) =>
    isForeign && one.field === "id" && !given.includes(one) ? { ...one, ...ownIds } : one,
  );
  return [...named, ...recognizeWords({ header, sample }, named)];
}

const ownIds = { field: "line-id", why: "none is an ID of the operation on its line" } as const;
/** Fewer lines may contradict the ledger. */
const fewestForeign = 3;

/** True if no cell of a column of IDs is the ID of the operation that its line names: a wallet has IDs of its own. */
function isForeignId(
  sample: StatementRow[],
  { id, texts }: { id: number; texts: number[] },
  known: Operation[],
): boolean {
  const { references, mentioned } = namesOf(known);
  const pairs = sample.flatMap(({ cells }) => {
    const names = texts.map((place) => cells[place] ?? "");
    const remoteId = names
      .map((name) => references.get(name) ?? mentioned(name))
      .find(Boolean)?.remoteId;
    return remoteId && cells[id] ? { isSame: remoteId === cells[id] } : [];
  });
  return pairs.length >= fewestForeign && !pairs.some((one) => one.isSame);
}

/** The operations by their IDs and references, and the only one that a text of several words names. */
function namesOf(known: Operation[]) {
  const ids = new Map(known.map((one) => [one.remoteId ?? "", one]));
  const references = new Map(known.map((one) => [one.reference ?? "", one]));
  const mentioned = (cell: string): Operation | undefined => {
    if (isOneWord(cell)) return undefined;
    const found = mentionsIn(cell).flatMap((name) => ids.get(name) ?? references.get(name) ?? []);
    return new Set(found).size === 1 ? found[0] : undefined;
  };
  return { ids, references, mentioned };
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
  const place = header.findIndex((one) => isSameHeading(one, amount));
  const isSigned = hasNegative(sample, place);
  const hasDirection = found.some(({ field }) => field === "direction");
  if (place < 0 || isSigned || hasDirection) return [];
  return unread(header, found)
    .filter(
      ({ column }) => column && header.filter((one) => isSameHeading(one, column)).length === 1,
    )
    .flatMap(({ column }) => {
      const cells = cellsOf(table, column);
      const hits = cells.filter((cell) => wordsIn(cell) !== undefined).length;
      if (hits === 0) return [];
      const why = `${hits} of ${cells.length} cells contain words of directions`;
      return [{ column, field: "narration" as const, why }];
    });
}

/** The texts with mobile numbers, by which operations are proposed. They are compared with no operation. */
export function recognizeNumbers(
  table: Pick<StatementTable, "header" | "sample">,
  found: ColumnMapping[],
): ColumnMapping[] {
  return unread(table.header, found).flatMap(({ column }) => {
    const isUnique = table.header.filter((one) => isSameHeading(one, column)).length === 1;
    const cells = column && isUnique ? cellsOf(table, column) : [];
    const hits = cells.filter((cell) => mobilesIn(cell).length > 0).length;
    // One number on all lines is that of the account itself.
    const isOwn = hits === table.sample.length && new Set(cells.flatMap(mobilesIn)).size === 1;
    if (hits === 0 || isOwn) return [];
    const why = `${hits} of ${cells.length} cells contain mobile numbers`;
    return [{ column, field: "narration" as const, why }];
  });
}

/** The texts that name only a fee, such as `Charge`. */
export function recognizeFees(
  table: Pick<StatementTable, "header" | "sample">,
  found: ColumnMapping[],
): ColumnMapping[] {
  return unread(table.header, found).flatMap(({ column }) => {
    const isUnique = table.header.filter((one) => isSameHeading(one, column)).length === 1;
    const cells = column && isUnique ? cellsOf(table, column) : [];
    const hits = cells.filter(isFeeLabel).length;
    if (hits === 0) return [];
    const why = `${hits} of ${cells.length} cells name fees`;
    return [{ column, field: "narration" as const, why }];
  });
}

/** The columns that are neither read nor ignored. */
export function unread(
  header: string[],
  mapping: ColumnMapping[],
): { column: string; place: number }[] {
  return header.flatMap((column, place) =>
    mapping.some((one) => isSameHeading(one.column, column)) ? [] : [{ column, place }],
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
export function cellsOf(
  { header, sample }: Pick<StatementTable, "header" | "sample">,
  column: string,
): string[] {
  const place = header.findIndex((one) => isSameHeading(one, column));
  return sample.flatMap(({ cells }) => cells[place] || []);
}

function hasNegative(sample: StatementRow[], place: number): boolean {
  const mark = markOf(sample, place);
  return sample.some(({ cells }) => {
    const money = readPaisa(cells[place] ?? "", mark);
    return money.ok && (money.value ?? 0n) < 0n;
  });
}

function markOf(sample: StatementRow[], place: number): DecimalMark {
  const column = new AmountColumn();
  for (const { cells } of sample) column.see(cells[place] ?? "");
  return column.decimalMark;
}

/**
 * True if a column has the directions of the amounts: by its name, or by its cells. If half of them are directions,
 * the others are errors: a direction that is not read may be that of money which came back.
 */
export function isDirection(column: string, cells: string[]): boolean {
  if (cells.length === 0) return false;
  if (isNamed("direction", column)) return true;
  const words = cells.filter((cell) => directionIn(cell) !== undefined);
  // One letter or sign may mean anything, unless another one is its opposite.
  const isClear = words.some((word) => word.length > 1) || new Set(words.map(directionIn)).size > 1;
  const isOther = columnNames.status.test(column) || columnNames.type.test(column);
  const isMost = words.length === cells.length || (words.length * 2 >= cells.length && !isOther);
  return isClear && isMost && !columnNames.status.test(column);
}

function isPaisa(cell: string, mark: DecimalMark): boolean {
  return readPaisa(cell, mark).ok;
}

function isAmountOf(cell: string, operation: Operation | undefined, mark: DecimalMark): boolean {
  const money = readPaisa(cell, mark);
  return money.ok && !!money.value && magnitude(money.value) === operation?.amountPaisa;
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

/**
 * Decides what the whole column shows: whether dates such as 03/04/2026 begin with the day, and whether a comma begins
 * the decimals of amounts. If nothing decides, the day is first.
 */
export async function withNotations(
  {
    header,
    sample,
    pages,
    isWhole,
  }: Pick<StatementTable, "header" | "sample" | "pages" | "isWhole">,
  mapping: ColumnMapping[],
): Promise<ColumnMapping[]> {
  const columns = mapping.map((one) => {
    const place = header.findIndex((name) => isSameHeading(name, one.column));
    const dates = one.field === "date" ? new DateColumn() : undefined;
    const amounts = isMoney(one.field) ? new AmountColumn() : undefined;
    return { one, place, dates, amounts };
  });
  const see = ({ cells }: StatementRow) => {
    for (const { place, dates, amounts } of columns) (dates ?? amounts)?.see(cells[place] ?? "");
  };
  for (const row of sample) see(row);
  const isOpen = columns.some(
    ({ dates, amounts }) => dates?.found.example !== undefined || amounts?.isDecided === false,
  );
  if (isOpen && !isWhole) for await (const page of pages()) for (const row of page) see(row);
  return columns.map(({ one, dates, amounts }) => {
    if (dates) return withOrder(one, dates.found);
    return amounts?.decimalMark === "comma" ? withComma(one) : one;
  });
}

function withOrder(one: ColumnMapping, { order, others, example }: FoundOrder): ColumnMapping {
  if (example === undefined) return one;
  const [other] = others;
  const words = (name: DateOrder) => name.replace("-", " ");
  const ways = others.map((name) => {
    const map = shellLine(["--map", `${one.column}=date-${name}`]);
    return `If the ${name.replace("-first", "")} is first: ${map}`;
  });
  const why = other ? `${example} is read ${words(order)}. ${ways.join(". ")}` : one.why;
  return { ...one, field: `date-${order}`, ...(why === undefined ? {} : { why }) };
}

function withComma(one: ColumnMapping): ColumnMapping {
  const { why } = one;
  const told = "a comma begins its decimals";
  return { ...one, mark: "comma", why: why === undefined ? told : `${why}; ${told}` };
}

function isMoney(field: StatementField): boolean {
  return ["amount", "debit", "credit", "fee", "balance"].includes(field);
}
