import { readTimeZone, whenClockShows } from "../domain/time-zone.ts";
import type { Cell } from "./cell.ts";
import { type DateParts, type DayNumbers, fullYear, partsOfDate } from "./date-parts.ts";
import { problemOfTyped, shown } from "./plain.ts";
import type { Reading } from "./reading.ts";

/** A day, a minute or a second: from its first to its last millisecond. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** What a date of three numbers begins with: of a column, never of one cell. */
export const dateOrders = ["day-first", "month-first", "year-first"] as const;
export type DateOrder = (typeof dateOrders)[number];

/**
 * Reads a date, with or without a time: `2026-11-20 10:30:00`, `20/11/26`, `Nov 20, 2026 10.30 PM`, `20261120`.
 *
 * @param zone of a date that names none
 */
export function readDate(
  cell: Cell,
  { zone, order = "day-first" }: { zone: string; order?: DateOrder },
): Reading<Span> {
  const problem = typeof cell === "string" ? undefined : problemOfTyped(cell);
  if (problem !== undefined) return { kind: "error", problem };
  const parts = partsOf(cell);
  if (parts === "empty") return { kind: "empty" };
  const span = parts && spanOf(parts, zone, order);
  if (span) return { kind: "certain", value: span };
  return { kind: "error", problem: notDate(cell, parts, order) };
}

/** True if a text is a date, whatever the order of its numbers. */
export function isDateInAnyOrder(text: string): boolean {
  const parts = partsOf(text);
  if (parts === undefined || parts === "empty") return false;
  return ordersOf(parts).some((order) => spanOf(parts, "UTC", order));
}

function partsOf(cell: Cell): DateParts | "empty" | undefined {
  if (typeof cell === "string") return partsOfDate(cell);
  if (cell.kind === "date") return partsOfDate(cell.text);
  // A number that is no date may be the number of a day, as spreadsheets count them, or anything else.
  return cell.kind === "number" && /^(?:19|20|21)\d{6}$/.test(cell.text)
    ? partsOfDate(cell.text)
    : undefined;
}

function notDate(cell: Cell, parts: DateParts | "empty" | undefined, order: DateOrder): string {
  if (typeof cell !== "string" && cell.kind === "number")
    return `${shown(cell)} is a number, not a date. Give the column a date format in the spreadsheet.`;
  const isOther =
    parts &&
    parts !== "empty" &&
    ordersOf(parts).some((other) => other !== order && spanOf(parts, "UTC", other));
  const why = isOther ? ` if the column has the ${order.replace("-", " ")}` : "";
  return `${shown(cell)} is not a date${why}. Examples: 2026-11-20 10:30, 20/11/2026.`;
}

function ordersOf({ day }: DateParts): readonly DateOrder[] {
  if ("year" in day) return ["day-first"];
  return day.numbers[2].length === 4 ? ["day-first", "month-first"] : dateOrders;
}

function spanOf(
  { day, weekday, time, zone: named }: DateParts,
  zone: string,
  order: DateOrder,
): Span | undefined {
  const [year, month, date] = "year" in day ? [day.year, day.month, day.date] : inOrder(day, order);
  const dayMs = Date.UTC(year, month - 1, date);
  const shownDay = new Date(dayMs);
  // Date.UTC reads 30 February as 2 March.
  const isShown = shownDay.getUTCMonth() === month - 1;
  if (!isShown || year < 1900 || year > 2199) return undefined;
  if (weekday !== undefined && shownDay.getUTCDay() !== weekday) return undefined;
  const fromMs = dayMs + (time?.ms ?? 0);
  const when = momentsIn(named, zone);
  return when && { fromMs: when(fromMs), toMs: when(fromMs + (time?.lengthMs ?? 86_400_000)) - 1 };
}

function inOrder({ numbers }: DayNumbers, order: DateOrder): [number, number, number] {
  const [first, second, third] = numbers;
  // With a year of four digits behind, the first number is no year.
  if (order === "year-first")
    return [third.length === 2 ? Number(fullYear(first)) : 0, Number(second), Number(third)];
  return order === "month-first"
    ? [Number(fullYear(third)), Number(first), Number(second)]
    : [Number(fullYear(third)), Number(second), Number(first)];
}

function momentsIn(
  named: DateParts["zone"],
  zone: string,
): ((clockMs: number) => number) | undefined {
  if (named === undefined) return (ms) => whenClockShows(zone, ms);
  if (typeof named === "number") return (ms) => ms - named * 60_000;
  return readTimeZone(named).ok ? (ms) => whenClockShows(named, ms) : undefined;
}

/** Which number of a column's dates is the day. */
export interface FoundOrder {
  order: DateOrder;
  /** False if another order is possible too, or if none is. */
  isDecided: boolean;
  /** The other ones that are possible. */
  others: DateOrder[];
  /** The first date whose order matters. */
  example: string | undefined;
}

/** Sees the dates of a whole column: one with a number above 12 decides for all. */
export class DateColumn {
  #example: string | undefined;
  #hasDayFirst = false;
  #hasMonthFirst = false;
  #hasFourDigits = false;
  readonly #firsts = new Set<number>();
  readonly #thirds = new Set<number>();

  see(cell: Cell): void {
    const parts = partsOf(cell);
    if (parts === undefined || parts === "empty" || "year" in parts.day) return;
    const { numbers, text } = parts.day;
    const [first, second, third] = numbers.map(Number);
    this.#example ??= text;
    this.#hasDayFirst ||= Number(first) > 12;
    this.#hasMonthFirst ||= Number(second) > 12;
    this.#hasFourDigits ||= numbers[2].length === 4;
    if (numbers[2].length === 2) {
      this.#firsts.add(Number(first));
      this.#thirds.add(Number(third));
    }
  }

  /** Day first if nothing decides. */
  get found(): FoundOrder {
    const example = this.#example;
    const [firsts, thirds] = [[...this.#firsts], [...this.#thirds]];
    const isMonth = this.#hasMonthFirst && !this.#hasDayFirst;
    const mayBeYearFirst =
      !this.#hasFourDigits && !this.#hasMonthFirst && firsts.length > 0 && thirds.every(isDay);
    if (mayBeYearFirst && !firsts.every(isDay))
      return { order: "year-first", isDecided: true, others: [], example };
    const isYearLast = !mayBeYearFirst || (areYears(thirds) && !areYears(firsts));
    const isYearFirst = mayBeYearFirst && areYears(firsts) && !areYears(thirds);
    const isDecided = this.#hasDayFirst !== this.#hasMonthFirst && isYearLast;
    const order = isYearFirst ? "year-first" : isMonth ? "month-first" : "day-first";
    const possible: DateOrder[] = [
      ...(this.#hasMonthFirst ? [] : (["day-first"] as const)),
      ...(this.#hasDayFirst ? [] : (["month-first"] as const)),
      ...(isYearLast ? [] : (["year-first"] as const)),
    ];
    const others = possible.filter((one) => one !== order);
    return { order, isDecided: isDecided || example === undefined, others, example };
  }
}

function isDay(number: number): boolean {
  return number >= 1 && number <= 31;
}

/** No table is older than 2015. */
function areYears(numbers: number[]): boolean {
  return numbers.every((one) => one >= 15 && one < 70);
}
