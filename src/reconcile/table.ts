import { usage } from "../domain/failure.ts";
import type { Cell, TableRow, TableSource } from "../tables/cell.ts";
import { Unreadable } from "../tables/csv.ts";
import { otherCurrencyOf } from "../tables/currency.ts";
import { mostAbove, noHeader, placeOfHeader, rejectValues, shownCells } from "../tables/header.ts";
import { headingLine, isAboutStatement, isHeadingWithNumber, valueIn } from "../tables/heading.ts";
import { isOneWord, mentionsIn } from "../tables/mentions.ts";
import { plainText } from "../tables/plain.ts";
import { type SkippedRow, skippedRow } from "../tables/skipped.ts";
import { fieldOfStatement } from "../tables/statement-names.ts";
import { type ColumnMapping, probableFieldOf } from "./fields.ts";

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
  /** True if there are no others. */
  isWhole: boolean;
  /** All records below the header, read from the file again, so that they are not in memory. */
  pages(): AsyncIterable<StatementRow[]>;
}

const sampled = 1_000;

/**
 * Reads a table. Its header has given columns, or else well-known ones, or at least no value.
 *
 * @param namesIn those of the texts that are IDs or references of the ledger
 * @throws Failure `usage` if the file is not a CSV file with a header
 */
export async function readTable(
  source: TableSource,
  given: ColumnMapping[] = [],
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
    if (first.length > mostAbove + sampled) break;
  }
  const head = first.slice(0, mostAbove + 1).map(({ line, cells }) => {
    return { line, cells: cells.map(headingLine) };
  });
  const ids = await namesIn(textsOf({ sample: head }));
  const isId = (text: string) => ids.has(text);
  rejectValues(given, example.maps, isId);
  const place = placeOfHeader(head, {
    fieldOf: fieldOfStatement,
    probableFieldOf,
    given: given.map(({ column }) => column),
    isEnough: (fields) => fields.includes("amount") && fields.length > 1,
    isId,
  });
  if (place === undefined) throw noHeader(source, first, example);
  rejectAbove(path, head, place, isId);
  const { cells: header = [], line: headerLine = 0 } = head[place] ?? {};
  async function* pages() {
    for await (const page of allPages()) yield page.filter(({ line }) => line > headerLine);
  }
  const sample = first.slice(place + 1, place + 1 + sampled);
  const isWhole = first.length === place + 1 + sample.length;
  const currency = head.slice(0, place).map(currencyAbove).find(Boolean);
  const above = head.slice(0, place).map(({ line, cells }) => skippedRow(line, "title", cells));
  const hiddenColumns = source.hiddenColumns.flatMap((place) => header[place] || []);
  return { path, sheet, hiddenColumns, header, above, currency, sample, isWhole, pages };
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

const example = { maps: "--map 'Trx ID=id' --map 'Sum=amount'", header: "Date,Reference,Amount" };

/** @throws Failure `usage` if a line of money is above the header: it would be lost */
function rejectAbove(
  path: string,
  head: StatementRow[],
  place: number,
  isId: (text: string) => boolean,
): void {
  const kindOf = (cell: string) =>
    isId(cell) ? "id" : isHeadingWithNumber(cell) ? undefined : (valueIn(cell) ?? "number");
  const below = head[place + 1]?.cells ?? [];
  const isLikeBelow = (cells: string[]) =>
    cells.filter((cell, at) => kindOf(cell) && kindOf(cell) === kindOf(below[at] ?? "")).length > 1;
  const hasAmount = (cells: string[]) =>
    cells.some((cell) => ["id", "number"].includes(kindOf(cell) ?? ""));
  const above = head
    .slice(0, place)
    .find(
      ({ cells }) =>
        (hasAmount(cells) && !isAboutStatement(cells.filter(Boolean))) || isLikeBelow(cells),
    );
  if (above)
    throw usage(
      [`${path} has values above its header: line ${above.line} has ${shownCells(above)}.`],
      `If line ${above.line} is a transaction, move it below the header. If not, delete it.`,
    );
}

/** The other currency in `Currency: USD`, in one cell or in two. */
function currencyAbove({ cells }: StatementRow): string | undefined {
  const [, named] =
    /^(?:account )?(?:currency|মুদ্রা)\s*:?\s+(\S+)$/iu.exec(cells.filter(Boolean).join(" ")) ?? [];
  return otherCurrencyOf(named ?? "");
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
