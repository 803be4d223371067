import { delimiters } from "../tables/csv.ts";
import { currencyOfHeading } from "../tables/currency.ts";
import { alreadyRead, problemOfUnknown, type Unknown, unnamed } from "./column-problems.ts";
import { type Field, fields } from "./fields.ts";
import type { CellProblem } from "./findings.ts";

/** Our names, and the API's own (docs/api.md §4), in lower case. */
const names = new Map<string, Field>([
  ...fields.map((field): [string, Field] => [field, field]),
  ["merchantref", "ref"],
  ["recipientnumber", "to"],
  ["paymentmethodid", "method"],
  ["recipientname", "name"],
]);

function fieldNamed(cell: string): Field | undefined {
  return names.get(plainName(cell).toLowerCase());
}

/** The name of a column as lenden prints it: line breaks and other spaces of a heading are spaces. */
function plainName(cell: string): string {
  return cell.replace(/\s+/g, " ").trim();
}

/**
 * The columns that an export adds to the file's own: the result of each row. The order is a contract with what reads the
 * export: a new column is the last one.
 */
export const resultColumns = [
  ...["payoutId", "state", "status", "code", "message", "sentAt", "updatedAt"],
  "existing",
];
const isResult = (column: string) => resultColumns.includes(column);
/** Exports of earlier versions do not have it. */
const isLaterResult = (column: string) => column === "existing";

/** What the user says about the columns of a file. */
export interface ColumnChoices {
  /** Columns to ignore: names, or lists of names separated by commas. */
  ignored: string[];
  /** Columns with other names than ours. */
  mapped: { column: string; field: Field }[];
  /** True to find a batch by its rows: unknown columns are ignored. */
  isLenient?: boolean;
}

export const noChoices: ColumnChoices = { ignored: [], mapped: [] };

export interface Header {
  /**
   * As the file names them, without those that are ignored or that an export added. A mapped column has our
   * name, so that an export can be read without the choices.
   */
  columns: string[];
  /** The contents of each of these columns; undefined for a column that is only kept for the export. */
  fields: (Field | undefined)[];
  /** The place of each of them in a line of the file, from 0. */
  places: number[];
  /** The places of an export's results; undefined for any other file. */
  results: { payoutId: number; state: number } | undefined;
  /** The cells of this line of the file. */
  cells: string[];
  problems: CellProblem[];
  /** False if no cell of the file means anything. */
  isHeader: boolean;
}

/** True if a file has its own references; else they are created from its rows. */
export function hasReferenceColumn(columns: string[]): boolean {
  return fieldsOf(columns).includes("ref");
}

/** The contents of columns that were read before. */
export function fieldsOf(columns: string[]): (Field | undefined)[] {
  return columns.map(fieldNamed);
}

/** The contents of a column; undefined if it is ignored or unknown. */
function fieldOf(cell: string, { ignored, mapped }: ColumnChoices): Field | undefined {
  if (isNamed(cell, ignored)) return undefined;
  const choice = mapped.find(({ column }) => isSame(column, cell));
  return choice ? choice.field : fieldNamed(cell);
}

/** True if a column is one of ours, or if the user names it. */
function isKnownColumn(cell: string, choices: ColumnChoices): boolean {
  return fieldOf(cell, choices) !== undefined || isNamed(cell, choices.ignored);
}

/** True if a row below the first one is probably the header. */
export function looksLikeHeader(cells: string[], choices: ColumnChoices): boolean {
  return cells.filter((cell) => fieldOf(cell, choices) !== undefined).length > 1;
}

function isSame(one: string, other: string): boolean {
  return plainName(one).normalize("NFC") === plainName(other).normalize("NFC");
}

/** @param lists names, or lists of names separated by commas */
function isNamed(cell: string, lists: string[]): boolean {
  return lists.some((list) =>
    [list, ...list.split(",").filter((name) => name.trim() !== "")].some((name) =>
      isSame(name, cell),
    ),
  );
}

/** How one column is read. */
interface Column {
  index: number;
  cell: string;
  field: Field | undefined;
  /** True if it means nothing to lenden, and its cells are kept for the export. */
  isKept?: boolean;
  problem?: string;
}

/**
 * Reads the header. A column with a problem is read if its contents are clear, so that the problems of the rows
 * are found too.
 *
 * @param delimiter of a CSV file
 */
