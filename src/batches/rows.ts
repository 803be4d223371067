import { type Paisa, readAmount } from "../domain/amount.ts";
import { unguarded } from "../domain/csv-guard.ts";
import { mobileText, type NumberFormat, readMobile } from "../domain/mobile.ts";
import { readReference } from "../domain/reference.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { CsvRecord } from "./csv.ts";
import type { CellProblem } from "./findings.ts";
import type { Field, Header } from "./header.ts";

/** A row as far as it can be read: a cell that cannot is null, and a problem says why. */
export interface FileRow {
  /** From 1, in the order of the file. */
  row: number;
  line: number;
  /** Null until the references are made, if the file has no column for them. */
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
  /** True if a text contains a key or a secret of this run, which no ledger may store. */
  holdsSecret(text: string): boolean;
}

/** The methods of one file: most rows name the same few, and waiting for each costs more than reading it. */
type Methods = Map<string, Result<string>>;

/** Reads the records of a file one after the other; every bad cell is added to the problems. */
export function createRowReader(header: Header, rules: RowRules, problems: CellProblem[]) {
  const methods: Methods = new Map();
  let count = 0;
  return async (record: CsvRecord): Promise<FileRow> => {
    const cells = cellsOf(record, header, problems);
    const typed = cells.textOf("method") || rules.method;
    if (typed !== undefined && !methods.has(typed))
      methods.set(typed, await findMethod(typed, rules));
    count += 1;
    return readRow(count, cells, { header, rules, typed, methods });
  };
}

interface RowContext {
  header: Header;
  rules: RowRules;
  /** The method that the row names, or else that of all rows. */
  typed: string | undefined;
  methods: Methods;
}

function readRow(row: number, cells: Cells, context: RowContext): FileRow {
  const { header, rules, typed, methods } = context;
  const amountPaisa = cells.required("amount", readAmount);
  const mobile = cells.required("to", readMobile);
  const found = typed === undefined ? undefined : methods.get(typed);
  if (typed === undefined && !cells.endsBefore("method")) cells.complain("method", "", noMethod);
  const methodId = typed !== undefined && found ? cells.accept("method", typed, found) : null;
  const reference = header.fields.includes("ref") ? cells.required("ref", readReference) : null;
  if (rules.holdsSecret(cells.own.join("\n"))) complainOfSecrets(cells, header, rules);
  return {
    row,
    line: cells.line,
    reference,
    amountPaisa,
    recipient: mobile && mobileText(mobile, rules.numberFormat),
    methodId,
    method: typed ?? null,
    name: cells.optional("name", readPlain),
    description: cells.optional("description", readPlain),
    cells: cells.own,
    wasSent: cells.wasSent,
  };
}

type Cells = ReturnType<typeof cellsOf>;

/** The cells of one record by their columns. A record with too many or too few is one problem. */
function cellsOf(record: CsvRecord, header: Header, problems: CellProblem[]) {
  const { fields, places, results, width } = header;
  const { line } = record;
  const cells = record.cells.map(unguarded);
  const isWhole = cells.length === width;
  if (!isWhole) {
    const problem = `This line has ${cells.length} cells, the header has ${width}.`;
    problems.push({ kind: "cell", line, place: 0, column: "", value: "", problem });
  }
  const textOf = (field: Field): string | undefined => cells[places[fields.indexOf(field)] ?? -1];
  const complain = (field: Field, value: string, problem: string): void => {
    const place = fields.indexOf(field) + 1;
    problems.push({ kind: "cell", line, place, column: field, value, problem });
  };
  const accept = <Value>(field: Field, text: string, reading: Result<Value>): Value | null => {
    if (reading.ok) return reading.value;
    complain(field, text, reading.problem);
    return null;
  };
  return {
    line,
    own: isWhole ? places.map((index) => cells[index] ?? "") : cells,
    wasSent: results !== undefined && isSent(cells[results.payoutId], cells[results.state]),
    textOf,
    complain,
    accept,
    endsBefore: (field: Field) => fields.includes(field) && textOf(field) === undefined,
    required: <Value>(
      field: RequiredField,
      read: (text: string) => Result<Value>,
    ): Value | null => {
      const text = textOf(field);
      if (text === undefined) return null;
      return accept(field, text, text === "" ? err(empty[field]) : read(text));
    },
    optional: <Value>(field: Field, read: (text: string) => Result<Value>): Value | null => {
      const text = textOf(field);
      return text ? accept(field, text, read(text)) : null;
    },
  };
}

function isSent(payoutId = "", state = ""): boolean {
  return payoutId !== "" || !["", "NOT_SENT"].includes(state);
}

/** What every row needs. */
type RequiredField = Extract<Field, "ref" | "amount" | "to">;

const empty: Record<RequiredField, string> = {
  ref: "This cell is empty. Give the row a reference, or remove the whole column.",
  amount: "This cell is empty. Write an amount in BDT, for example 1250.50.",
  to: "This cell is empty. Write the number of the recipient, for example 01712345678.",
};

const noMethod =
  "No method is named here. Fill the column method, or give --method for all rows without one.";
const secretInside = "This cell contains the API key or the payout secret. Remove it.";

/** A name is found with space around it; a line break there would be lost in an export. */
async function findMethod(text: string, { methodOf }: RowRules): Promise<Result<string>> {
  const plain = readPlain(text);
  return plain.ok ? methodOf(text) : plain;
}

/** Without the cell's text. */
function complainOfSecrets(cells: Cells, { fields }: Header, rules: RowRules): void {
  for (const [index, field] of fields.entries())
    if (rules.holdsSecret(cells.own[index] ?? "")) cells.complain(field, "", secretInside);
}

function readPlain(text: string): Result<string> {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
    return err(
      "This cell contains a line break or another control character. Write it on one line.",
    );
  // The two joiners are part of written Bangla.
  return /(?![\u200c\u200d])\p{Cf}/u.test(text)
    ? err("This cell contains an invisible character. Type it again.")
    : ok(text);
}

/** What the rows of a file add up to. */
export interface Totals {
  rowCount: number;
  totalPaisa: Paisa;
  /** However a method is spelled: by its first spelling. */
  methods: { method: string; count: number; sumPaisa: Paisa }[];
  /** The first three, the last, and the one with the largest amount. */
  first: FileRow[];
  last: FileRow | undefined;
  largest: FileRow | undefined;
}

export function totalsOf(rows: FileRow[]): Totals {
  const methods = new Map<string, Totals["methods"][number]>();
  let [totalPaisa, largest] = [0n, rows[0]];
  for (const row of rows) {
    const amountPaisa = row.amountPaisa ?? 0n;
    totalPaisa += amountPaisa;
    if (amountPaisa > (largest?.amountPaisa ?? 0n)) largest = row;
    if (row.method === null) continue;
    const key = row.methodId ?? row.method;
    const sum = methods.get(key) ?? { method: row.method, count: 0, sumPaisa: 0n };
    sum.count += 1;
    sum.sumPaisa += amountPaisa;
    methods.set(key, sum);
  }
  return {
    rowCount: rows.length,
    totalPaisa,
    methods: [...methods.values()],
    first: rows.slice(0, 3),
    last: rows.at(-1),
    largest,
  };
}
