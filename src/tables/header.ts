import { type Failure, usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import type { TableSource } from "./cell.ts";
import { isAmount, isHeadingWithNumber, isPayee, isSameHeading, valueIn } from "./heading.ts";

/** How the header of a kind of table is recognized. */
export interface HeaderNames {
  /** What a well-known heading names; undefined for any other text. */
  fieldOf(heading: string): string | undefined;
  /** The same for a text that may be a heading, in a row without a value. */
  probableFieldOf?(heading: string): string | undefined;
  /** Columns that the user or a mapping names: the header has all of them. */
  given: string[];
  /** True if a table with columns of these fields can be read. */
  isEnough(fields: string[]): boolean;
  /** True for an ID or a reference of the ledger. */
  isId?(text: string): boolean;
}

/** A row as the texts of its cells. */
interface TextRow {
  line: number;
  cells: string[];
}

/** The rows in which the header is: above it are titles, such as the name of the account. */
export const mostAbove = 50;

/**
 * Finds the header: the first row with enough names, or else with two. What its other cells hold does not matter, unless
 * the row is like the one below it. If headings may be unknown, a row without a value is the header too.
 */
export function placeOfHeader(rows: TextRow[], names: HeaderNames): number | undefined {
  const head = rows.slice(0, mostAbove);
  const found = head.map(({ cells }, at) => fieldsIn(cells, rows[at + 1]?.cells ?? [], names));
  const first = (fits: (fields: string[], at: number) => boolean): number | undefined => {
    const place = found.findIndex(fits);
    return place < 0 ? undefined : place;
  };
  const isFilled = (at: number) => (head[at]?.cells ?? []).filter(Boolean).length > 1;
  const hasGiven = names.given.length > 0;
  const place =
    first(names.isEnough) ??
    first((fields) => fields.length > 1) ??
    first((fields, at) => hasGiven && fields.length > 0 && isFilled(at));
  if (place !== undefined) return place;
  // A column that no row has is a problem of its own.
  if (hasGiven) return placeOfHeader(rows, { ...names, given: [] });
  if (!names.probableFieldOf) return undefined;
  const isPossible = (at: number) =>
    isFilled(at) && !head[at]?.cells.some((cell) => isValue(cell, names));
  return (
    first((fields, at) => fields.length > 0 && isPossible(at)) ?? first((_, at) => isPossible(at))
  );
}

/** What a row names; nothing if it lacks a given name, or if it is a line of the table. */
function fieldsIn(cells: string[], below: string[], names: HeaderNames): string[] {
  const { given, fieldOf, probableFieldOf, isId } = names;
  if (!given.every((name) => cells.some((cell) => isSameHeading(cell, name)))) return [];
  const isGiven = (cell: string) => given.some((name) => isSameHeading(cell, name));
  const hasValue = cells.some((cell) => !isGiven(cell) && isValue(cell, names));
  const fields = cells.map(
    (cell) =>
      fieldOf(cell) ?? (isGiven(cell) ? "" : hasValue ? undefined : probableFieldOf?.(cell)),
  );
  const isLine = cells.some(
    (cell, place) =>
      fields[place] === undefined &&
      cell !== "" &&
      (isPayee(cell) || isId?.(cell) || isLike(cell, below[place] ?? "")),
  );
  return isLine ? [] : fields.filter((field) => field !== undefined);
}

/** Amounts have many notations, so that any number is a value unless it is part of a heading. */
function isValue(cell: string, { isId }: HeaderNames): boolean {
  return isId?.(cell) || !isHeadingWithNumber(cell);
}

/** True for a date above a date, or an amount above an amount. A year or a day of the month may be a heading. */
function isLike(cell: string, below: string): boolean {
  if (valueIn(cell) === "date") return valueIn(below) === "date";
  return isAmount(cell) && isAmount(below) && !/^(?:\d{1,2}|20\d\d)$/.test(cell);
}

/**
 * A cell of data is never the name of a column.
 *
 * @throws Failure `usage`
 */
export function rejectValues(
  given: { column: string; field: string }[],
  maps: string,
  isId: (text: string) => boolean = () => false,
): void {
  const isData = (text: string) =>
    valueIn(text) === "date" || isPayee(text) || isAmount(text) || isId(text);
  const problems = given
    .filter(({ column, field }) => field !== "ignore" && isData(column))
    .map(({ column }) => `--map: ${quoted(column)} is a value, not the name of a column.`);
  if (problems.length > 0) throw usage(problems, `Name cells of the header, for example ${maps}.`);
}

/**
 * Shows the first rows as they were read.
 *
 * @param example how the columns of such a table are named, and what a header is
 */
export function noHeader(
  { path, sheet, delimiter }: Pick<TableSource, "path" | "sheet" | "delimiter">,
  rows: TextRow[],
  example: { maps: string; header: string },
): Failure {
  const first = rows.slice(0, 5).map((row) => `Line ${row.line}: ${shownCells(row)}.`);
  const [other] = sheet?.others ?? [];
  const hints = [
    `If one of these lines is the header, name its columns, for example ${example.maps}.`,
    `If not, add a header such as ${example.header}.`,
    ...(delimiter !== undefined && !rows.some(({ cells }) => cells.length > 1)
      ? ["If the file uses another separator, set --delimiter."]
      : []),
    ...(other === undefined
      ? []
      : [`If the table is on another sheet, set ${shellLine(["--sheet", other])}.`]),
  ];
  return usage([`${path} has no header that lenden knows.`, ...first], hints.join(" "));
}

/** The filled cells of a row, as an error shows them. */
export function shownCells({ cells }: Pick<TextRow, "cells">): string {
  const texts = cells.filter(Boolean).slice(0, 8);
  return texts.map((cell) => quoted(cell)).join(", ");
}
