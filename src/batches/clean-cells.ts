import { amountText, type Paisa, readAmount } from "../domain/amount.ts";
import { readReference } from "../domain/reference.ts";
import { asciiDigits } from "../domain/result.ts";
import { unsafeCharacters } from "../domain/text.ts";
import { type DecimalMark, readMoney } from "../tables/amount.ts";
import type { Cell } from "../tables/cell.ts";
import { headingLine } from "../tables/heading.ts";
import { readId } from "../tables/identifier.ts";
import { otherPayee, readPayee } from "../tables/mobile.ts";
import { textOf } from "../tables/payroll-columns.ts";

/** What was changed in a cell. The first two are more than another notation of the same value. */
export type ChangeKind =
  | ("recipient-completed" | "amount-rounded")
  | ("recipient-notation" | "amount-notation" | "amount-comma" | "reference" | "method" | "text");

/** A cell as lenden reads it, or why it cannot be read. */
export type CleanCell<Value> =
  | { value: Value; text: string; change?: ChangeKind; because?: string }
  | { value?: never; problem: string; kind: "amount" | "currency" | "recipient" | "reference" };

export function cleanAmount(cell: Cell, mark: DecimalMark): CleanCell<Paisa> {
  const reading = readMoney(cell, mark);
  if (reading.kind === "empty")
    return {
      kind: "amount",
      problem: "The cell is empty. Enter an amount in BDT, for example 1250.50.",
    };
  if (reading.kind === "error") {
    const kind = "currency" in reading ? "currency" : "amount";
    return { kind, problem: reading.problem };
  }
  const { paisa } = reading.value;
  if (paisa <= 0n)
    return {
      kind: "amount",
      problem: "The amount is not above zero. Correct it, or delete the row.",
    };
  const text = amountText(paisa);
  const own = readAmount(text);
  if (!own.ok) return { kind: "amount", problem: own.problem };
  if (reading.kind === "probable")
    return { value: paisa, text, change: "amount-rounded", because: reading.because };
  if (typeof cell !== "string" || readAmount(cell).ok) return { value: paisa, text };
  return { value: paisa, text, change: mark === "comma" ? "amount-comma" : "amount-notation" };
}

/**
 * The number as it is sent: 11 digits, or the 12 of an account of Rocket.
 *
 * @param asIs true if any other number is accepted
 */
export function cleanRecipient(cell: Cell, isRocket: boolean, asIs = false): CleanCell<string> {
  const reading = readPayee(cell, isRocket);
  const other = asIs && reading.kind === "error" ? otherPayee(cell, isRocket) : undefined;
  if (other) {
    const text = other.typed;
    if (cell === text) return { value: text, text };
    return { value: text, text, change: "recipient-notation" };
  }
  if (reading.kind === "empty")
    return { kind: "recipient", problem: "The cell is empty. Enter the recipient's number." };
  if (reading.kind === "error") return { kind: "recipient", problem: reading.problem };
  const { local, account = local } = reading.value;
  const written = asciiDigits(textOf(cell)).replace(/\.0+$/, "").replace(/\D/g, "");
  if (written !== account && written !== `88${account}`) {
    const because = reading.kind === "probable" ? reading.because : "digits were added";
    return { value: account, text: account, change: "recipient-completed", because };
  }
  if (cell === account) return { value: account, text: account };
  return { value: account, text: account, change: "recipient-notation" };
}

/** Undefined if the cell is empty: the row gets a reference from lenden then. */
export function cleanReference(cell: Cell): CleanCell<string> {
  const reading = readId(cell);
  if (reading.kind === "empty")
    return {
      kind: "reference",
      problem: "The cell is empty. Enter a reference, or ignore the column.",
    };
  if (reading.kind === "error") return { kind: "reference", problem: reading.problem };
  const read = readReference(reading.value);
  if (!read.ok) return { kind: "reference", problem: read.problem };
  const text = read.value;
  if (reading.kind === "certain" && textOf(cell) === text) return { value: text, text };
  return { value: text, text, change: "reference" };
}

/** A text on one line, without what cannot be seen. */
export function cleanText(cell: Cell): { text: string; change?: ChangeKind } {
  const text = headingLine(textOf(cell)).replace(unsafeCharacters, "");
  return typeof cell === "string" && cell !== text ? { text, change: "text" } : { text };
}

const banglaMethods = new Map([
  ["বিকাশ", "bkash"],
  ["নগদ", "nagad"],
  ["রকেট", "rocket"],
]);

export function cleanMethod(cell: Cell): { text: string; change?: ChangeKind } {
  const { text } = cleanText(cell);
  const known = banglaMethods.get(text.normalize("NFC"));
  return known === undefined ? { text } : { text: known, change: "method" };
}
