import { readAmount } from "../contract/amount.ts";
import { mobileText, type NumberFormat, readMobile } from "../contract/mobile.ts";
import { accepted, type Reading, rejected } from "../contract/reading.ts";
import { readReference } from "../contract/reference.ts";
import type { DraftRow } from "../ledger/drafts/draft.ts";
import type { Problem } from "../ledger/drafts/problems.ts";
import { type Cells, openCells } from "./cells.ts";
import type { Header } from "./columns.ts";
import type { CsvRecord } from "./csv.ts";

/** What reading a row needs beside its cells. */
export interface RowRules {
  numberFormat: NumberFormat;
  /** The method of rows that name none. */
  method: string | undefined;
  methodOf(text: string): Promise<Reading<string>> | Reading<string>;
  /** Whether the ledger has a payout with this reference. */
  isRecorded(reference: string): boolean;
  /** Whether a text holds a key or a secret of this run: no ledger may. */
  holdsSecret(text: string): boolean;
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
  record: CsvRecord,
  header: Header,
  rules: RowRules,
): Promise<{ row: DraftRow; problems: Problem[] }> {
  const cells = openCells(record, header);
  const amountPaisa = cells.required("amount", readAmount);
  const mobile = cells.required("to", readMobile);
  const recipient = mobile && mobileText(mobile, rules.numberFormat);
  const method = methodTyped(cells, rules);
  const found = method === null ? null : findMethod(method, rules);
  // Most are known already, and to wait for each would cost more than to read the row.
  const reading = found instanceof Promise ? await found : found;
  const methodId = reading && cells.taken("method", method ?? "", reading);
  const reference = header.fields.includes("ref")
    ? cells.required("ref", readReference)
    : rules.makeReference(row, cells.own);
  if (cells.wasSent && reference !== null && !rules.isRecorded(reference))
    cells.complain("ref", reference, notRecorded);
  if (rules.holdsSecret(cells.own.join("\n"))) complainOfSecrets(cells, header, rules);
  return {
    row: {
      row,
      line: record.line,
      reference,
      amountPaisa,
      recipient,
      methodId,
      method,
      name: cells.optional("name", readPlain),
      description: cells.optional("description", readPlain),
      cells: cells.own,
      fingerprint: fingerprintOf({ amountPaisa, recipient, methodId }, rules),
    },
    problems: cells.problems,
  };
}

/** The method that the row names, or else that of all rows. */
function methodTyped(cells: Cells, rules: RowRules): string | null {
  const method = cells.textOf("method") || rules.method;
  if (method !== undefined) return method;
  if (!cells.endsBefore("method")) cells.complain("method", "", noMethod);
  return null;
}

const noMethod =
  "No method is named here. Fill the column method, or give --method for all rows without one.";

/** A changed reference would make the API create a second payout. */
const notRecorded =
  "The row was sent, but the ledger has no payout with this reference. A spreadsheet may have changed it, for example 000123 to 123.";

/** A name is found with space around it; a line break there would be lost in an export. */
function findMethod(text: string, { methodOf }: RowRules): ReturnType<RowRules["methodOf"]> {
  const plain = readPlain(text);
  return plain.ok ? methodOf(text) : plain;
}

/** Without the cell's text. */
function complainOfSecrets(cells: Cells, { fields }: Header, rules: RowRules): void {
  for (const [index, field] of fields.entries())
    if (rules.holdsSecret(cells.own[index] ?? "")) cells.complain(field, "", secretInside);
}

const secretInside = "This cell holds the API key or the payout secret. Take it out.";

type Order = Pick<DraftRow, "amountPaisa" | "recipient" | "methodId">;

/** Only what could be read whole is an order that can be told from others. */
function fingerprintOf({ amountPaisa, recipient, methodId }: Order, rules: RowRules) {
  if (amountPaisa === null || recipient === null || methodId === null) return null;
  return rules.fingerprint({ amountPaisa, recipientNumber: recipient, paymentMethodId: methodId });
}

function readPlain(text: string): Reading<string> {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
    return rejected("This holds a line break or another control character. Write it on one line.");
  // The two joiners are part of written Bangla.
  return /(?![\u200c\u200d])\p{Cf}/u.test(text)
    ? rejected("This holds an invisible character. Type it anew.")
    : accepted(text);
}
