import { nearest } from "../domain/nearest.ts";
import { shellLine } from "../domain/text.ts";
import type { CellProblem } from "./findings.ts";

/** The contents of a column. */
export const fields = ["ref", "amount", "to", "method", "name", "description"] as const;
export type Field = (typeof fields)[number];

/** Our names, and the API's own (docs/api.md §4), in lower case. */
const names = new Map<string, Field>([
  ...fields.map((field): [string, Field] => [field, field]),
  ["merchantref", "ref"],
  ["recipientnumber", "to"],
  ["paymentmethodid", "method"],
  ["recipientname", "name"],
]);

function fieldNamed(cell: string): Field | undefined {
  return names.get(cell.trim().toLowerCase());
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
  /** The contents of each of these columns. */
  fields: Field[];
  /** The place of each of them in a line of the file, from 0. */
  places: number[];
  /** The places of an export's results; undefined for any other file. */
  results: { payoutId: number; state: number } | undefined;
  /** How many cells a line of the file has. */
  width: number;
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
export function isKnownColumn(cell: string, choices: ColumnChoices): boolean {
  return fieldOf(cell, choices) !== undefined || isNamed(cell, choices.ignored);
}

function isSame(one: string, other: string): boolean {
  return one.trim().normalize("NFC") === other.trim().normalize("NFC");
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
  problem?: string;
}

/**
 * Reads the header. A column with a problem is read if its contents are clear, so that the problems of the rows
 * are found too.
 */
export function readHeader(
  cells: string[],
  delimiter: string,
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
  const clear = read.flatMap(({ index, cell, field }) =>
    field && found.indexOf(field) === found.lastIndexOf(field) ? [{ index, cell, field }] : [],
  );
  const problems =
    line === undefined ? [...problemsOfHeader(found, cells, choices)] : [problemOf(line)];
  for (const { cell, problem } of read)
    if (problem !== undefined) problems.push(problemOf(problem, cell));
  return {
    columns: clear.map(({ cell, field }) => (fieldNamed(cell) === field ? cell : field)),
    fields: clear.map(({ field }) => field),
    places: clear.map(({ index }) => index),
    results: isExport
      ? { payoutId: cells.indexOf("payoutId"), state: cells.indexOf("state") }
      : undefined,
    width: cells.length,
    problems,
    isHeader: line === undefined,
  };
}

/** Each delimiter by its name. */
export const delimiters = new Map([
  ["comma", ","],
  ["semicolon", ";"],
  ["tab", "\t"],
]);

export function delimiterName(delimiter: string): string {
  return [...delimiters].find(([, one]) => one === delimiter)?.[0] ?? "";
}

function problemOfLine(
  cells: string[],
  delimiter: string,
  choices: ColumnChoices,
): string | undefined {
  const [line = ""] = cells;
  if (/^sep=/i.test(line))
    return "The first line begins with sep=, which only Excel understands. Delete that line.";
  if (cells.length === 1 && line.includes("|"))
    return "The header is one column that contains a pipe. Save the file with commas.";
  const [name] = [...delimiters].find(([, one]) => one !== delimiter && line.includes(one)) ?? [];
  if (cells.length === 1 && name)
    return `The header is one column that contains a ${name}. Add --delimiter ${name} if the file was saved that way.`;
  if (cells.some((cell) => isKnownColumn(cell, choices))) return undefined;
  return `The first line is not a header. It must name the columns: ${fields.join(", ")}.`;
}

/** Reads each column that is not a result of an export. */
function readColumns(cells: string[], places: number[], choices: ColumnChoices): Column[] {
  const exact = cells.map((cell) => fieldOf(cell, choices));
  const has = (name: string) => cells.includes(name);
  const isCutExport = has("payoutId") || (has("state") && (has("sentAt") || has("updatedAt")));
  const unknown = places.flatMap((index) => {
    const cell = cells[index] ?? "";
    const isOther = isKnownColumn(cell, choices) || cell.trim() === "";
    return isOther || (isCutExport && isResult(cell)) ? [] : [cell];
  });
  const meanings = meaningsLeft(exact);
  const missing = fields.filter((field) => !exact.includes(field));
  // With a required column missing, one of the unknown ones is probably that.
  const isOneNeeded = meanings.some((field) => field === "amount" || field === "to");
  let unadvised = unknown;
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
      return before === index
        ? column
        : { ...column, problem: alreadyRead(before, field, cells, cell) };
    }
    if (choices.isLenient) return column;
    if (cell.trim() === "") {
      const place = `Column ${index + 1} has no name`;
      return { ...column, problem: `${place}. Name it, or add ${shellLine([ignoreFlag, ""])}.` };
    }
    const mapTo = (field: Field) => shellLine(["--map", `${cell.trim()}=${field}`]);
    const meant = nearest(cell.trim(), missing);
    const maps = meant
      ? [` Did you mean ${meant}? Rename the column, or add ${mapTo(meant)}.`]
      : meanings.map((field) => ` If it is the ${labels[field]}, add ${mapTo(field)}.`);
    const ignored = isOneNeeded ? [cell] : unadvised;
    unadvised = [];
    const ignore = ignored.length > 0 ? ` ${ignoreAll(ignored)}` : "";
    return { ...column, problem: `Unknown column.${maps.join("")}${ignore}` };
  });
}

function alreadyRead(before: number, field: Field, cells: string[], cell: string): string {
  const problem = `Column ${before + 1} already has the field "${field}".`;
  const ignore = shellLine([ignoreFlag, cell.trim()]);
  return isSame(cells[before] ?? "", cell)
    ? `${problem} Remove one of the two.`
    : `${problem} To ignore it, add ${ignore}.`;
}

const ignoreFlag = "--ignore-columns";

/** How to ignore all unknown columns. */
function ignoreAll(unknown: string[]): string {
  const lists = [
    ...unknown.filter((name) => name.includes(",")),
    ...[unknown.filter((name) => !name.includes(",")).join(",")].filter(Boolean),
  ];
  const flags = shellLine(lists.flatMap((list) => [ignoreFlag, list]));
  return `To ignore ${unknown.length > 1 ? "all such columns" : "it"}, add ${flags}.`;
}

/** What an unknown column may be: what is missing, or the first optional column that the file lacks. */
function meaningsLeft(exact: (Field | undefined)[]): (keyof typeof labels)[] {
  const required = (["amount", "to"] as const).filter((field) => !exact.includes(field));
  const optional = (["description", "name"] as const).filter((field) => !exact.includes(field));
  return required.length > 0 ? required : optional.slice(0, 1);
}

const labels = {
  amount: "amount",
  to: "recipient's number",
  description: "description",
  name: "recipient's name",
};

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
    if (isNamed(column, ignored)) yield problemOf(`--map and ${ignoreFlag} both name ${shown}.`);
    if (mapped.findIndex((one) => isSame(one.column, column)) < index)
      yield problemOf(`--map names the column ${shown} twice.`);
  }
  // Without its references, rows that were paid are new payouts.
  for (const cell of cells)
    if (fieldNamed(cell) === "ref" && fieldOf(cell, choices) !== "ref" && isChosen(cell))
      yield problemOf("This column has the references: it cannot be ignored or mapped.", cell);
}

function problemOf(problem: string, cell = ""): CellProblem {
  return { kind: "cell", line: 1, column: cell, value: cell, problem };
}
