import { usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import type { TableRow, TableSource } from "./cell.ts";
import { Unreadable } from "./csv.ts";
import { currencyOfHeading } from "./currency.ts";
import { mostAbove, noHeader, placeOfHeader, rejectValues, shownCells } from "./header.ts";
import { headingLine, isAmount, isPayee, isSameHeading } from "./heading.ts";
import {
  chooseFields,
  meaningProblems,
  type PayrollColumn,
  type PayrollMapping,
  problemsOfName,
  textOf,
} from "./payroll-columns.ts";
import { fieldOfHeading } from "./payroll-names.ts";
import { type SkippedRow, skippedRow } from "./skipped.ts";

/** A payroll as far as its headings say what it is. */
export interface Payroll extends Pick<TableSource, "path" | "kind"> {
  sheet: TableSource["sheet"];
  /** The line of the header. */
  line: number;
  columns: PayrollColumn[];
  /** The headings at their places. */
  header: string[];
  /** The rows above the header. */
  above: SkippedRow[];
  /** All rows below it, with totals and notes among them. */
  rows: TableRow[];
}

/**
 * Finds the table in a payroll, and what its columns are.
 *
 * @param mapped columns that the user names
 * @param ignored names of columns that are dropped, or lists of names
 * @param seen names of other columns that the user knew when a mapping was stored
 * @throws Failure `usage` if there is no header, or if the headings do not decide who gets how much
 */
export async function readPayroll(
  source: TableSource,
  mapped: PayrollMapping[],
  ignored: string[],
  seen: string[] = [],
): Promise<Payroll> {
  const { path, kind, sheet } = source;
  rejectValues(mapped, example.maps);
  const all = await rowsOf(source);
  if (all.length === 0)
    throw usage([`${path} is empty.`], "Check the path, or save the file again.");
  const head = all.slice(0, mostAbove + 1).map(textRow);
  const place = placeOfHeader(head, {
    fieldOf: (text) =>
      mapped.find(({ column }) => isSameHeading(text, column))?.field ?? fieldOfHeading(text),
    given: mapped.flatMap(({ column, isOptional }) => (isOptional ? [] : column)),
    isEnough: (fields) => fields.includes("to") && fields.includes("amount"),
  });
  if (place === undefined) throw noHeader(source, head, example);
  const header = head[place]?.cells ?? [];
  const rows = all.slice(place + 1);
  const titles = all.slice(0, place);
  checkAbove(path, titles);
  const dropped = ignored
    .flatMap((list) => (header.some((name) => isSameHeading(name, list)) ? list : list.split(",")))
    .filter((name) => name.trim() !== "")
    .map((column): PayrollMapping => ({ column, field: "ignore" }));
  const given = [...mapped, ...dropped];
  const problems = given.flatMap((one) => [...problemsOfName(path, one, header, given)]);
  const choosing = chooseFields(header, rows, given, seen);
  problems.push(...titles.flatMap((row) => [...currencyProblems(row)]), ...choosing.problems);
  if (problems.length > 0) {
    const chosen = header.map((name, place) => ({ name, place, field: choosing.fields[place] }));
    throw usage([...problems, ...meaningProblems(chosen, rows)], columnsHint(header));
  }
  const width = Math.max(header.length, widthOf(rows));
  const columns = Array.from({ length: width }, (_, place): PayrollColumn => {
    const filled = rows.find(({ cells }) => textOf(cells[place]).trim() !== "");
    const name = header[place] ?? "";
    return {
      place,
      name,
      field: choosing.fields[place],
      sample: headingLine(textOf(filled?.cells[place])),
      isHidden: source.hiddenColumns.includes(place),
      isChosen: given.some((one) => !one.isStored && isSameHeading(one.column, name)),
    };
  });
  const above = head.slice(0, place).map(({ line, cells }) => skippedRow(line, "title", cells));
  const { line = 0 } = all[place] ?? {};
  return { path, kind, sheet, line, columns, header, above, rows };
}

async function rowsOf(source: TableSource): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  try {
    for await (const page of source.pages())
      for (const row of page) if (row.cells.some((cell) => cell !== "")) rows.push(row);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw usage([`${source.path}, line ${error.line}: ${error.message}`]);
  }
  return rows;
}

function textRow({ line, cells }: TableRow) {
  return { line, cells: cells.map((cell) => headingLine(textOf(cell))) };
}

function widthOf(rows: TableRow[]): number {
  return rows.reduce((widest, { cells }) => {
    const width = cells.findLastIndex((cell) => textOf(cell).trim() !== "") + 1;
    return Math.max(widest, width);
  }, 0);
}

/** A payout above the header would be lost. */
function checkAbove(path: string, above: TableRow[]): void {
  const row = above.find(({ cells }) => {
    const payee = cells.findIndex(isPayee);
    return payee >= 0 && cells.some((cell, place) => place !== payee && isAmount(cell));
  });
  if (row)
    throw usage(
      [
        `${path} has a number and an amount above its header: line ${row.line} has ${shownCells(textRow(row))}.`,
      ],
      "If the line is a payout, move it below the header. If not, delete it.",
    );
}

/** A title such as `Currency: USD`, or `Amounts in dollars`. */
function* currencyProblems({ line, cells }: TableRow): Iterable<string> {
  const text = cells
    .map((cell) => headingLine(textOf(cell)))
    .filter(Boolean)
    .join(" ");
  const [, one, other] =
    /(?:currency|মুদ্রা)\s*[:=]?\s*(\S+)|\b(?:amounts?|figures?|salaries) (?:are )?in (\S+)/iu.exec(
      text,
    ) ?? [];
  const currency = currencyOfHeading(one ?? other ?? "");
  if (currency !== undefined)
    yield `Line ${line} shows that the amounts are in ${currency}. Enter them in BDT, and correct the line.`;
}

const example = {
  maps: "--map 'Pay To=to' --map 'Net Due=amount'",
  header: "name,to,amount",
};

function columnsHint(header: string[]): string {
  return `The columns are: ${header.filter(Boolean).map(quoted).join(", ")}.`;
}
