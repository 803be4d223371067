import { type Mobile, readAnyRecipient, readRecipient } from "../domain/mobile.ts";
import type { Cell } from "./cell.ts";
import { isRounded } from "./identifier.ts";
import { plainNumber, plainText, problemOfTyped, shown } from "./plain.ts";
import type { Reading } from "./reading.ts";

const example = "Write 01 and nine digits, for example 01712345678.";
const madeNumber = "a program made a number of it";
const longest = 100;

/**
 * Reads the number of a recipient: `01XXXXXXXXX`, `+8801…`, with spaces or hyphens.
 *
 * @param isRocket true if the method of the row is Rocket, whose account numbers have a check digit behind them
 */
export function readPayee(cell: Cell, isRocket: boolean): Reading<Mobile> {
  const problem = typeof cell === "string" ? undefined : problemOfTyped(cell);
  if (problem !== undefined) return { kind: "error", problem };
  const isTyped = typeof cell !== "string";
  if (isTyped && (cell.kind !== "number" || cell.unit !== undefined)) return notNumber(cell);
  const text = isTyped ? cell.text : cell;
  if (text.length > longest) return notNumber(cell);
  const plain = plainNumber(text);
  if (plain === "" || /^[-\u2014]$/.test(plain)) return { kind: "empty" };
  if (isRounded(plain)) {
    const why = `A spreadsheet rounded the number ${shown(cell)}, so that digits are lost.`;
    return { kind: "error", problem: `${why} Enter it again as text. ${example}` };
  }
  const reading = readRecipient(plain, isRocket);
  const found = reading.ok
    ? certain(text, reading.value)
    : (probable(plain, isRocket) ?? { kind: "error", problem: problemIn(plain, cell, isRocket) });
  return "value" in found && mayBeRounded(plain, found.value)
    ? { kind: "error", problem: roundedProblem(cell) }
    : found;
}

/** The number of a cell of text that a user insists on, if it is not a mobile number, also not one that lost digits. */
export function otherPayee(cell: Cell, isRocket: boolean): Mobile | undefined {
  if (typeof cell !== "string") return undefined;
  const read = readAnyRecipient(plainText(cell), isRocket);
  const isOther = read.ok && read.value.isOther && !probable(plainNumber(cell), isRocket);
  return isOther ? read.value : undefined;
}

/** A spreadsheet that showed 8801712345678 as `8.80171E+12` saves it as 8801710000000. */
export function mayBeRounded(text: string, { local, account = local }: Mobile): boolean {
  return account.endsWith("00000") && !/^[0+]/.test(text);
}

export function roundedProblem(cell: Cell): string {
  return `A spreadsheet probably rounded the number ${shown(cell)}, because its last digits are zeros. Write the whole number as text. ${example}`;
}

function certain(text: string, value: Mobile): Reading<Mobile> {
  const isOfOtherDigits = /[^0-9\P{Nd}]/u.test(plainText(text));
  const because = "its digits are not those of ASCII";
  return isOfOtherDigits ? { kind: "probable", value, because } : { kind: "certain", value };
}

/** A number that lost its zero, or that got `.0`. */
function probable(plain: string, isRocket: boolean): Reading<Mobile> | undefined {
  const [, bare = plain, added] = /^(.*?)(\.0{1,2})?$/.exec(plain) ?? [];
  const digits = bare.replace(/[ -]/g, "");
  const lost = isRocket ? /^1\d{9,10}$/.test(digits) : /^1\d{9}$/.test(digits);
  const reading = readRecipient(lost ? `0${digits}` : bare, isRocket);
  if (!reading.ok) return undefined;
  const wasAdded = added === undefined ? "" : `${madeNumber}, and added ${added}`;
  const wasLost = lost ? `${madeNumber}, and the zero at its beginning was lost` : "";
  const because =
    wasAdded && wasLost ? `${wasAdded}; the zero at its beginning was lost` : wasAdded || wasLost;
  return { kind: "probable", value: reading.value, because };
}

function problemIn(plain: string, cell: Cell, isRocket: boolean): string {
  const numbers = plain.match(/(?:\+?88)?01[\d -]{9,}/g) ?? [];
  if (numbers.length > 1)
    return `${shown(cell)} has more than one number. Write the one that receives the money.`;
  const rocket = readRecipient(plain, true);
  if (!isRocket && rocket.ok)
    return `${shown(cell)} has 12 digits, as account numbers of Rocket have. Other methods need 11 digits. ${example}`;
  const digits = plain.replace(/[ -]/g, "").replace(/^\+?88(?=0)/, "");
  if (!/^\d+$/.test(digits)) return `${shown(cell)} is not a mobile number. ${example}`;
  const right = isRocket ? "11, or 12 with Rocket's check digit" : "11";
  const count = `has ${digits.length} digits, and a mobile number has ${right}`;
  return digits.length === 11
    ? `${shown(cell)} does not begin with 01. ${example}`
    : `${shown(cell)} ${count}. ${example}`;
}

function notNumber(cell: Cell): Reading<never> {
  return { kind: "error", problem: `${shown(cell)} is not a mobile number. ${example}` };
}
