import { readAmount } from "../contract/amount.ts";
import { mobileText, type NumberFormat, readMobile } from "../contract/mobile.ts";
import { accepted, type Reading, rejected } from "../contract/reading.ts";
import { readReference } from "../contract/reference.ts";
import type { DraftRow } from "../ledger/draft.ts";
import type { Problem } from "../ledger/draft-problems.ts";
import type { Field } from "./columns.ts";
import type { CsvRecord } from "./csv.ts";

/** What reading a row needs beside its cells. */
export interface RowRules {
  numberFormat: NumberFormat;
  /** The method of rows that name none. */
  method: string | undefined;
  methodOf(text: string): Promise<Reading<string>> | Reading<string>;
  /** For files without a column of references: the same for the same row of the same file. */
  makeReference(row: number, cells: string[]): string;
  fingerprint(order: {
    amountPaisa: bigint;
    recipientNumber: string;
    paymentMethodId: string;
  }): string;
}

/** Reads one record. What cannot be read is null, and has a problem that says what would be right. */
export async function readRow(
  row: number,
  { line, cells }: CsvRecord,
  fields: Field[],
  rules: RowRules,
): Promise<{ row: DraftRow; problems: Problem[] }> {
  const problems: Problem[] = [];
  const complain = (place: number, column: string, value: string, problem: string) =>
    void problems.push({ kind: "cell", line, place, column, value, problem });
  if (cells.length !== fields.length)
    complain(0, "", "", `This line has ${cells.length} cells, the header has ${fields.length}.`);

  const cellOf = (field: Field): string | undefined => cells[fields.indexOf(field)];
  const value = <Value>(field: Field, reading: Reading<Value>): Value | null => {
    if (reading.ok) return reading.value;
    const cell = cellOf(field);
    if (cell !== undefined) complain(fields.indexOf(field) + 1, field, cell, reading.problem);
    return null;
  };
  const required = <Value>(field: Field, read: (text: string) => Reading<Value>): Value | null => {
    const cell = cellOf(field);
    return value(field, cell === undefined || cell === "" ? rejected(empty) : read(cell));
  };
  const optional = (field: Field): string | null => {
    const cell = cellOf(field);
    return cell ? value(field, readPlain(cell)) : null;
  };
  // The row need not have the cell: then the method is that of all rows, and must be right as well.
  const methodIdOf = (typed = "", reading?: Reading<string>): string | null => {
    if (reading?.ok) return reading.value;
    if (reading) complain(fields.indexOf("method") + 1, "method", typed, reading.problem);
    return null;
  };

  const amountPaisa = required("amount", readAmount);
  const mobile = required("to", readMobile);
  const recipient = mobile && mobileText(mobile, rules.numberFormat);
  const method = cellOf("method") || rules.method;
  const hasNoCell = fields.includes("method") && cellOf("method") === undefined; // told above
  if (method === undefined && !hasNoCell)
    complain(fields.indexOf("method") + 1, "method", "", noMethod);
  const named = method === undefined ? undefined : readMethod(method, rules);
  const methodId = methodIdOf(method, named instanceof Promise ? await named : named);
  const reference = fields.includes("ref")
    ? required("ref", readReference)
    : rules.makeReference(row, cells);
  return {
    row: {
      row,
      line,
      reference,
      amountPaisa,
      recipient,
      methodId,
      method: method ?? null,
      name: optional("name"),
      description: optional("description"),
      cells,
      fingerprint:
        amountPaisa === null || recipient === null || methodId === null
          ? null
          : rules.fingerprint({
              amountPaisa,
              recipientNumber: recipient,
              paymentMethodId: methodId,
            }),
    },
    problems,
  };
}

const empty = "This cell is empty.";
const noMethod =
  "No method is named here. Fill the column method, or give --method for all rows without one.";

/** A name is found with space around it; a line break there would be lost in an export. */
function readMethod(text: string, { methodOf }: RowRules): ReturnType<RowRules["methodOf"]> {
  const plain = readPlain(text);
  return plain.ok ? methodOf(text) : plain;
}

function readPlain(text: string): Reading<string> {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
    return rejected("This holds a line break or another control character. Write it on one line.");
  // The two joiners are part of written Bangla.
  return /(?![\u200c\u200d])\p{Cf}/u.test(text)
    ? rejected("This holds an invisible character. Type it anew.")
    : accepted(text);
}
