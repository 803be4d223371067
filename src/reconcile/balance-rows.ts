import { hasDigit } from "../tables/heading.ts";
import { mentionsIn } from "../tables/mentions.ts";
import { type SkippedRow, skippedRow } from "../tables/skipped.ts";
import type { Read } from "./fields.ts";
import { isWord } from "./other-rows.ts";
import type { StatementRow } from "./table.ts";

/** The names of the balance with which a statement begins, and of that with which it ends. */
const endNames = [
  ["opening", /\bopening\b|\bbrought forward\b|\bb\/?[df]\b|প্রারম্ভিক/iu],
  ["closing", /\bclosing\b|\bcarried forward\b|\bc\/?[df]\b|সমাপনী/iu],
] as const;
export type End = (typeof endNames)[number][0];

/**
 * Reads rows such as `Opening balance`, which have a balance and neither an amount nor an ID.
 *
 * @param places the places of the columns that are read
 */
export function createBalanceRows(
  places: Map<string, number>,
  { add }: { add(row: SkippedRow): void },
) {
  const placesOf = (...fields: Read[]) => fields.flatMap((field) => places.get(field) ?? []);
  const [balances, dates] = [placesOf("balance"), placesOf("date")];
  const amounts = placesOf("amount", "debit", "credit", "fee");
  const names = placesOf("id", "reference");
  const isText = (_: string, place: number) => ![...amounts, ...balances].includes(place);
  return {
    /** The date and the balance of such a row; all cells of any other. */
    cellsOf({ line, cells }: StatementRow): { cells: string[]; end?: End | undefined } {
      const isMoved = amounts.some((place) => !isZero(cells[place] ?? ""));
      const hasBalance = balances.some((place) => hasDigit(cells[place] ?? ""));
      if (isMoved || !hasBalance || names.some((place) => isWord(cells[place] ?? "")))
        return { cells };
      const text = cells.filter(isText).join("\n").normalize("NFC");
      const end = endNames.find(([, name]) => name.test(text))?.[0];
      const others = cells.filter((cell, place) => isText(cell, place) && !dates.includes(place));
      // Without such a name, a text may name an operation.
      if (!end && mentionsIn(others.join("\n")).length > 0) return { cells };
      add(skippedRow(line, "note", cells));
      const isRead = (cell: string, place: number) =>
        balances.includes(place) || (dates.includes(place) && hasDigit(cell));
      return { end, cells: cells.map((cell, place) => (isRead(cell, place) ? cell : "")) };
    },
  };
}

/** An empty amount, a dash or a zero. */
function isZero(cell: string): boolean {
  return /^[-–—]?$|^[0০][.,0০]*$/u.test(cell.trim());
}
