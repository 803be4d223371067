import { payeeOf } from "../domain/mobile.ts";
import { asciiDigits } from "../domain/result.ts";
import { counted } from "../domain/text.ts";
import { beforeColumn } from "../tables/payroll-names.ts";
import type { CheckedFile } from "./check.ts";

/**
 * What `payout batch clean` changed in the rows of a file by more than their notation, as the column with the old cells
 * shows it; empty for any other file.
 */
export function cleanedText({ columns, rows }: Pick<CheckedFile, "columns" | "rows">): string {
  const place = columns.indexOf(beforeColumn);
  if (place < 0) return "";
  let [completed, amounts] = [0, 0];
  for (const { cells, recipient } of rows)
    for (const old of (cells[place] ?? "").split(";").filter((text) => text.trim() !== ""))
      if (lacksZero(old, recipient ?? "")) completed += 1;
      else amounts += 1;
  const were = (count: number) => (count === 1 ? "was" : "were");
  return [
    completed > 0
      ? `${counted(completed, "recipient")} ${were(completed)} completed by a zero`
      : "",
    amounts > 0 ? `${counted(amounts, "amount")} ${were(amounts)} rounded to paisa` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** True if a cell had the number without the zero at its beginning. */
function lacksZero(old: string, recipient: string): boolean {
  const digits = asciiDigits(old)
    .replace(/\.0+\s*$/, "")
    .replace(/\D/g, "");
  return payeeOf(`0${digits}`) === payeeOf(recipient);
}