export function readHeader(
  cells: string[],
  delimiter: string | undefined,
  choices: ColumnChoices = noChoices,
): Header {
  // Only with its references is an export safe to send: they show which rows were sent before.
  const isExport =
    hasReferenceColumn(cells) &&
    resultColumns.every((column) => cells.includes(column) || isLaterResult(column));
  // A result column that occurs twice is not one of an export, and is rejected.
  const results = isExport ? resultColumns.map((column) => cells.indexOf(column)) : [];
  const places = cells.map((_, index) => index).filter((index) => !results.includes(index));
  const line = problemOfLine(cells, delimiter, choices);
  const read = line === undefined ? readColumns(cells, places, choices) : [];
  const found = read.flatMap(({ field }) => field ?? []);
  // Parsers disagree about a column that occurs twice, so none of its cells is read.
  const clear = read.filter(({ field, isKept }) =>
    field ? found.indexOf(field) === found.lastIndexOf(field) : isKept,
  );
  const problems =
    line === undefined ? [...problemsOfHeader(found, cells, choices)] : [problemOf(line)];
  for (const { cell, problem } of read)
    if (problem !== undefined) problems.push(problemOf(problem, plainName(cell)));
  return {
    columns: clear.map(({ cell, field }) =>
      field === undefined || fieldNamed(cell) === field ? plainName(cell) : field,
    ),
    fields: clear.map(({ field }) => field),
    places: clear.map(({ index }) => index),
    results: isExport
      ? { payoutId: cells.indexOf("payoutId"), state: cells.indexOf("state") }
      : undefined,
    cells,
    problems,
    isHeader: line === undefined,
  };
}

function problemOfLine(
  cells: string[],
  delimiter: string | undefined,
  choices: ColumnChoices,
): string | undefined {
  const [line = ""] = cells;
  if (cells.length === 1 && line.includes("|"))
    return "The header is one column that contains a pipe. Save the file with commas.";
  const [name] = [...delimiters].find(([, one]) => one !== delimiter && line.includes(one)) ?? [];
  if (cells.length === 1 && name && delimiter !== undefined)
    return `The header is one column that contains a ${name}. Add --delimiter ${name} if the file was saved that way.`;
  if (cells.some((cell) => isKnownColumn(cell, choices))) return undefined;
  return `The first line is not a header. It must name the columns: ${fields.join(", ")}. For a file of another form, run 'lenden payout batch clean <file>'.`;
}

/** Reads each column that is not a result of an export. */
function readColumns(cells: string[], places: number[], choices: ColumnChoices): Column[] {
  const exact = cells.map((cell) => fieldOf(cell, choices));
  const has = (name: string) => cells.includes(name);
  const isCutExport = has("payoutId") || (has("state") && (has("sentAt") || has("updatedAt")));
  const isUnknown = (index: number) => {
    const cell = cells[index] ?? "";
    const isOther = isKnownColumn(cell, choices) || cell.trim() === "";
    return !isOther && !(isCutExport && isResult(cell));
  };
  const unknown: Unknown = {
    columns: places
      .filter(isUnknown)
      .map((index) => ({ index, name: plainName(cells[index] ?? "") })),
    missing: fields.filter((field) => !exact.includes(field)),
    added: resultColumns,
  };
  return places.map((index): Column => {
    const cell = cells[index] ?? "";
    const field = exact[index];
    const column = { index, cell, field };
    // Without the other columns of its export, a row that was sent looks like a new one.
    if (isCutExport && isResult(cell) && !choices.isLenient)
      return {
        ...column,
        problem:
          "The file has this column of a lenden export, but lacks other columns of it. Send the exported file unchanged.",
      };
    if (isNamed(cell, choices.ignored)) return column;
    if (field) {
      const before = exact.indexOf(field);
      const isTwice = isSame(cells[before] ?? "", cell);
      if (before !== index)
        return { ...column, problem: alreadyRead(before, field, plainName(cell), isTwice) };
      const currency = field === "amount" ? currencyOfHeading(plainName(cell)) : undefined;
      if (currency === undefined) return column;
      return { ...column, problem: `This column is in ${currency}, and amounts are in BDT.` };
    }
    if (choices.isLenient) return { ...column, isKept: true };
    if (cell.trim() === "") return { ...column, problem: unnamed(index) };
    const problem = problemOfUnknown(index, plainName(cell), unknown);
    return problem === undefined ? { ...column, isKept: true } : { ...column, problem };
  });
}

/** Problems of the header as a whole. */
function* problemsOfHeader(
  found: Field[],
  cells: string[],
  choices: ColumnChoices,
): Iterable<CellProblem> {
  const { ignored, mapped } = choices;
  const isChosen = (cell: string) =>
    isNamed(cell, ignored) || mapped.some(({ column }) => isSame(column, cell));
  for (const field of ["amount", "to"] as const)
    if (!found.includes(field))
      yield problemOf(
        `Column "${field}" is missing. If another column has it, add --map '<column>=${field}'.`,
      );
  for (const [index, { column }] of mapped.entries()) {
    const shown = JSON.stringify(column);
    if (!cells.some((cell) => isSame(column, cell)))
      yield problemOf(`--map: the file has no column ${shown}.`);
    if (isNamed(column, ignored)) yield problemOf(`--map and --ignore-columns both name ${shown}.`);
    if (mapped.findIndex((one) => isSame(one.column, column)) < index)
      yield problemOf(`--map names the column ${shown} twice.`);
  }
  // Without its references, rows that were paid are new payouts.
  for (const cell of cells)
    if (fieldNamed(cell) === "ref" && fieldOf(cell, choices) !== "ref" && isChosen(cell))
      yield problemOf(
        "This column has the references: it cannot be ignored or mapped.",
        plainName(cell),
      );
}

function problemOf(problem: string, cell = ""): CellProblem {
  return { kind: "cell", line: 1, column: cell, value: cell, problem };
}
