import type { Paisa } from "../domain/amount.ts";
import { formatPaisa } from "../domain/money.ts";
import { asciiDigits } from "../domain/result.ts";
import { AmountColumn, type DecimalMark, readMoney } from "./amount.ts";
import type { Cell, TableRow } from "./cell.ts";
import { hasDigit, headingLine } from "./heading.ts";
import type { Payroll } from "./payroll.ts";
import { textOf } from "./payroll-columns.ts";
import { fieldOfHeading } from "./payroll-names.ts";
import {
  hasTotalWord,
  isRepeatedHeader,
  isTotalLabel,
  type SkippedRow,
  skippedRow,
} from "./skipped.ts";
import { Totals } from "./totals.ts";

/*
 * The rows of a payroll that are no payouts: repeated headers, totals and notes. A row with an amount is one of them only
 * if it is a total.
 */

/** A row that is neither a payout nor certainly something else. */
export interface RowProblem {
  kind: "no recipient" | "unclear total" | "wrong total" | "moved cells" | "other header";
  line: number;
  problem: string;
}

export interface SortedRows {
  payouts: TableRow[];
  skipped: SkippedRow[];
  problems: RowProblem[];
  mark: DecimalMark;
}

/** @param places of the columns with the recipient's number and the amount */
export function sortRows(payroll: Payroll, places: { to: number; amount: number }): SortedRows {
  const { rows } = payroll;
  const mark = markOf(rows, places.amount);
  const found: SortedRows = { payouts: [], skipped: [...payroll.above], problems: [], mark };
  const totals = createTotals();
  for (const row of rows) {
    const texts = row.cells.map((cell) => headingLine(textOf(cell)));
    const cell = row.cells[places.amount] ?? "";
    const amount = amountIn(cell, mark);
    const kind = kindOf(row, texts, { payroll, ...places, mark, totals });
    if (kind === "header" || kind === "note") {
      if (texts.some(Boolean)) found.skipped.push(skippedRow(row.line, kind, texts));
    } else if (kind === "total") {
      const problem = totals.problemOf(amount);
      found.skipped.push(skippedRow(row.line, problem ? "wrong-total" : "total", texts));
      if (problem) found.problems.push({ kind: "wrong total", line: row.line, problem });
    } else {
      // What is not a payout may be part of a total all the same.
      totals.add(kind === "moved cells" ? undefined : amount, row.isHidden === true);
      if (kind === "payout") found.payouts.push(row);
      else {
        const problem = problemTexts[kind](texts, texts[places.amount] ?? "");
        found.problems.push({ kind, line: row.line, problem });
      }
    }
  }
  return found;
}

/** The mark before the decimals, of the whole column. */
function markOf(rows: TableRow[], place: number): DecimalMark {
  const column = new AmountColumn();
  for (const { cells } of rows) column.see(cells[place] ?? "");
  return column.decimalMark;
}

interface Around {
  payroll: Payroll;
  to: number;
  amount: number;
  mark: DecimalMark;
  totals: ReturnType<typeof createTotals>;
}

type RowKind = "payout" | "total" | "header" | "note" | Exclude<RowProblem["kind"], "wrong total">;

function kindOf(
  row: TableRow,
  texts: string[],
  { payroll, to, amount, mark, totals }: Around,
): RowKind {
  if (isRepeatedHeader(texts, payroll.header)) return "header";
  const recipient = texts[to] ?? "";
  const money = readMoney(row.cells[amount] ?? "", mark);
  const others = texts.filter((text, place) => place !== amount && text !== "");
  const cell = row.cells[amount] ?? "";
  const isText = money.kind === "error" && typeof cell === "string" && !hasDigit(cell);
  const hasAmount = money.kind !== "empty" && !isText;
  const value = amountIn(cell, mark);
  if (others.some(isTotalLabel)) {
    if (!hasAmount) return hasNumber(recipient) ? "unclear total" : "note";
    // A number beside the word may be that of the office.
    return !hasNumber(recipient) || (value !== undefined && totals.isSum(value))
      ? "total"
      : "unclear total";
  }
  // Without a recipient, only a total may have an amount.
  if (
    !hasNumber(recipient) &&
    hasAmount &&
    hasTotalWord(nameIn(payroll, texts) || others.join(" "))
  )
    return "total";
  if (recipient === "" || /^[-\u2013\u2014]$/.test(recipient)) {
    if (!hasAmount) return "note";
    // Without a name, it has to be the sum of more than one row.
    const isSum =
      value !== undefined && others.every((text) => !/\p{L}/u.test(text)) && totals.isSum(value);
    return isSum ? "total" : "no recipient";
  }
  // The zero of an accounting format is a dash.
  const isNothing = value === 0n || /^[-\u2013\u2014]$/.test(texts[amount] ?? "");
  if (isNothing) return "note";
  if (!hasNumber(recipient)) {
    if (isOtherHeader(texts)) return "other header";
    if (!hasAmount) return "note";
  }
  return isMoved(payroll, texts, amount) ? "moved cells" : "payout";
}

