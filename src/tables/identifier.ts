import type { Cell } from "./cell.ts";
import { plainText, problemOfTyped, shown } from "./plain.ts";
import type { Reading } from "./reading.ts";

/** A spreadsheet keeps 15 digits of a number, and replaces the others by zeros. */
const keptDigits = 15;

/** Reads an ID or a reference. A spreadsheet may have made a number or a date of it. */
export function readId(cell: Cell): Reading<string> {
  if (typeof cell === "string") return idOf(cell);
  const problem = problemOfTyped(cell);
  if (problem !== undefined) return { kind: "error", problem };
  const { kind, text } = cell;
  if (kind === "date") {
    const what = `A spreadsheet made the date ${shown(cell)} of the ID.`;
    return { kind: "error", problem: `${what} ${enterAsText}` };
  }
  const digits = /^-?(\d+)/.exec(text)?.[1] ?? "";
  return digits.length > keptDigits
    ? rounded(cell)
    : { kind: "certain", value: kind === "number" ? text : text.trim() };
}

function idOf(cell: string): Reading<string> {
  const text = plainText(cell);
  if (text === "") return { kind: "empty" };
  if (isRounded(text)) return rounded(cell);
  const [, whole] = /^(\d{1,20})\.0$/.exec(text) ?? [];
  return whole === undefined
    ? { kind: "certain", value: text }
    : { kind: "probable", value: whole, because: "a program made a number of it and added .0" };
}

/** True for `1.23457E+12`, as a spreadsheet shows and saves a long number. */
export function isRounded(text: string): boolean {
  return /^\d(?:\.\d+)?E\+\d+$|^\d\.\d+E\d+$/i.test(text);
}

const enterAsText = "Format the column as text, and enter the ID again.";

function rounded(cell: Cell): Reading<never> {
  return { kind: "error", problem: `A spreadsheet rounded the ID ${shown(cell)}. ${enterAsText}` };
}
