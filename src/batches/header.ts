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
  const whole = problemOfLine(cells, delimiter);
  return {
    columns: places.map((index) => cells[index] ?? ""),
    fields: found.filter((field) => field !== undefined),
    places,
    results: isExport
      ? { payoutId: cells.indexOf("payoutId"), state: cells.indexOf("state") }
      : undefined,
    width: cells.length,
    problems: whole ? [problemOf(whole)] : problemsOfColumns(cells, found, places),
  };
}

function problemOfLine(cells: string[], delimiter: string): string | undefined {
  const [line = ""] = cells;
  if (/^sep=/i.test(line))
    return "The first line begins with sep=, which only Excel understands. Delete that line.";
  if (cells.length === 1 && line.includes("|"))
    return "The header is one column that contains a pipe. Save the file with commas.";
  const names = Object.entries({ semicolon: ";", tab: "\t", comma: "," });
  const [name] = names.find(([, one]) => one !== delimiter && line.includes(one)) ?? [];
  if (cells.length === 1 && name)
    return `The header is one column that contains a ${name}. Add --delimiter ${name} if the file was saved that way.`;
  if (cells.some(meantBy)) return undefined;
  return `The first line is not a header. It must name the columns: ${fields.join(", ")}.`;
}

function problemsOfColumns(
  cells: string[],
  found: (Field | undefined)[],
  places: number[],
): CellProblem[] {
  const missing = (["amount", "to"] as const).filter((field) => !found.includes(field));
  const problems = missing.map((field) => problemOf(`The column ${field} is missing.`));
  for (const index of places) {
    const cell = cells[index] ?? "";
    const field = found[index];
    const before = found.indexOf(field);
    const meant = meantBy(cell);
    if (field && before !== index)
      problems.push(problemOf(`Column ${before + 1} already has the ${field}.`, cell));
    else if (!field && cell === "")
      problems.push(problemOf(`Column ${index + 1} has no name. Name it, or remove it.`));
    else if (!field && meant)
      problems.push(problemOf(`Write the column name exactly as ${meant}.`, cell));
    else if (!field)
      problems.push(problemOf(`Unknown column. The columns are ${fields.join(", ")}.`, cell));
  }
  return problems;
}

/** The column that was written in capitals, or with a space. */
function meantBy(cell: string): string | undefined {
  const folded = cell.trim().toLowerCase();
  return [...names.keys()].find((name) => name.toLowerCase() === folded);
}

function problemOf(problem: string, cell = ""): CellProblem {
  return { kind: "cell", line: 1, column: cell, value: cell, problem };
}
