import { type Reading, rejected } from "../contract/reading.ts";
import { unguarded } from "../csv-guard.ts";
import type { Problem } from "../ledger/drafts/problems.ts";
import type { Field, Header } from "./columns.ts";
import type { CsvRecord } from "./csv.ts";

/** The cells of one row by their columns, and all that is found wrong with them. */
export interface Cells {
  problems: Problem[];
  /** As they are meant: without what an export put before or beside them. */
  own: string[];
  /** True if the file is an export which shows that this row's request was sent. */
  wasSent: boolean;
  /** Undefined where the file has no such column, or the row ends before it. */
  textOf(field: Field): string | undefined;
  endsBefore(field: Field): boolean;
  /** Null, with a problem, where a cell is empty or cannot be read. */
  required<Value>(field: Fillable, read: (text: string) => Reading<Value>): Value | null;
  /** The same; an empty cell is no problem. */
  optional<Value>(field: Field, read: (text: string) => Reading<Value>): Value | null;
  /** The value that was read of a text, be it of the cell or for all rows; or null, and a problem. */
  taken<Value>(field: Field, text: string, reading: Reading<Value>): Value | null;
  complain(field: Field, text: string, problem: string): void;
}

/** A row with too many cells or too few is a problem as a whole; what it lacks is not told again. */
export function openCells(record: CsvRecord, header: Header): Cells {
  const { fields, places, results, width } = header;
  const { line } = record;
  const cells = record.cells.map(unguarded);
  const isWhole = cells.length === width;
  const problems = isWhole ? [] : [wrongCount(line, cells.length, width)];
  const textOf = (field: Field): string | undefined => cells[places[fields.indexOf(field)] ?? -1];

  const complain = (field: Field, value: string, problem: string): void => {
    const place = fields.indexOf(field) + 1;
    problems.push({ kind: "cell", line, place, column: field, value, problem });
  };

  const taken = <Value>(field: Field, text: string, reading: Reading<Value>): Value | null => {
    if (reading.ok) return reading.value;
    complain(field, text, reading.problem);
    return null;
  };

  return {
    problems,
    own: isWhole ? places.map((index) => cells[index] ?? "") : cells,
    wasSent: results !== undefined && isSent(cells[results.payoutId], cells[results.state]),
    textOf,
    endsBefore: (field) => fields.includes(field) && textOf(field) === undefined,
    required: (field, read) => {
      const text = textOf(field);
      if (text === undefined) return null;
      return taken(field, text, text === "" ? rejected(empty[field]) : read(text));
    },
    optional: (field, read) => {
      const text = textOf(field);
      return text ? taken(field, text, read(text)) : null;
    },
    taken,
    complain,
  };
}

function isSent(payoutId = "", state = ""): boolean {
  return payoutId !== "" || !["", "NOT_SENT"].includes(state);
}

/** What has to stand in every row. */
type Fillable = Extract<Field, "ref" | "amount" | "to">;

const empty: Record<Fillable, string> = {
  ref: "This cell is empty. Give the row a reference of its own, or leave the whole column out.",
  amount: "This cell is empty. Write an amount in taka, for example 1250.50.",
  to: "This cell is empty. Write the number of who is paid, for example 01712345678.",
};

function wrongCount(line: number, found: number, expected: number): Problem {
  const problem = `This line has ${found} cells, the header has ${expected}.`;
  return { kind: "cell", line, place: 0, column: "", value: "", problem };
}
