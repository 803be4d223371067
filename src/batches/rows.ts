import { type Paisa, readAmount } from "../domain/amount.ts";
import { unguarded } from "../domain/csv-guard.ts";
import { mobileText, type NumberFormat, readRecipient } from "../domain/mobile.ts";
import { readReference } from "../domain/reference.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { CsvRecord } from "./csv.ts";
import type { CellProblem } from "./findings.ts";
import type { Field, Header } from "./header.ts";
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
  /** True if a text contains a key or a secret of this run, which no ledger may store. */
  holdsSecret(text: string): boolean;
}

/** Reads the records of a file one after the other; every bad cell is added to the problems. */
export function createRowReader(header: Header, rules: RowRules, problems: CellProblem[]) {
  // Most rows name the same few methods, and waiting for each costs more than reading it.
  const methods = new Map<string, Result<string>>();
  let count = 0;
  return async (record: CsvRecord): Promise<FileRow> => {
    const cells = cellsOf(record, header, problems);
    const typed = cells.textOf("method") || rules.method;
    if (typed !== undefined && !methods.has(typed))
      methods.set(typed, await findMethod(typed, rules));
    count += 1;
    // Without a method, the number is not a second problem.
    const isRocket = typed === undefined || rules.isRocket(typed);
    const mobile = cells.required("to", (text) => readRecipient(text, isRocket));
    const found = typed === undefined ? err(noMethod) : methods.get(typed);
    // In a line that is too short, a missing cell is not a second problem.
    const isCut = typed === undefined && cells.isCut("method");
    const row: FileRow = {
      row: count,
      line: record.line,
      reference: header.fields.includes("ref") ? cells.required("ref", readReference) : null,
      amountPaisa: cells.required("amount", readAmount),
      recipient: mobile && mobileText(mobile, rules.numberFormat),
      methodId: found && !isCut ? cells.accept("method", typed ?? "", found) : null,
      method: typed ?? null,
      name: cells.optional("name", readPlain),
      description: cells.optional("description", readPlain),
      cells: cells.own,
      wasSent: cells.wasSent,
    };
    if (rules.holdsSecret(row.cells.join("\n"))) cells.rejectSecrets(rules);
    return row;
  };
}

/** The cells of one record by their columns. A record with too many or too few is one problem. */
function cellsOf({ line, cells: guarded }: CsvRecord, header: Header, problems: CellProblem[]) {
  const { fields, places, results, width } = header;
  const cells = guarded.map(unguarded);
  const isWhole = cells.length === width;
  const own = isWhole ? places.map((index) => cells[index] ?? "") : cells;
  const reject = (column: Field | "", value: string, problem: string): null => {
    problems.push({ kind: "cell", line, column, value, problem });
    return null;
  };
  if (!isWhole) reject("", "", `This line has ${cells.length} cells, the header has ${width}.`);
  const textOf = (field: Field): string | undefined => cells[places[fields.indexOf(field)] ?? -1];
  const accept = <Value>(field: Field, text: string, reading: Result<Value>): Value | null =>
    reading.ok ? reading.value : reject(field, text, reading.problem);
  const [payoutId = "", state = ""] = results
    ? [cells[results.payoutId], cells[results.state]]
    : [];
  return {
    own,
    wasSent: payoutId !== "" || !["", "NOT_SENT"].includes(state),
    textOf,
    accept,
    isCut: (field: Field) => fields.includes(field) && textOf(field) === undefined,
    required: <Value>(field: keyof typeof empty, read: (text: string) => Result<Value>) => {
      const text = textOf(field);
      if (text === undefined) return null;
      return accept(field, text, text === "" ? err(empty[field]) : read(text));
    },
    optional: <Value>(field: Field, read: (text: string) => Result<Value>) => {
      const text = textOf(field);
      return text ? accept(field, text, read(text)) : null;
    },
    /** Without the text of the cell. */
    rejectSecrets: ({ holdsSecret }: RowRules) => {
      for (const [index, field] of fields.entries())
        if (holdsSecret(own[index] ?? "")) reject(field, "", secretInside);
    },
  };
}

const empty = {
  ref: "This cell is empty. Enter a reference, or remove the whole column.",
  amount: "This cell is empty. Enter an amount in BDT, for example 1250.50.",
  to: "This cell is empty. Enter the recipient's number, for example 01712345678.",
};
const noMethod = "This row has no method. Fill the column method, or add --method.";
const secretInside = "This cell contains the API key or the payout secret. Remove it.";

/** The name of a method may have spaces around it; a line break there would be lost in an export. */
async function findMethod(text: string, { methodOf }: RowRules): Promise<Result<string>> {
  const plain = readPlain(text);
  return plain.ok ? methodOf(text) : plain;
}

function readPlain(text: string): Result<string> {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
    return err("The cell contains a line break or a control character. Write it on one line.");
  // The two joiners are part of written Bangla.
  return /(?![\u200c\u200d])\p{Cf}/u.test(text)
    ? err("The cell contains an invisible character. Type the text again.")
    : ok(text);
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
