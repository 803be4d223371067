import { unguarded } from "../domain/csv-guard.ts";
import { asciiDigits, quoted } from "../domain/result.ts";
import type { Cell, TypedCell } from "./cell.ts";

/**
 * Marks that come with texts copied from web pages, telephones and spreadsheets. Not the one that turns text around:
 * a number with it is not the number that is shown.
 */
const invisible = /[\u200b\u200e\u200f\u202a-\u202d\u2060\u2066-\u2069\ufeff]/g;
const spaces = /[\u00a0\u2000-\u200a\u202f\u205f\u3000\s]+/g;
/** Nothing but printable ASCII: most cells, which need no more work. */
const ascii = /^[ -~]*$/;
const dashes = /[\u2010-\u2013\u2212\ufe63\uff0d]/g;

/** A text without what spreadsheets and web pages add: an apostrophe, a formula of a text, and invisible marks. */
export function plainText(text: string): string {
  if (ascii.test(text) && !/^\s*['=]/.test(text)) return text.trim();
  const visible = text.replace(invisible, "").trim();
  const inner = /^="([^"]*)"$/.exec(visible)?.[1] ?? visible;
  return unguarded(inner).replace(/^'/, "").trim();
}

/** The cell as an error shows it. */
export function shown(cell: Cell): string {
  return quoted(typeof cell === "string" ? cell : cell.text);
}

/** A text of digits with one kind of space, of dash and of digits. */
export function plainNumber(text: string): string {
  const plain = plainText(text);
  if (ascii.test(plain)) return plain.replace(/ {2,}/g, " ");
  return asciiDigits(plain)
    .replace(dashes, "-")
    .replace(/[\uff0c\uff0e\uff08\uff09\uff0b]/g, (wide) =>
      String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
    )
    .replace(spaces, " ");
}

/** What is wrong with a cell of a workbook that has no value; undefined if it has one. */
export function problemOfTyped({ kind, text }: TypedCell): string | undefined {
  if (kind === "error")
    return `The cell has the error ${text}. Correct its formula in the spreadsheet.`;
  if (kind === "unknown")
    return "The cell has a formula without a result. Open the workbook in a spreadsheet, and save it.";
  return undefined;
}
