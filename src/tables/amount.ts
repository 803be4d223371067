import type { Paisa } from "../domain/amount.ts";
import { isTaka } from "../domain/money.ts";
import { err, mapped, ok, type Result } from "../domain/result.ts";
import type { Cell, TypedCell } from "./cell.ts";
import { namesOtherCurrency } from "./currency.ts";
import { plainNumber, plainText, problemOfTyped, shown } from "./plain.ts";
import type { Reading } from "./reading.ts";

/** How a cell shows the sign of its amount. */
export type Sign =
  | "none"
  | "plus"
  | "minus"
  | "trailing-minus"
  | "brackets"
  | "debit" // Dr, below zero
  | "credit";

export interface Money {
  paisa: Paisa;
  sign: Sign;
}

/** An amount in another currency: an error that is read as far as it can be. */
export interface OtherCurrency {
  kind: "error";
  problem: string;
  currency: string;
  /** In hundredths of that currency. Absent if the number cannot be read. */
  money?: Money;
}

/** The mark before the decimals: of a column, never of one cell. */
export type DecimalMark = "point" | "comma";

/** Most cells: the rest of this file is only for the others. */
const ordinary =
  /^(-?)(0|[1-9]\d{0,11}|[1-9]\d{0,2}(?:(?:,\d{2}){0,4}|(?:,\d{3}){0,3}),\d{3})(?:\.(\d{1,2}))?$/;
/** No amount is longer, and some patterns take quadratic time. */
const longest = 100;

/** Reads an amount with its sign in paisa: `1,25,000.50`, `৳ ৫০০/-`, `(500.00)`, `50.00-`, `500 Dr`, `.50`. */
export function readMoney(cell: Cell, mark: DecimalMark = "point"): Reading<Money> | OtherCurrency {
  if (typeof cell !== "string") return readTyped(cell);
  const usual = mark === "point" ? readOrdinary(cell) : undefined;
  if (usual) return usual;
  const plain = plainNumber(cell);
  if (plain.length > longest) return { kind: "error", problem: notAmount(cell) };
  if (plain === "") return { kind: "empty" };
  if (plain.includes("%")) return { kind: "error", problem: percentage(cell) };
  const bare = mark === "point" ? plain.replace(usualMarks, "") : plain;
  const marked = bare === plain ? undefined : readOrdinary(bare);
  if (marked) return marked;
  const parts = partsOf(plain);
  if (parts && /^[-\u2014]+$/.test(parts.number)) return { kind: "empty" };
  const amount = parts && amountOf(parts, cell, mark);
  if (parts?.currency !== undefined) return otherCurrency(cell, parts.currency, amount);
  return amount ?? { kind: "error", problem: notAmount(cell) };
}

const usualMarks = /^(?:৳|BDT|Tk\.?) ?(?=\d)|\/[-=]$/gi;

function readOrdinary(text: string): Reading<Money> | undefined {
  const [whole, minus = "", taka = "", decimals = ""] = ordinary.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const paisa = BigInt(taka.replaceAll(",", "") + decimals.padEnd(2, "0"));
  return minus ? certain(-paisa, "minus") : certain(paisa, "none");
}

function certain(paisa: Paisa, sign: Sign): Reading<Money> {
  return { kind: "certain", value: { paisa, sign } };
}

function otherCurrency(
  cell: Cell,
  currency: string,
  amount: Reading<Money> | undefined,
): OtherCurrency {
  const unit = typeof cell === "string" ? "" : ` in ${currency}`;
  const problem = `${shown(cell)}${unit} is not in BDT, and amounts are in BDT. Enter the amount in BDT.`;
  const money = amount?.kind === "certain" ? { money: amount.value } : {};
  return { kind: "error", problem, currency, ...money };
}

/** A number that a spreadsheet stores as one. */
function readTyped(cell: TypedCell): Reading<Money> | OtherCurrency {
  const { kind, text, unit } = cell;
  const problem = problemOfTyped(cell);
  if (problem !== undefined) return { kind: "error", problem };
  const [, minus = "", taka = "", decimals = ""] = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? [];
  if (kind !== "number" || taka === "") return { kind: "error", problem: notAmount(cell) };
  if (unit === "%") return { kind: "error", problem: percentage(cell) };
  const paisa = mapped(exact(taka, decimals, cell), (one) => (minus ? -one : one));
  const amount: Reading<Money> = paisa.ok
    ? certain(paisa.value, minus ? "minus" : "none")
    : { kind: "error", problem: paisa.problem };
  return unit === undefined || isTaka(unit) ? amount : otherCurrency(cell, unit, amount);
}

