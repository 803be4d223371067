import { type Failure, usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import type { Cell, TableRow, TableSource } from "../tables/cell.ts";
import { Unreadable } from "../tables/csv.ts";
import { otherCurrencyOf } from "../tables/currency.ts";
import { hasDigit, isAboutStatement, isHeadingWithNumber, valueIn } from "../tables/heading.ts";
import { isOneWord, mentionsIn } from "../tables/mentions.ts";
import { plainText } from "../tables/plain.ts";
import { type SkippedRow, skippedRow } from "../tables/skipped.ts";
import { columnNames, isSame } from "./fields.ts";

/** A row of a statement, as the texts of its cells. */
export interface StatementRow {
  /** From 1: the line of a CSV file, the row of a sheet. */
  line: number;
  cells: string[];
  isHidden?: boolean | undefined;
}

/** The cells of a statement. */
export interface StatementTable {
  path: string;
  /** The sheet of a workbook. */
  sheet: TableSource["sheet"];
  /** The names of the hidden columns of a workbook. */
  hiddenColumns: string[];
  header: string[];
  /** The rows above the header. */
  above: SkippedRow[];
  /** The currency that a line above the header names if it is not BDT. */
  currency: string | undefined;
  /** The first records below the header. */
  sample: StatementRow[];
  /** All records below the header, read from the file again, so that they are not in memory. */
  pages(): AsyncIterable<StatementRow[]>;
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
  source: TableSource,
  given: string[] = [],
  namesIn: (texts: string[]) => Promise<Set<string>> = async () => new Set(),
): Promise<StatementTable> {
  const { path, sheet } = source;
  async function* allPages() {
    try {
      for await (const page of source.pages()) yield page.map(statementRow);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      throw usage([`${path}, line ${error.line}: ${error.message}`]);
    }
  }
  const first: StatementRow[] = [];
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
  const above = head.slice(0, place).map(({ line, cells }) => skippedRow(line, "title", cells));
  const hiddenColumns = source.hiddenColumns.flatMap((place) => header[place] || []);
  return { path, sheet, hiddenColumns, header, above, currency, sample, pages };
}

function statementRow({ line, cells, isHidden }: TableRow): StatementRow {
  return { line, cells: cells.map(cellText), isHidden };
}

/** As a text that is read like a cell of CSV: with its unit, and with its error. */
function cellText(cell: Cell): string {
  if (typeof cell === "string") return plainText(cell);
  if (cell.kind === "unknown") return "(formula without a result)";
  return cell.unit === "%" ? `${cell.text}%` : [cell.unit, cell.text].filter(Boolean).join(" ");
}

/**
 * @param head the records at the beginning of the file
 * @param names IDs and references of the ledger
 * @throws Failure `usage` if a line of money would be the header, or above it
 */
function placeOfHeader(
  path: string,
  head: StatementRow[],
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
  const kindsOf = ({ cells }: StatementRow) =>
    cells.map((cell) => (isValue(cell) ? valueIn(cell) : undefined));
  const below = head[place + 1];
  const kindsBelow = below ? kindsOf(below) : [];
  const isLikeBelow = (record: StatementRow) =>
    kindsOf(record).filter((kind, at) => kind && kind === kindsBelow[at]).length > 1;
  const isAmount = (cell: string) => {
    const kind = valueIn(cell);
    return isValue(cell) && kind !== "date" && kind !== "mobile";
  };
  const isLine = ({ cells }: StatementRow) =>
    cells.some(isAmount) && !isAboutStatement(cells.filter(Boolean));
  const above = head.slice(0, place).find((one) => isLine(one) || isLikeBelow(one));
  if (above) {
    const hint = `If line ${above.line} is a transaction, move it below the header. If not, delete it.`;
    throw withValues(`${path} has values above its header`, above, hint);
  }
  return place;
}

/** The other currency in `Currency: USD`, in one cell or in two. */
function currencyAbove({ cells }: StatementRow): string | undefined {
  const [, named] =
    /^(?:account )?(?:currency|মুদ্রা)\s*:?\s+(\S+)$/iu.exec(cells.filter(Boolean).join(" ")) ?? [];
  return otherCurrencyOf(named ?? "");
}

function withValues(what: string, { line, cells }: StatementRow, hint: string): Failure {
  const shown = cells
    .filter(Boolean)
    .slice(0, 8)
    .map((cell) => quoted(cell));
  return usage([`${what}: line ${line} has the values ${shown.join(", ")}.`], hint);
}

const addDelimiter = "If the file uses another separator, set --delimiter.";

/** How many columns a row names. One that was given counts more than all others. */
function columnsIn(cells: string[], given: string[]): number {
  const isGiven = (cell: string) => given.some((name) => isSame(name, cell));
  const isKnown = (cell: string) =>
    Object.values(columnNames).some((name) => name.test(cell.trim()));
  return cells.filter(isGiven).length * 1_000 + cells.filter(isKnown).length;
}

/** The words of texts that may be IDs or references, of the first lines of a statement. */
export function mentionsOf({ sample }: Pick<StatementTable, "sample">): string[] {
  const texts = new Set(sample.flatMap(({ cells }) => cells.filter((cell) => !isOneWord(cell))));
  return [...new Set([...texts].flatMap(mentionsIn))];
}

/** The texts of a statement that may be IDs or references, of its first lines. */
export function textsOf({ sample }: Pick<StatementTable, "sample">): string[] {
  return [...new Set(sample.flatMap(({ cells }) => cells))].filter((cell) =>
    /^[^\s]{2,256}$/.test(cell),
  );
}
