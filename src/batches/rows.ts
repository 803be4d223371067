import type { Paisa } from "../domain/amount.ts";
import { unguarded } from "../domain/csv-guard.ts";
import { mobileText, type NumberFormat } from "../domain/mobile.ts";
import { err, type Result } from "../domain/result.ts";
import type { Cell, TableRow } from "../tables/cell.ts";
import {
  amountIn,
  cellText,
  emptyCell,
  payeeIn,
  readPlain,
  referenceIn,
  shownText,
  textIn,
} from "./cells.ts";
import type { Field } from "./fields.ts";
import type { CellProblem } from "./findings.ts";
import type { Header } from "./header.ts";
import { createOtherRows } from "./other-rows.ts";
import { countRow, type Sum } from "./status.ts";

/** A row as far as it can be read: a cell that cannot is null, and a problem says why. */
export interface FileRow {
  /** From 1, in the order of the file. */
  row: number;
  line: number;
  /** Null until the references are created, if the file has no column for them. */
  reference: string | null;
  amountPaisa: Paisa | null;
  /** As it is sent. */
  recipient: string | null;
  /** True for a number that is accepted only on request. */
  isOther?: boolean;
  methodId: string | null;
  /** As it was typed. */
  method: string | null;
  name: string | null;
  description: string | null;
  /** The file's own cells, without what an export added. */
  cells: string[];
  /** True if the file is an export which shows that the row was sent. */
  wasSent: boolean;
}

/** What reading a row needs besides its cells. */
export interface RowRules {
  numberFormat: NumberFormat;
  /** The method of rows that name none. */
  method: string | undefined;
  methodOf(text: string): Promise<Result<string>> | Result<string>;
  /** True of a method whose recipients may be account numbers of 12 digits. Asked after `methodOf`. */
  isRocket(text: string): boolean;
  /** True if any number of a recipient is accepted. */
  asIs: boolean;
  /** True if a text contains a key or a secret of this run, which no ledger may store. */
  holdsSecret(text: string): boolean;
}

/**
 * Reads the rows of a table one after the other; every bad cell is added to the problems, or what a row is that is no
 * payout.
 *
 * @param path of the file
 */
export function createRowReader(
  header: Header,
  rules: RowRules,
  problems: CellProblem[],
  path: string,
) {
  const others = createOtherRows(header, path);
  // Most rows name the same few methods, and waiting for each costs more than reading it.
  const methods = new Map<string, Result<string>>();
  let count = 0;
  return async (record: TableRow): Promise<FileRow> => {
    const found: CellProblem[] = [];
    const cells = cellsOf(record, header, found);
    const typed = cells.textOf("method") || rules.method;
    if (typed !== undefined && !methods.has(typed))
      methods.set(typed, await findMethod(typed, rules));
    count += 1;
    // Without a method, the number is not a second problem.
    const isRocket = typed === undefined || rules.isRocket(typed);
    const mobile = cells.required("to", (cell) => payeeIn(cell, isRocket, rules.asIs));
    const method = typed === undefined ? err(noMethod) : methods.get(typed);
    // In a line that is too short, a missing cell is not a second problem.
    const isCut = typed === undefined && cells.isCut("method");
    const row: FileRow = {
      row: count,
      line: record.line,
      reference: header.fields.includes("ref") ? cells.required("ref", referenceIn) : null,
      amountPaisa: cells.required("amount", amountIn),
      recipient: mobile && mobileText(mobile, rules.numberFormat),
      ...(mobile?.isOther ? { isOther: true } : {}),
      methodId: method && !isCut ? cells.accept("method", typed ?? "", method) : null,
      method: typed ?? null,
      name: cells.optional("name", textIn),
      description: cells.optional("description", textIn),
      cells: cells.own,
      wasSent: cells.wasSent,
    };
    if (rules.holdsSecret(row.cells.join("\n"))) cells.rejectSecrets(rules);
    const other = found.length > 0 ? others.problemOf(record, row) : undefined;
    if (other !== undefined) {
      problems.push({ kind: "cell", line: record.line, column: "", value: "", problem: other });
      return { ...row, ...nothing };
    }
    for (const one of found) problems.push(one);
    others.add(row);
    return row;
  };
}