/** A cell without the words and signs around its number. */
interface Parts {
  number: string;
  signs: Sign[];
  /** If it is not BDT. */
  currency?: string;
}

/** What may stand before or behind a number, and how each is read. */
const around = [
  /^(?<minus>-) ?(?=.)/,
  /^(?<plus>\+) ?/,
  /^(?<brackets>\() ?(?<inside>[^()]*) ?\)$/,
  /(?<=\d)(?<ending> ?\/[-=])$/,
  /(?<=\d) ?(?<trailing>-)$/,
  // In `BDT.50`, the point may begin the decimals; in `Tk.50`, it ends the word.
  /^\(?(?<word>\p{L}{0,3}\p{Sc}|tk\.|rs\.|\p{L}[\p{L}\p{M}]*(?!\.\d)\.?)\)? ?/iu,
  / ?\(?(?<word>\p{L}{0,3}\p{Sc}|\p{L}[\p{L}\p{M}.]*)\)?$/u,
];

const directions: [Sign, RegExp][] = [
  ["debit", /^(?:dr|db|debit|ডেবিট)\.?$/i],
  ["credit", /^(?:cr|credit|ক্রেডিট)\.?$/i],
];

/** Undefined if a word beside the number has no meaning for an amount. */
function partsOf(text: string): Parts | undefined {
  const parts: Parts = { number: text.trim(), signs: [] };
  for (;;) {
    if (/^[-\u2014]+$/.test(parts.number)) return parts;
    const found = around.map((one) => one.exec(parts.number)).find(Boolean);
    if (!found) return parts;
    const { minus, plus, brackets, inside = "", trailing, word } = found.groups ?? {};
    const rest =
      found.index === 0 ? parts.number.slice(found[0].length) : parts.number.slice(0, found.index);
    parts.number = (brackets ? inside : rest).trim();
    if (minus) parts.signs.push("minus");
    if (plus) parts.signs.push("plus");
    if (brackets) parts.signs.push("brackets");
    if (trailing) parts.signs.push("trailing-minus");
    if (word !== undefined && !addWord(word.normalize("NFC"), parts)) return undefined;
  }
}

function addWord(word: string, parts: Parts): boolean {
  const direction = directions.find(([, pattern]) => pattern.test(word))?.[0];
  if (direction) parts.signs.push(direction);
  else if (namesOtherCurrency(word)) parts.currency ??= word;
  else return isTaka(word) || isTaka(word.replace(/\.$/, "")) || /^only\.?$/i.test(word);
  return true;
}

function amountOf({ number, signs }: Parts, cell: Cell, mark: DecimalMark): Reading<Money> {
  const [sign = "none", second] = signs;
  if (second !== undefined) {
    const problem = `${shown(cell)} has two signs. Write one, for example -500.`;
    return { kind: "error", problem };
  }
  const reading = magnitudeOf(number, cell, mark);
  if (!reading.ok) return { kind: "error", problem: reading.problem };
  const { paisa, because } = reading.value;
  const isBelow = sign !== "none" && sign !== "plus" && sign !== "credit";
  const value = { paisa: isBelow ? -paisa : paisa, sign };
  return because === undefined ? { kind: "certain", value } : { kind: "probable", value, because };
}

