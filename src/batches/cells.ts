import { type Paisa, readAmount, signedText } from "../domain/amount.ts";
import { unguarded } from "../domain/csv-guard.ts";
import { type Mobile, readRecipient } from "../domain/mobile.ts";
import { readReference } from "../domain/reference.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { readMoney } from "../tables/amount.ts";
import type { Cell } from "../tables/cell.ts";
import { readId } from "../tables/identifier.ts";
import { mayBeRounded, otherPayee, readPayee, roundedProblem } from "../tables/mobile.ts";
import { problemOfTyped, shown } from "../tables/plain.ts";

/*
 * What a cell of a batch says. It has lenden's own form, or is a number or a date of a workbook that gives it exactly.
 */

/** The cell as it is stored and exported. */
export function cellText(cell: Cell): string {
  return typeof cell === "string" ? unguarded(cell) : cell.text;
}

/** Of a cell without a guard. */
export const shownText = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

export function amountIn(cell: Cell): Result<Paisa> {
  if (typeof cell === "string") {
    const own = readAmount(cell);
    if (own.ok) return own;
    const money = readMoney(cell);
    return money.kind === "error" && "currency" in money ? err(money.problem) : own;
  }
  const money = readMoney(cell);
  if (money.kind === "error") return err(money.problem);
  return money.kind === "empty" ? err(emptyCell.amount) : readAmount(signedText(money.value.paisa));
}

/**
 * @param isRocket true if the number may be an account number of 12 digits
 * @param asIs true if any other number is accepted
 */
export function payeeIn(cell: Cell, isRocket: boolean, asIs: boolean): Result<Mobile> {
  const own = typeof cell === "string" ? readRecipient(cell, isRocket) : undefined;
  if (own?.ok && mayBeRounded(shownText(cell), own.value)) return err(roundedProblem(cell));
  if (own?.ok) return own;
  const reading = readPayee(cell, isRocket);
  if (reading.kind === "empty") return err(emptyCell.to);
  if (reading.kind === "error") {
    const other = asIs ? otherPayee(cell, isRocket) : undefined;
    return other ? ok(other) : err(reading.problem);
  }
  const { account, local } = reading.value;
  const number = account ?? local;
  if (!own)
    return err(
      `The cell is a number, which has no leading zero. Format the column as text, and write ${number} if that is the number.`,
    );
  const why =
    reading.kind === "probable" && !/^1\d{9}$/.test(shownText(cell))
      ? `${shown(cell)} is not a mobile number: ${reading.because}.`
      : own.problem;
  return err(`${why} If the number is ${number}, write that.`);
}

export function referenceIn(cell: Cell): Result<string> {
  if (typeof cell === "string") return readReference(cell);
  const reading = readId(cell);
  if (reading.kind === "error") return err(reading.problem);
  return reading.kind === "empty" ? err(emptyCell.ref) : readReference(reading.value);
}

/** The text of a name, a description or a method. */
export function textIn(cell: Cell): Result<string> {
  if (typeof cell === "string") return readPlain(cell);
  const problem = problemOfTyped(cell);
  if (problem !== undefined) return err(problem);
  return cell.unit === undefined
    ? ok(cell.text)
    : err("The cell is a number with a format. Format the column as text.");
}

/** Accepts a text without what cannot be seen in it. */
export function readPlain(text: string): Result<string> {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
    return err("The cell contains a line break or a control character. Write it on one line.");
  // The two joiners are part of written Bangla.
  return /(?![\u200c\u200d])\p{Cf}/u.test(text)
    ? err("The cell contains an invisible character. Type the text again.")
    : ok(text);
}

export const emptyCell = {
  ref: "This cell is empty. Enter a reference, or remove the whole column.",
  amount: "This cell is empty. Enter an amount in BDT, for example 1250.50.",
  to: "This cell is empty. Enter the recipient's number, for example 01712345678.",
};
