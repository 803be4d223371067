import type { Paisa } from "../domain/amount.ts";
import { isDateInAnyOrder } from "../tables/date.ts";
import { directionIn } from "../tables/direction.ts";
import { hasDigit } from "../tables/heading.ts";
import { isRepeatedHeader, isTotalLabel, type SkippedRow, skippedRow } from "../tables/skipped.ts";
import { Totals } from "../tables/totals.ts";
import type { Read } from "./fields.ts";
import type { StatementRow } from "./table.ts";

/*
 * The rows of a statement that are no lines: repeated headers, totals and notes. Each is shown, and a total is checked.
 */

interface WrongTotal {
  line: number;
  shown: Paisa;
  /** What lines above it add up to. */
  expected: Paisa;
  /** True if these are only the lines since the total before. */
  isPart: boolean;
}

/** What is shown of them; a long file has many of one kind. */
export interface Skipped {
  rows: SkippedRow[];
  /** How many more there are. */
  others: number;
  /** The first total that is not the sum of lines above, and how many others there are. */
  wrongTotal: (WrongTotal & { others: number }) | undefined;
}

const mostRows = 1_000;

export function createSkipped(above: SkippedRow[]) {
  const found: Skipped = { rows: [...above], others: 0, wrongTotal: undefined };
  return {
    found,
    add(row: SkippedRow): void {
      if (found.rows.length < mostRows) found.rows.push(row);
      else found.others += 1;
    },
    addWrong(wrong: WrongTotal): void {
      if (found.wrongTotal) found.wrongTotal.others += 1;
      else found.wrongTotal = { ...wrong, others: 0 };
    },
  };
}

type Amounts = Record<"debit" | "credit" | "amount" | "fee", Paisa | null>;

/** @param places the places of the columns that are read */
export function createOtherRows(
  header: string[],
  places: Map<string, number>,
  { add, addWrong }: ReturnType<typeof createSkipped>,
) {
  const placesOf = (...fields: Read[]) => fields.flatMap((field) => places.get(field) ?? []);
  const money = placesOf("amount", "debit", "credit", "fee", "balance");
  const names = placesOf("id", "reference");
  const texts = header.map((_, place) => place).filter((place) => !money.includes(place));
  const [gross, net] = [new Totals(4), new Totals(4)];
  const hasDate = (cells: string[]) =>
    placesOf("date").some((place) => isDateInAnyOrder(cells[place] ?? ""));

  /** A text without money, a date and an ID. */
  const isNote = (cells: string[]) =>
    money.every((place) => !hasDigit(cells[place] ?? "")) &&
    !names.some((place) => isWord(cells[place] ?? "")) &&
    !placesOf("date").some((place) => isWord(cells[place] ?? "")) &&
    !hasDate(cells);

  return {
    /** True for a row without a transaction, whatever its cells hold. */
    isNoLine({ line, cells }: StatementRow): boolean {
      const kind = isRepeatedHeader(cells, header) ? "header" : isNote(cells) ? "note" : undefined;
      if (kind && cells.some(Boolean)) add(skippedRow(line, kind, cells));
      return kind !== undefined;
    },

    /**
     * True for a row whose amounts are the sums of lines above, and for one that is called a total. Others are added to
     * the sums.
     */
    isTotal({ line, cells }: StatementRow, { debit, credit, amount, fee }: Amounts): boolean {
      const row = [debit, credit, amount, fee];
      const isOut = placesOf("direction").some(
        (place) => directionIn(cells[place] ?? "") === "out",
      );
      const isFilled = row.some((one) => one !== null);
      const labels = texts.flatMap((place) => cells[place] || []);
      const isNamed = labels.some(isTotalLabel);
      // Without a name, it has to be the sum of more than one line.
      if (isFilled && (isNamed || (labels.length === 0 && gross.rows > 1))) {
        const isRight = gross.isRight(row) || net.isRight(row);
        if (isRight || (isNamed && !hasDate(cells))) {
          add(skippedRow(line, isRight ? "total" : "wrong-total", cells));
          if (!isRight) {
            const { column, sum, isPart } = gross.expected(row);
            addWrong({ line, shown: row[column] ?? 0n, expected: sum, isPart });
          }
          gross.close();
          net.close();
          return true;
        }
      }
      gross.add(row);
      net.add([debit, credit, isOut && amount !== null ? -amount : amount, fee]);
      return false;
    },
  };
}

/** True for a text that may be an ID, and for a part of a date. */
export function isWord(cell: string): boolean {
  return !/\s/.test(cell) && hasDigit(cell);
}

/** Without the empty cells behind the last column, which spreadsheets write. */
export function withoutEmptyEnd(cells: string[], width: number): string[] {
  return cells.slice(width).some(Boolean) ? cells : cells.slice(0, width);
}