function magnitudeOf(
  number: string,
  cell: Cell,
  mark: DecimalMark,
): Result<{ paisa: Paisa; because?: string }> {
  const pointed =
    mark === "point" ? number : number.replace(/[.,]/g, (one) => (one === "." ? "," : "."));
  const [, grouped = "", point = "", decimals = ""] =
    /^([\d, '’]*)(?:(\.)(\d+))?$/.exec(pointed) ?? [];
  const taka = ungrouped(grouped);
  if (grouped === "" && point === "") return err(notAmount(cell));
  if (taka === undefined) return err(badlyGrouped(pointed, cell));
  const isGrouped = taka !== grouped;
  if (/^01\d{9,10}$/.test(grouped) && decimals === "")
    return err(`${shown(cell)} looks like a mobile number, not an amount. Check the columns.`);
  if (decimals.length === 3 && !isGrouped) return err(twoMeanings(number, cell));
  const isOneComma = isGrouped && mark === "comma" && /^\d{1,3},\d{3}$/.test(pointed);
  if (isOneComma) return err(twoMeanings(number, cell));
  const noisy = roundedTo15(taka, decimals);
  if (noisy === undefined) return mapped(exact(taka, decimals, cell), (paisa) => ({ paisa }));
  const because = "a program wrote the decimals with an error of its arithmetic";
  return mapped(exact(noisy.taka, noisy.decimals, cell), (paisa) => ({ paisa, because }));
}

/** The digits, if any separator groups them as lakhs or thousands. */
function ungrouped(text: string): string | undefined {
  const separator = /[^\d]/.exec(text)?.[0];
  if (separator === undefined) return text.length <= 15 ? text : undefined;
  const [first = "", ...others] = text.split(separator);
  const [last, ...middle] = others.toReversed();
  const isSized = (size: number) => middle.every((one) => one.length === size);
  const digits = [first, ...others].join("");
  const isRight =
    /^[1-9]\d{0,2}$/.test(first) &&
    last?.length === 3 &&
    (isSized(2) || isSized(3)) &&
    /^\d{1,15}$/.test(digits);
  return isRight ? digits : undefined;
}

function exact(taka: string, decimals: string, cell: Cell): Result<Paisa> {
  if (/[1-9]/.test(decimals.slice(2)))
    return err(
      `${shown(cell)} has more than two decimals. Round it to paisa, for example 1250.50.`,
    );
  return ok(BigInt(taka + decimals.slice(0, 2).padEnd(2, "0")));
}

/** A number with more digits than floating-point arithmetic keeps, rounded to those that it keeps. */
function roundedTo15(
  taka: string,
  decimals: string,
): { taka: string; decimals: string } | undefined {
  const digits = (taka + decimals).replace(/^0+/, "");
  const cut = digits.length - 15;
  if (cut <= 0 || cut > decimals.length || !/[1-9]/.test(decimals.slice(2))) return undefined;
  const unit = 10n ** BigInt(cut);
  const size = decimals.length - cut;
  const rounded = String((BigInt(digits) + unit / 2n) / unit).padStart(size + 1, "0");
  return {
    taka: rounded.slice(0, rounded.length - size),
    decimals: rounded.slice(-size || rounded.length),
  };
}

function notAmount(cell: Cell): string {
  if (typeof cell === "string" && /^-?\d(?:\.\d+)?E\+?\d+$/i.test(plainText(cell)))
    return `A spreadsheet shortened the amount ${shown(cell)}. Write all of its digits.`;
  return `${shown(cell)} is not an amount. Examples: 1250.50, 1,25,000.50.`;
}

function percentage(cell: Cell): string {
  const unit = typeof cell === "string" ? "" : "%";
  return `${shown(cell)}${unit} is a percentage, not an amount. Enter the amount in BDT.`;
}

/** `125.500`: a person may have meant decimals, or a point between thousands. */
function twoMeanings(number: string, cell: Cell): string {
  const [before = "", behind = ""] = number.split(/[.,]/);
  return `${shown(cell)} may be ${before}.${behind.replace(/0$/, "")} or ${before}${behind}. Write it without a separator of thousands.`;
}

function badlyGrouped(number: string, cell: Cell): string {
  if (/^\d+,\d{1,2}$/.test(number))
    return `${shown(cell)} is not an amount. If the comma begins its decimals, write a point, for example 1250.50.`;
  return notAmount(cell);
}

/** Sees the amounts of a whole column: commas begin its decimals only if no amount can be one with a point. */
export class AmountColumn {
  #hasCommas = false;
  #hasPoints = false;

  see(cell: Cell): void {
    // One amount with a point decides for all.
    const comma = this.#hasPoints ? undefined : asComma(cell);
    if (!comma) return;
    const { kind } = readMoney(cell);
    const isPoint = kind === "certain" || kind === "probable";
    const isComma = comma.kind === "certain";
    this.#hasPoints = isPoint && !isComma;
    // A point between thousands alone decides nothing: 125.500 may be 125.50.
    this.#hasCommas ||= isComma && !isPoint && /,/.test(plainNumber(String(cell)));
  }

  get decimalMark(): DecimalMark {
    return this.#hasCommas && !this.#hasPoints ? "comma" : "point";
  }

  /** True if no other cell changes the mark. */
  get isDecided(): boolean {
    return this.#hasPoints;
  }
}

/** The reading with a comma before the decimals, of a cell for which the mark makes a difference. */
function asComma(cell: Cell): ReturnType<typeof readMoney> | undefined {
  return typeof cell === "string" && /[.,\uff0c\uff0e]/.test(cell)
    ? readMoney(cell, "comma")
    : undefined;
}
