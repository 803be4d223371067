import { usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import { readMoney } from "./amount.ts";
import type { Cell, TableRow, TableSource } from "./cell.ts";
import { Unreadable } from "./csv.ts";
import { valueIn } from "./heading.ts";
import { readPayee } from "./mobile.ts";
import { fieldOfHeading, headingLine, type PayrollField, payrollFields } from "./payroll-names.ts";
import { plainText } from "./plain.ts";
import { type SkippedRow, skippedRow } from "./skipped.ts";

/** How a user says that a column is read. */
export interface PayrollMapping {
  column: string;
  field: PayrollField;
  /** True if the file need not have it. */
  isOptional?: boolean;
}

/** A column of a payroll, with a cell of it. */
export interface PayrollColumn {
  /** From 0. */
  place: number;
  /** The heading on one line; empty if it has none. */
  name: string;
  /** Undefined of a column that is only kept. */
  field: PayrollField | undefined;
  sample: string;
  isHidden: boolean;
}

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

const mostAbove = 50;
const sampled = 1_000;

/**
 * Finds the table in a payroll, and what its columns are.
 *
 * @param mapped columns that the user names
 * @param ignored names of columns that are dropped, or lists of names
 * @throws Failure `usage` if there is no header, or if the headings do not decide who gets how much
 */
export async function readPayroll(
  source: TableSource,
  mapped: PayrollMapping[],
  ignored: string[],
): Promise<Payroll> {
  const { path, kind, sheet } = source;
  checkMapped(mapped);
  const all = await rowsOf(source);
  const place = placeOfHeader(all.slice(0, mostAbove), mapped);
  if (place === undefined) throw noHeader(path, all, mapped);
  const header = (all[place]?.cells ?? []).map((cell) => headingLine(textOf(cell)));
  const rows = all.slice(place + 1);
  checkAbove(path, all.slice(0, place));
  const dropped = ignored
    .flatMap((list) => (header.some((name) => isSameHeading(name, list)) ? list : list.split(",")))
    .filter((name) => name.trim() !== "")
    .map((column): PayrollMapping => ({ column, field: "ignore" }));
  const given = [...mapped, ...dropped];
  const problems = given.flatMap((one) => [...problemsOfName(path, one, header)]);
  const choosing = chooseFields(header, rows, given);
  problems.push(...choosing.problems);
  if (problems.length > 0) {
    const chosen = header.map((name, place) => ({ name, place, field: choosing.fields[place] }));
    throw usage([...problems, ...meaningProblems(chosen, rows)], columnsHint(header));
  }
  const width = Math.max(header.length, widthOf(rows));
  const columns = Array.from({ length: width }, (_, place): PayrollColumn => {
    const filled = rows.find(({ cells }) => textOf(cells[place]).trim() !== "");
    return {
      place,
      name: header[place] ?? "",
      field: choosing.fields[place],
      sample: headingLine(textOf(filled?.cells[place])),
      isHidden: source.hiddenColumns.includes(place),
    };
  });
  const above = all
    .slice(0, place)
    .map(({ line, cells }) => skippedRow(line, "title", cells.map(textOf).map(headingLine)));
  const { line = 0 } = all[place] ?? {};
  return { path, kind, sheet, line, columns, header, above, rows };
}

/** A cell as the text that a person sees. */
export function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  if (typeof cell === "string") return plainText(cell);
  if (cell.kind === "unknown") return "";
  return cell.unit === undefined ? cell.text : `${cell.text} ${cell.unit}`;
}

export function isSameHeading(one: string, other: string): boolean {
  const line = (text: string) => headingLine(plainText(text)).normalize("NFC");
  return line(one) === line(other);
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

function widthOf(rows: TableRow[]): number {
  return rows.reduce((widest, { cells }) => {
    const width = cells.findLastIndex((cell) => textOf(cell).trim() !== "") + 1;
    return Math.max(widest, width);
  }, 0);
}

/** A cell of data is never stored as the name of a column. */
function checkMapped(mapped: PayrollMapping[]): void {
  const problems = mapped
    .filter(({ column }) => isDate(column) || isPayee(column) || isAmount(column))
    .map(({ column }) => `--map: ${quoted(column)} is a value, not the name of a column.`);
  if (problems.length > 0)
    throw usage(problems, "Name the cells of the header, for example --map 'Net Payable=amount'.");
}

function isDate(text: string): boolean {
  return valueIn(text) === "date";
}

/** The first row that names a recipient and an amount; otherwise the first one that names two columns. */
function placeOfHeader(rows: TableRow[], mapped: PayrollMapping[]): number | undefined {
  const found = rows.map(({ cells }) => {
    const texts = cells.map((cell) => headingLine(textOf(cell)));
    // A number that could be paid is a value, whatever names are beside it.
    if (cells.some((cell) => isPayee(cell))) return [];
    const isWhole = mapped.every(
      ({ column, isOptional }) => isOptional || texts.some((text) => isSameHeading(text, column)),
    );
    if (!isWhole) return [];
    return texts.flatMap(
      (text) =>
        mapped.find(({ column }) => isSameHeading(text, column))?.field ??
        fieldOfHeading(text) ??
        [],
    );
  });
  const whole = found.findIndex((fields) => fields.includes("to") && fields.includes("amount"));
  const place = whole >= 0 ? whole : found.findIndex((fields) => fields.length >= 2);
  return place >= 0 ? place : undefined;
}

function isPayee(cell: Cell): boolean {
  const reading = readPayee(cell, true);
  return reading.kind === "certain" || reading.kind === "probable";
}

function isAmount(cell: Cell): boolean {
  const reading = readMoney(cell);
  return (reading.kind === "certain" || reading.kind === "probable") && reading.value.paisa !== 0n;
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
        `${path} has a number and an amount above its header: line ${row.line} has ${shownCells(row)}.`,
      ],
      "If the line is a payout, move it below the header. If not, delete it.",
    );
}