function nameIn({ columns }: Payroll, texts: string[]): string {
  return texts[columns.find(({ field }) => field === "name")?.place ?? -1] ?? "";
}

/** True for the headings of another table below the first one, whose columns may have another order. */
function isOtherHeader(texts: string[]): boolean {
  const fields = texts.map((text) => fieldOfHeading(text));
  return fields.includes("to") && fields.includes("amount");
}

const problemTexts: Record<
  Exclude<RowKind, "payout" | "total" | "header" | "note">,
  (texts: string[], amount: string) => string
> = {
  "no recipient": (texts, amount) => {
    const isNamed = texts.some((text) => text !== amount && /\p{L}/u.test(text));
    const fix = isNamed
      ? "Enter the recipient's number, or delete the row"
      : "If it is a total, name it Total";
    return `The row has an amount (${amount}), but no mobile number. ${fix}.`;
  },
  "unclear total": () =>
    "The row is named a total, but it has a recipient and is not the sum of the rows above. Rename or delete the row.",
  "other header": (texts) =>
    `The row is the header of another table (${texts.filter(Boolean).join(", ")}). Clean each table in a file of its own.`,
  "moved cells": () =>
    "The line does not have the cells that the header has. If a comma in an amount moved the cells, put the amount in quotes. If not, name the column.",
};

/** True for a text that may be a number of a recipient, also a damaged one. */
function hasNumber(text: string): boolean {
  return /\d{6}|\dE\+?\d/i.test(asciiDigits(text).replace(/[ -]/g, ""));
}

function amountIn(cell: Cell, mark: DecimalMark): Paisa | undefined {
  const reading = readMoney(cell, mark);
  return reading.kind === "certain" || reading.kind === "probable"
    ? reading.value.paisa
    : undefined;
}

/**
 * True if cells may have moved: a comma in an amount without quotes moves the cells behind it. A workbook cannot have
 * that.
 */
function isMoved({ kind, header }: Payroll, texts: string[], amount: number): boolean {
  if (kind !== "csv") return false;
  const width = header.findLastIndex(Boolean) + 1;
  return (
    texts.length < width ||
    texts.some((text, place) => place > amount && text !== "" && !header[place])
  );
}

/** Checks totals with all rows, and without those that the workbook hides. */
function createTotals() {
  const [all, visible] = [new Totals(1), new Totals(1)];
  let isReadable = true;
  const isSum = (amount: Paisa) => all.isRight([amount]) || visible.isRight([amount]);
  return {
    add(amount: Paisa | undefined, isHidden: boolean): void {
      if (amount === undefined) isReadable = false;
      all.add([amount ?? null]);
      if (!isHidden) visible.add([amount ?? null]);
    },
    isSum: (amount: Paisa) => all.rows > 1 && isSum(amount),
    /** Why a total is wrong; undefined if it is right, or if an amount above it cannot be read. */
    problemOf(amount: Paisa | undefined): string | undefined {
      const { sum, isPart } = all.expected([amount ?? null]);
      const isRight = amount !== undefined && isSum(amount);
      all.close();
      visible.close();
      if (isRight || !isReadable) return undefined;
      if (amount === undefined) return "The total cannot be read. Correct it, or delete the row.";
      return `The total is ${formatPaisa(amount)}, but the rows ${isPart ? "since the last total" : "above"} add up to ${formatPaisa(sum)}. Correct the rows, or delete the total.`;
    },
  };
}