/** The cells of one row by their columns. A row with too many or too few is one problem. */
function cellsOf(record: TableRow, header: Header, problems: CellProblem[]) {
  const { fields, columns, places, results } = header;
  const { line } = record;
  const width = header.cells.length;
  const isWhole = record.cells.length === width;
  const own = isWhole
    ? places.map((index) => cellText(record.cells[index] ?? ""))
    : record.cells.map(cellText);
  const reject = (column: string, value: string, problem: string): null => {
    problems.push({ kind: "cell", line, column, value, problem });
    return null;
  };
  if (!isWhole)
    reject("", "", `This line has ${record.cells.length} cells, the header has ${width}.`);
  const cellOf = (field: Field): Cell | undefined => {
    const cell = record.cells[places[fields.indexOf(field)] ?? -1];
    return typeof cell === "string" ? unguarded(cell) : cell;
  };
  const textOf = (field: Field): string | undefined => {
    const cell = cellOf(field);
    return cell === undefined ? undefined : shownText(cell);
  };
  const accept = <Value>(field: Field, text: string, reading: Result<Value>): Value | null =>
    reading.ok ? reading.value : reject(field, text, reading.problem);
  const resultOf = (place: number | undefined) => cellText(record.cells[place ?? -1] ?? "");
  const [payoutId, state] = [resultOf(results?.payoutId), resultOf(results?.state)];
  return {
    own,
    wasSent: payoutId !== "" || !["", "NOT_SENT"].includes(state),
    textOf,
    accept,
    isCut: (field: Field) => fields.includes(field) && cellOf(field) === undefined,
    required: <Value>(field: keyof typeof emptyCell, read: (cell: Cell) => Result<Value>) => {
      const cell = cellOf(field);
      if (cell === undefined) return null;
      return accept(field, shownText(cell), cell === "" ? err(emptyCell[field]) : read(cell));
    },
    optional: <Value>(field: Field, read: (cell: Cell) => Result<Value>) => {
      const cell = cellOf(field);
      return cell ? accept(field, shownText(cell), read(cell)) : null;
    },
    /** Without the text of the cell. */
    rejectSecrets: ({ holdsSecret }: RowRules) => {
      for (const [index, column] of columns.entries())
        if (holdsSecret(own[index] ?? "")) reject(fields[index] ?? column, "", secretInside);
    },
  };
}

/** Of a row that is no payout. */
const nothing = { reference: null, amountPaisa: null, recipient: null, methodId: null };

const noMethod = "This row has no method. Fill the column method, or add --method.";
const secretInside = "This cell contains the API key or the payout secret. Remove it.";

/** The name of a method may have spaces around it; a line break there would be lost in an export. */
async function findMethod(text: string, { methodOf }: RowRules): Promise<Result<string>> {
  const plain = readPlain(text);
  return plain.ok ? methodOf(text) : plain;
}

/** The part of a row that a person checks. */
export type ShownRow = Pick<
  FileRow,
  "line" | "amountPaisa" | "recipient" | "methodId" | "method" | "name"
>;

/** What rows add up to. */
export interface Totals<Row extends ShownRow = ShownRow> {
  total: Sum;
  /** Each by its first spelling, however other rows spell it. */
  methods: (Sum & { method: string })[];
  /** The first three, the last, and the one with the largest amount. */
  first: Row[];
  last: Row | undefined;
  largest: Row | undefined;
}

export function totalsOf<Row extends ShownRow>(rows: Row[]): Totals<Row> {
  const totals = createTotals<Row>();
  for (const row of rows) totals.add(row);
  return totals.value();
}

/** Adds up rows that are read one after the other. */
export function createTotals<Row extends ShownRow>() {
  const methods = new Map<string, Totals["methods"][number]>();
  const total = { count: 0, sumPaisa: 0n };
  const first: Row[] = [];
  let last: Row | undefined;
  let largest: Row | undefined;
  return {
    add: (row: Row): void => {
      const amountPaisa = row.amountPaisa ?? 0n;
      countRow(total, { amountPaisa });
      if (first.length < 3) first.push(row);
      last = row;
      if (!largest || amountPaisa > (largest.amountPaisa ?? 0n)) largest = row;
      if (row.method === null) return;
      const key = row.methodId ?? row.method;
      const sum = methods.get(key) ?? { method: row.method, count: 0, sumPaisa: 0n };
      methods.set(key, sum);
      countRow(sum, { amountPaisa });
    },
    value: (): Totals<Row> => ({ total, methods: [...methods.values()], first, last, largest }),
  };
}