function shownCells({ cells }: TableRow): string {
  const texts = cells.map((cell) => headingLine(textOf(cell))).filter(Boolean);
  return texts.slice(0, 8).map(quoted).join(", ");
}

function noHeader(path: string, rows: TableRow[], mapped: PayrollMapping[]) {
  const first = rows.slice(0, 5).map((row) => `Line ${row.line}: ${shownCells(row)}.`);
  const names = mapped.map(({ column }) => quoted(column)).join(", ");
  const what =
    mapped.length > 0 ? `has no row with the columns ${names}` : "has no header that lenden knows";
  return usage(
    [`${path} ${what}.`, ...first],
    "If one of these lines is the header, name its columns, for example --map 'Pay To=to' --map 'Net Due=amount'. If not, add a header such as name,to,amount.",
  );
}

function* problemsOfName(
  path: string,
  { column, isOptional = false }: PayrollMapping,
  header: string[],
): Iterable<string> {
  const count = header.filter((name) => isSameHeading(name, column)).length;
  if (count === 0 && !isOptional) yield `${path} has no column ${quoted(column)}.`;
  if (count > 1) yield `${path} has ${count} columns with the name ${quoted(column)}.`;
}

function columnsHint(header: string[]): string {
  return `The columns are: ${header.filter(Boolean).map(quoted).join(", ")}.`;
}

/** Fields that several columns can have. */
const shared: (PayrollField | undefined)[] = ["ignore", "meaning", "currency"];
const labels = { to: "recipient's number", amount: "amount" };

/** What each column is. Of two that may be the amount, or the recipient, none is chosen. */
function chooseFields(header: string[], rows: TableRow[], given: PayrollMapping[]) {
  const problems: string[] = [];
  const givenTo = header.map(
    (name) => given.find(({ column }) => name !== "" && isSameHeading(name, column))?.field,
  );
  const named = header.map((name) => {
    const field = fieldOfHeading(name);
    return field === "other" ? undefined : field;
  });
  const fields = header.map(
    (_, place) => givenTo[place] ?? (shared.includes(named[place]) ? named[place] : undefined),
  );
  for (const field of payrollFields) {
    if (shared.includes(field)) continue;
    const byUser = givenTo.flatMap((one, place) => (one === field ? [place] : []));
    if (byUser.length > 1)
      problems.push(
        `Two columns are mapped to ${field}: ${byUser.map((place) => quoted(header[place] ?? "")).join(" and ")}.`,
      );
    if (byUser.length > 0) continue;
    const byName = named.flatMap((one, place) =>
      one === field && givenTo[place] === undefined ? [place] : [],
    );
    const [first, ...others] =
      field === "to" || field === "amount" ? readable(byName, field, rows) : byName;
    if (first !== undefined && (others.length === 0 || (field !== "to" && field !== "amount")))
      fields[first] = field;
    else if (field === "to" || field === "amount")
      problems.push(whichColumn(field, first === undefined ? [] : [first, ...others], header));
  }
  return { fields, problems };
}

/** Words that leave an amount what it is. */
const harmless =
  /^(?:active|approved|due|unpaid|payable|to pay|regular|salary|wages?|bonus|payout|payroll|বেতন|সক্রিয়)$/iu;

/** Columns with a status, a type or a direction that is not understood. */
export function* meaningProblems(
  columns: Pick<PayrollColumn, "field" | "name" | "place">[],
  rows: TableRow[],
): Iterable<string> {
  for (const { field, name, place } of columns) {
    if (field !== "meaning") continue;
    const values = new Set(rows.map(({ cells }) => headingLine(textOf(cells[place]))));
    const unknown = [...values].filter(
      (text) => text !== "" && text !== name && !harmless.test(text.normalize("NFC")),
    );
    if (unknown.length === 0) continue;
    const shown = unknown.slice(0, 5).map(quoted).join(", ");
    const ignore = shellLine(["--map", `${name}=ignore`]);
    yield `The column ${quoted(name)} may change what the amounts mean: ${shown}. To ignore it, add ${ignore}.`;
  }
}

/** Those of some columns that have such cells, if any has. */
function readable(places: number[], field: "to" | "amount", rows: TableRow[]): number[] {
  const fits = field === "to" ? isPayee : isAmount;
  const sample = rows.slice(0, sampled);
  const found = places.filter((place) => sample.some(({ cells }) => fits(cells[place] ?? "")));
  return found.length > 0 ? found : places;
}

function whichColumn(field: "to" | "amount", places: number[], header: string[]): string {
  const names = places.map((place) => header[place] ?? "");
  if (names.length === 0)
    return `No column has a known name for the ${labels[field]}. Name it: --map '<column>=${field}'.`;
  const maps = names.map((name) => shellLine(["--map", `${name}=${field}`]));
  return `More than one column may be the ${labels[field]}: ${names.map(quoted).join(", ")}. Choose one: ${maps.join(" or ")}.`;
}
