import type { CellProblem } from "./findings.ts";

/** The contents of a column. */
export const fields = ["ref", "amount", "to", "method", "name", "description"] as const;
export type Field = (typeof fields)[number];

/** Our names, and the API's own (service.md §4). */
const names = new Map<string, Field>([
  ...fields.map((field): [string, Field] => [field, field]),
  ["merchantRef", "ref"],
  ["recipientNumber", "to"],
  ["paymentMethodId", "method"],
  ["recipientName", "name"],
]);

/** The columns that an export adds to the file's own: the result of each row. */
export const resultColumns = [
  "payoutId",
  "state",
  "status",
  "code",
  "message",
  "sentAt",
  "updatedAt",
];

export interface Header {
  /** As the file names them, without those that an export added. */
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
}

/** True if a file has its own references; else they are made from its rows. */
export function hasReferenceColumn(columns: string[]): boolean {
  return columns.some((column) => names.get(column) === "ref");
}

/** Reads the header. Parsers disagree about a column that occurs twice, so it is rejected. */
export function readHeader(cells: string[], delimiter: string): Header {
  const found = cells.map((cell) => names.get(cell));
  const isExport = isExported(cells);
  const places = isExport ? ownPlaces(cells) : cells.map((_, index) => index);
  const results = isExport
    ? { payoutId: cells.indexOf("payoutId"), state: cells.indexOf("state") }
    : undefined;
  const problems = places.flatMap((index) => {
    const cell = cells[index] ?? "";
    const field = found[index];
    if (field === undefined) return [problemAt(index, cell, whatWasMeant(cell, index))];
    const before = found.indexOf(field);
    if (before === index) return [];
    return [problemAt(index, cell, `Column ${before + 1} holds the ${field} already.`)];
  });
  const nothing = { columns: cells, fields: [], places, results, width: cells.length };
  if (/^sep=/i.test(cells[0] ?? "")) return { ...nothing, problems: [onlyForExcel] };
  const isOtherDelimiter = cells.length === 1 && /[;\t,|]/.test(cells[0] ?? "");
  if (isOtherDelimiter)
    return { ...nothing, problems: [otherDelimiter(cells[0] ?? "", delimiter)] };
  if (!cells.some(meantBy)) return { ...nothing, problems: [noHeader] };
  const missing = (["amount", "to"] as const).filter((field) => !found.includes(field));
  return {
    columns: places.map((index) => cells[index] ?? ""),
    fields: found.filter((field) => field !== undefined),
    places,
    results,
    width: cells.length,
    problems: [
      ...missing.map((field) => problemAt(-1, "", `The column ${field} is missing.`)),
      ...problems,
    ],
  };
}

/** Only with its references is an export safe to send: they show which rows were sent before. */
function isExported(cells: string[]): boolean {
  return hasReferenceColumn(cells) && resultColumns.every((column) => cells.includes(column));
}

/** A result column that appears twice is not one of an export, and is rejected. */
function ownPlaces(cells: string[]): number[] {
  const results = resultColumns.map((column) => cells.indexOf(column));
  return cells.map((_, index) => index).filter((index) => !results.includes(index));
}

const onlyForExcel = problemAt(
  -1,
  "",
  "The first line begins with sep=, which only Excel understands. Delete that line.",
);

const noHeader = problemAt(
  -1,
  "",
  `The first line is no header. It has to name the columns: ${fields.join(", ")}.`,
);

function otherDelimiter(line: string, delimiter: string): CellProblem {
  const [name = ""] = Object.entries({ semicolon: ";", tab: "\t", comma: ",", pipe: "|" })
    .filter(([, character]) => character !== delimiter && line.includes(character))
    .map(([one]) => one);
  const hint =
    name === "pipe"
      ? "Save it with commas."
      : `Add --delimiter ${name} if that is how it was saved.`;
  return problemAt(-1, "", `The header is one column, with a ${name} in it. ${hint}`);
}

function whatWasMeant(cell: string, index: number): string {
  if (cell === "") return `Column ${index + 1} has no name. Remove it, or name it.`;
  const meant = meantBy(cell);
  if (meant) return `Write the column as ${meant}, exactly.`;
  return `There is no such column. The columns are ${fields.join(", ")}.`;
}

/** The column that was written in capitals, or with a space. */
function meantBy(cell: string): string | undefined {
  const folded = cell.trim().toLowerCase();
  return [...names.keys()].find((name) => name.toLowerCase() === folded);
}

function problemAt(index: number, value: string, problem: string): CellProblem {
  return { kind: "cell", line: 1, place: index + 1, column: value, value, problem };
}
