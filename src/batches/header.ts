import type { CellProblem } from "./findings.ts";

/** The contents of a column. */
export const fields = ["ref", "amount", "to", "method", "name", "description"] as const;
export type Field = (typeof fields)[number];

/** Our names, and the API's own (docs/api.md §4). */
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

/** True if a file has its own references; else they are created from its rows. */
export function hasReferenceColumn(columns: string[]): boolean {
  return columns.some((column) => names.get(column) === "ref");
}

/** Reads the header. Parsers disagree about a column that occurs twice, so it is rejected. */
export function readHeader(cells: string[], delimiter: string): Header {
  const found = cells.map((cell) => names.get(cell));
  // Only with its references is an export safe to send: they show which rows were sent before.
  const isExport =
    hasReferenceColumn(cells) && resultColumns.every((column) => cells.includes(column));
  // A result column that occurs twice is not one of an export, and is rejected.
  const results = isExport ? resultColumns.map((column) => cells.indexOf(column)) : [];
  const places = cells.map((_, index) => index).filter((index) => !results.includes(index));
  return {
    columns: places.map((index) => cells[index] ?? ""),
    fields: found.filter((field) => field !== undefined),
    places,
    results: isExport
      ? { payoutId: cells.indexOf("payoutId"), state: cells.indexOf("state") }
      : undefined,
    width: cells.length,
    problems: problemsIn(cells, { found, places, delimiter }),
  };
}

interface Found {
  found: (Field | undefined)[];
  places: number[];
  delimiter: string;
}

function problemsIn(cells: string[], { found, places, delimiter }: Found): CellProblem[] {
  const [first = ""] = cells;
  if (/^sep=/i.test(first)) return [problemOf(onlyForExcel)];
  if (cells.length === 1 && /[;\t,|]/.test(first))
    return [problemOf(otherDelimiter(first, delimiter))];
  if (!cells.some(meantBy)) return [problemOf(noHeader)];
  const missing = (["amount", "to"] as const).filter((field) => !found.includes(field));
  return [
    ...missing.map((field) => problemOf(`The column ${field} is missing.`)),
    ...places.flatMap((index) => {
      const cell = cells[index] ?? "";
      const field = found[index];
      if (field === undefined) return [problemOf(whatWasMeant(cell, index), cell)];
      const before = found.indexOf(field);
      const twice = `Column ${before + 1} already has the ${field}.`;
      return before === index ? [] : [problemOf(twice, cell)];
    }),
  ];
}

const onlyForExcel =
  "The first line begins with sep=, which only Excel understands. Delete that line.";

const noHeader = `The first line is not a header. It must name the columns: ${fields.join(", ")}.`;

function otherDelimiter(line: string, delimiter: string): string {
  const known = Object.entries({ semicolon: ";", tab: "\t", comma: ",", pipe: "|" });
  const [name] = known.find(([, one]) => one !== delimiter && line.includes(one)) ?? ["delimiter"];
  const hint =
    name === "pipe"
      ? "Save the file with commas."
      : `Add --delimiter ${name} if the file was saved that way.`;
  return `The header is one column that contains a ${name}. ${hint}`;
}

function whatWasMeant(cell: string, index: number): string {
  if (cell === "") return `Column ${index + 1} has no name. Name it, or remove it.`;
  const meant = meantBy(cell);
  if (meant) return `Write the column name exactly as ${meant}.`;
  return `Unknown column. The columns are ${fields.join(", ")}.`;
}

/** The column that was written in capitals, or with a space. */
function meantBy(cell: string): string | undefined {
  const folded = cell.trim().toLowerCase();
  return [...names.keys()].find((name) => name.toLowerCase() === folded);
}

function problemOf(problem: string, cell = ""): CellProblem {
  return { kind: "cell", line: 1, column: cell, value: cell, problem };
}
