import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import { type Direction, directionIn, wordsIn } from "../tables/direction.ts";
import { isSameHeading } from "../tables/heading.ts";
import { kindIn } from "../tables/kind.ts";
import { type ColumnMapping, isNamed } from "./fields.ts";
import { cellsOf, isDirection, unread } from "./recognize.ts";
import type { StatementRow, StatementTable } from "./table.ts";

/** A cell whose words show the direction of an amount. */
export interface DirectionWords {
  column: string;
  text: string;
  direction: Direction | undefined;
  /** True for a reversal, for no direction among directions, and for another one than in another column. */
  isOdd: boolean;
  /** True for a reversal. */
  isBack: boolean;
  /** True for a refund, which is odd for other operations. */
  isRefund: boolean;
}

/** Compares the direction of a line with other columns of directions. Beside a balance, they are of the balance. */
export function createDirectionCheck(table: StatementTable, mapping: ColumnMapping[]) {
  const columns = table.header.map((column, place) => {
    const field = mapping.find((one) => isSameHeading(one.column, column))?.field;
    return { column, place, field };
  });
  const read = columns.find(({ field }) => field === "direction");
  const others = columns.filter(({ column, place, field }) => {
    if (!read || (field !== undefined && field !== "type" && field !== "narration")) return false;
    const { column: before = "", field: fieldBefore } = columns[place - 1] ?? {};
    const isOfBalance =
      fieldBefore === "balance" || [before, column].some((one) => isNamed("balance", one));
    return column !== "" && !isOfBalance && isDirection(column, cellsOf(table, column));
  });
  return (cells: string[], direction: Direction): string[] =>
    others.flatMap(({ column, place }) => {
      const cell = cells[place] ?? "";
      const other = directionIn(cell);
      if (!read || other === undefined || other === direction) return [];
      const ignored = shellLine(["--map", `${column}=ignore`]);
      return `${read.column} is ${quoted(cells[read.place] ?? "")}, but ${column} is ${quoted(cell)}. To ignore the second column: ${ignored}.`;
    });
}

/**
 * Reads the words of a line's direction: in its type and its narrations.
 *
 * @param mapping undefined if the file shows its directions otherwise
 */
export function createWordReader(table: StatementTable, mapping: ColumnMapping[] | undefined) {
  const { path, header } = table;
  const texts = (mapping ?? []).filter(({ field }) => field === "type" || field === "narration");
  const others = mapping ? unread(header, mapping) : [];
  const all = texts.map(({ column, field }) => {
    const cells = cellsOf(table, column);
    const place = header.findIndex((name) => isSameHeading(name, column));
    const hits = cells.filter((cell) => wordsIn(cell) !== undefined).length;
    return { column, place, hits, isStrict: field === "narration" && areMostDirected(cells) };
  });
  // A word by chance is in a column with few of them: that column is shown.
  const columns = all.sort((one, other) => other.hits - one.hits);
  const wordsOf = (cells: string[]) =>
    columns.flatMap(({ column, place, isStrict }): DirectionWords[] => {
      const text = cells[place] ?? "";
      const shown = wordsIn(text);
      const kind = kindIn(text);
      const isUnclear = isStrict && shown === undefined && kind !== "payout" && kind !== "fee";
      if (shown === undefined && !isUnclear) return [];
      const direction = shown === "out" || shown === "in" ? shown : undefined;
      const isRefund = shown === "refund";
      const isBack = shown === "reversal";
      return [{ column, text, direction, isOdd: isUnclear || isBack, isBack, isRefund }];
    });
  return {
    shownBy(cells: string[]): DirectionWords | undefined {
      const found = wordsOf(cells);
      const directed = found.filter(({ direction }) => direction);
      const [first] = directed;
      const differing = directed.find(({ direction }) => direction !== first?.direction);
      const back = found.find(({ text }) => wordsIn(text) === "reversal");
      return (
        back ??
        found.find(({ isRefund }) => isRefund) ??
        (differing && { ...differing, direction: undefined, isOdd: true }) ??
        first ??
        found[0]
      );
    },
    /** The problem of words in a column that is not read: they are below the sample. */
    unreadIn({ line, cells }: StatementRow): string | undefined {
      const other = others.find(({ place }) => wordsIn(cells[place] ?? ""));
      if (!other) return undefined;
      const { column, place } = other;
      const isUnique =
        header.filter((one) => isSameHeading(one, column)).length === 1 && column !== "";
      const named = column || `column ${place + 1}`;
      const way = isUnique
        ? readingOrIgnoring(column)
        : "Give the column a unique name in the header.";
      return `${path}, line ${line}, ${named}: ${quoted(cells[place] ?? "")} may be a direction. ${way}`;
    },
  };
}

function readingOrIgnoring(column: string): string {
  const [read, ignored] = ["narration", "ignore"].map((field) =>
    shellLine(["--map", `${column}=${field}`]),
  );
  return `To read the column: ${read}. To ignore it: ${ignored}.`;
}

/** True if most texts of a column show a direction, and not all the same: then the others are odd. */
function areMostDirected(cells: string[]): boolean {
  const found = cells.flatMap((cell) => wordsIn(cell) ?? (kindIn(cell) === "payout" ? "out" : []));
  return found.length * 2 > cells.length && new Set(found).size > 1;
}
