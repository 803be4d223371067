import { readMobile } from "../domain/mobile.ts";
import { asciiDigits } from "../domain/result.ts";
import { readMoney } from "./amount.ts";
import type { Cell } from "./cell.ts";
import { isCurrency } from "./currency.ts";
import { isDateInAnyOrder } from "./date.ts";
import { directionIn } from "./direction.ts";
import { readPayee } from "./mobile.ts";
import { plainText } from "./plain.ts";

/** A number with a currency, a direction or an end mark, or a short ID. */
const numberLike =
  /^(?:\p{L}{1,3}\.?|\p{Sc})? ?[-+\u2212(]?\d[\d,]*(?:\.\d+)?\)?(?: ?(?:\p{L}{1,4}\.?|\p{Sc}|\/[-=]))?$/u;

/** The value of a cell that is certainly not a heading. */
export function valueIn(cell: string): "mobile" | "date" | "number" | undefined {
  const plain = asciiDigits(cell);
  if (readMobile(plain).ok) return "mobile";
  if (/\D/.test(plain) && isDateInAnyOrder(plain)) return "date";
  return numberLike.test(plain) ? "number" : undefined;
}

export function hasDigit(cell: string): boolean {
  return /\d/.test(asciiDigits(cell));
}

/** True for `Ref 2`, `Address2`, `Amount (2026)`, `VAT 15%`, `Date (UTC+6)`, `B2C`; not for `BDT 50`, `INV-7`. */
export function isHeadingWithNumber(cell: string): boolean {
  const plain = asciiDigits(cell)
    .replace(/\b[a-z]2[a-z]\b/gi, "to")
    .replace(/\b(?:utc|gmt) ?[-+]\d{1,2}(?::?\d\d)?\b/i, "");
  if (!/\d/.test(plain)) return true;
  const [, words = ""] =
    /^(\D+?)[ _#]?(?:\d{1,2}|\(20[2-9]\d\)|\(?\d+(?:\.\d+)?%\)?)$/.exec(plain) ?? [];
  const isMoney = words.split(/[\s.:]+/).some((word) => isCurrency(word));
  return /^\p{L}[\p{L}\p{M}./_ ]{2,}$/u.test(words) && !isMoney && !directionIn(words);
}

/** Words of the lines above a table. One of an amount has other words, such as a reference or a name. */
const labels = new Set(
  `a ac acc account address amount and as at available balance branch by c client closing count credit credits currency
  current customer date debit debits download downloaded email for from generated holder id in ledger merchant mobile
  name no number of on opening page period phone print printed report since statement summary tel time title to total
  transactions type until wallet ঠিকানা তারিখ থেকে নং নম্বর নাম পর্যন্ত প্রারম্ভিক ব্যালেন্স মোট মোবাইল শাখা সমাপনী স্থিতি হিসাব`
    .normalize("NFC")
    .split(/\s+/),
);
const onlyNumber = /^\D{0,4}\d[\d\s.,'’]*\D{0,5}$/;

/** True if the filled cells are a title, or a label such as `Account No.`, `Period: …`, `Closing balance` with values. */
export function isAboutStatement(cells: string[]): boolean {
  const [first = "", ...others] = cells.map((cell) => asciiDigits(cell).normalize("NFC"));
  if (others.length === 0) return !onlyNumber.test(first) || /^\d{10,}$/.test(first);
  const words = first.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const isLabel = words.length > 0 && words.every((one) => labels.has(one)) && !directionIn(first);
  return isLabel || /^[^\d:]{3,}:/.test(first);
}

/** Most cells, which need no more work. */
const ordinary = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** A heading on one line, as it is printed and typed. */
export function headingLine(text: string): string {
  if (ordinary.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Z}\ufeff\u200b]+/gu, " ").trim();
}

export function isSameHeading(one: string, other: string): boolean {
  const line = (text: string) => headingLine(plainText(text)).normalize("NFC");
  return line(one) === line(other);
}

export function isPayee(cell: Cell): boolean {
  const reading = readPayee(cell, true);
  return reading.kind === "certain" || reading.kind === "probable";
}

export function isAmount(cell: Cell): boolean {
  const reading = readMoney(cell);
  return (reading.kind === "certain" || reading.kind === "probable") && reading.value.paisa !== 0n;
}
