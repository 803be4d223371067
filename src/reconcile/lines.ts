import { magnitude, type Paisa } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { mobilesIn } from "../domain/mobile.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import type { Resource } from "../domain/statuses.ts";
import { counted } from "../domain/text.ts";
import type { DecimalMark } from "../tables/amount.ts";
import { currencyOfHeading, otherCurrencyOf } from "../tables/currency.ts";
import { readDate } from "../tables/date.ts";
import { type Direction, directionAmong, directionIn } from "../tables/direction.ts";
import { isSameHeading } from "../tables/heading.ts";
import { hasFeeWord, isFeeLabel, kindIn, statusIn } from "../tables/kind.ts";
import { isOneWord, mentionsIn } from "../tables/mentions.ts";
import { certainOf } from "../tables/reading.ts";
import { createBalanceRows, type End } from "./balance-rows.ts";
import { otherMoney, readPaisa } from "./certain.ts";
import {
  type ColumnMapping,
  ignoring,
  orderIn,
  type Read,
  readAs,
  requireColumns,
  type StatementField,
} from "./fields.ts";
import { createOtherRows, createSkipped, type Skipped, withoutEmptyEnd } from "./other-rows.ts";
import type { StatementRow, StatementTable } from "./table.ts";
import { createDirectionCheck, createWordReader, type DirectionWords } from "./words.ts";

/** A line of a statement, as far as its columns are known. */
export interface Line {
  line: number;
  id: string | null;
  reference: string | null;
  /** The provider's own ID of the line, which no operation has. */
  lineId: string | null;
  /** The IDs and references that its texts may name, if no column has them. */
  mentions: string[];
  /** As it is written, and the moments that it means. */
  date: string | null;
  span: { fromMs: number; toMs: number } | null;
  kind: Resource | "fee" | null;
  /** Without its sign. Null for a line that has only a balance. */
  amountPaisa: Paisa | null;
  /** With its sign, for a statement that shows one. */
  movementPaisa: Paisa | null;
  feePaisa: Paisa | null;
  balancePaisa: Paisa | null;
  /** Which balance of the statement it is, by its words. Only of a line that has no amount. */
  end?: End | undefined;
  /** As the statement has it if it is not BDT. */
  currency: string | null;
  /** The API's status, or the word of the statement if that means none of them. */
  status: string | null;
  recipient: string | null;
  /** Mobile numbers in its texts, which may be those of others. */
  numbers: string[];
  /** True if a text has a word of fees: then an amount below that of its operation is a fee. */
  hasFeeWord?: boolean;
  /** The words that show its direction, in a file without signs. */
  words?: DirectionWords | undefined;
}

/** The lines of a statement. All cells were read once, and can be read. */
export interface Lines {
  /** From the first to the last moment of the dates; undefined without dates. */
  span: { fromMs: number; toMs: number } | undefined;
  /** Undefined if the dates do not show it. */
  isNewestFirst: boolean | undefined;
  /** The debits with another sign than most: their first line, and how many more there are. */
  oddDebits: { line: number; others: number; isBelowZero: boolean } | undefined;
  /** The rows that are no lines. */
  skipped: Skipped;
  /** Lines that are hidden in the workbook: they are read. */
  hidden: { count: number; paisa: Paisa };
  /** Reads the file again, so that long statements are not in memory. */
  pages(): AsyncIterable<Line[]>;
}

/**
 * Reads the lines of a statement.
 *
 * @throws Failure `usage` that names every cell that cannot be read: nothing is guessed
 */
export async function readLines(
  table: StatementTable,
  mapping: ColumnMapping[],
  zone: string,
): Promise<Lines> {
  requireColumns(table, mapping);
  const problems: string[] = [];
  let more = 0;
  const report = (problem: string) => {
    if (problems.length < mostProblems) problems.push(problem);
    else more += 1;
  };
  const skipped = createSkipped(table.above);
  const read = createLineReader(table, mapping, zone, report, skipped);
  const signs = createSigns();
  const hidden = { count: 0, paisa: 0n };
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [firstMs, lastMs]: (number | undefined)[] = [];
  for await (const page of table.pages())
    for (const one of page.flatMap(read)) {
      const { span } = one.line;
      signs.add(one);
      if (one.isHidden) {
        hidden.count += 1;
        hidden.paisa += magnitude(one.amountPaisa ?? one.debitPaisa ?? one.creditPaisa ?? 0n);
      }
      if (!span) continue;
      firstMs ??= span.fromMs;
      lastMs = span.fromMs;
      fromMs = Math.min(fromMs, span.fromMs);
      toMs = Math.max(toMs, span.toMs);
    }
  for (const line of signs.withoutDirection())
    report(
      `${table.path}, line ${line} has an amount without a direction. ${ignoring(mapping, "direction")}`,
    );
  for (const problem of signs.unreadWords()) report(problem);
  if (more > 0) problems.push(`And ${counted(more, "more problem")}.`);
  if (problems.length > 0) throw usage(problems, "Correct the cells, then run the command again.");
  async function* pages() {
    const again = createLineReader(table, mapping, zone, report, createSkipped([]));
    for await (const page of table.pages()) yield page.flatMap(again).map(signs.lineOf);
  }
  return {
    span: firstMs === undefined ? undefined : { fromMs, toMs },
    isNewestFirst: firstMs === lastMs ? undefined : (firstMs ?? 0) > (lastMs ?? 0),
    oddDebits: signs.oddDebits(),
    skipped: skipped.found,
    hidden,
    pages,
  };
}

/** A line whose direction depends on the other lines of the file. */
interface ReadLine {
  isHidden: boolean | undefined;
  /** True if its text names only a fee. */
  isFee: boolean;
  line: Omit<Line, "amountPaisa" | "movementPaisa">;
  /** An amount that is not known to be a debit or a credit. */
  amountPaisa: Paisa | null;
  /** By its column or by its word. */
  debitPaisa: Paisa | null;
  creditPaisa: Paisa | null;
  /** Words among others. Signs of the file say more. */
  words: DirectionWords | undefined;
  /** The problem of such words in a column that is not read. */
  unreadWords: string | undefined;
  /** True if the file has a column of directions, and this line has none. */
  lacksDirection: boolean;
}

/** What the signs of all amounts of a file mean. */
function createSigns() {
  let isSigned = false;
  const debits = { above: 0, below: 0 };
  const first: { above?: number; below?: number } = {};
  const without: number[] = [];
  const unreadWords: string[] = [];
  return {
    add({ line, amountPaisa, debitPaisa, lacksDirection, ...one }: ReadLine): void {
      isSigned ||= (amountPaisa ?? 0n) < 0n;
      if (debitPaisa) {
        const side = debitPaisa > 0n ? "above" : "below";
        debits[side] += 1;
        first[side] ??= line.line;
      }
      if (lacksDirection && without.length <= mostProblems) without.push(line.line);
      if (one.unreadWords && unreadWords.length <= mostProblems) unreadWords.push(one.unreadWords);
    },

    /** The lines that show their direction neither by a word nor by a sign. */
    withoutDirection: (): number[] => (isSigned ? [] : without),
    unreadWords: (): string[] => (isSigned ? [] : unreadWords),

    oddDebits(): Lines["oddDebits"] {
      const isBelowZero = debits.below <= debits.above;
      const side = isBelowZero ? "below" : "above";
      const { [side]: line } = first;
      return line === undefined ? undefined : { line, others: debits[side] - 1, isBelowZero };
    },

    lineOf({ line, amountPaisa, debitPaisa, creditPaisa, words, isFee }: ReadLine): Line {
      // Some statements write all debits below zero. A debit with another sign than most is one that came back.
      const debit = debits.below > debits.above ? -(debitPaisa ?? 0n) : (debitPaisa ?? 0n);
      // A line with only a balance may have an amount of zero.
      const moved = (amountPaisa ?? (creditPaisa ?? 0n) - debit) || null;
      // Without any sign in the whole file, the direction follows from what a line is.
      const shown = amountPaisa === null || isSigned ? undefined : words;
      const hasDirection = amountPaisa === null || isSigned || shown?.direction !== undefined;
      const isOut = shown?.direction === "out";
      const movement = isOut && moved !== null ? -moved : moved;
      const arrives = hasDirection && (movement ?? 0n) > 0n;
      return {
        ...line,
        kind: line.kind ?? (isFee && !arrives ? "fee" : null),
        amountPaisa: moved === null ? null : magnitude(moved),
        movementPaisa: hasDirection ? movement : null,
        words: shown,
      };
    },
  };
}

type CellReader<Value> = (cell: string) => Result<Value | undefined>;

/** Reads a record. What cannot be read is reported. */
function createLineReader(
  table: StatementTable,
  mapping: ColumnMapping[],
  zone: string,
  report: (problem: string) => void,
  skipped: ReturnType<typeof createSkipped>,
) {
  const { path, header, currency: currencyOfFile } = table;
  const places = new Map(
    mapping.map((one) => [
      readAs(one),
      header.findIndex((name) => isSameHeading(name, one.column)),
    ]),
  );
  const marks = new Map(mapping.map((one) => [readAs(one), one.mark]));
  const isUndirected = places.has("amount") && !places.has("direction");
  const words = createWordReader(table, isUndirected ? mapping : undefined);
  const contradictions = createDirectionCheck(table, mapping);
  const dates = { zone, order: orderIn(mapping) ?? "day-first" };
  const currencies = currenciesOf(header, places);
  const namesIn = createNames(header, mapping);
  const other = createOtherRows(header, places, skipped);
  const balances = createBalanceRows(places, skipped);
  return (record: StatementRow): ReadLine[] => {
    const { line, isHidden } = record;
    const at = `${path}, line ${line}`;
    const filled = withoutEmptyEnd(record.cells, header.length);
    if (other.isNoLine({ line, cells: filled })) return [];
    if (filled.length !== header.length) {
      report(`${at} has ${counted(filled.length, "cell")}, but the header has ${header.length}.`);
      return [];
    }
    const { cells, end } = balances.cellsOf({ line, cells: filled });
    const { text, read, money, hasMoney, paisa, currencyOfLine } = cellsOf({
      ...{ at, cells, header, places, marks, currencyOfFile, report },
    });
    const [debit, credit] = [paisa("debit"), paisa("credit")];
    const [amount, fee] = [paisa("amount"), paisa("fee")];
    if (other.isTotal({ line, cells }, { debit, credit, amount, fee })) return [];
    if (debit && credit) report(`${at} has a debit and a credit.`);
    const { isFee, ...named } = namesIn(cells);
    const kind = kindIn(text("type") ?? "") ?? null;
    // A word such as Credit among types shows that money came back.
    const direction = places.has("direction")
      ? read("direction", (cell) => readDirection(cell, mapping))
      : directionIn(text("type") ?? "");
    if (direction && amount)
      for (const problem of contradictions(cells, direction)) report(`${at}: ${problem}`);
    if (amount !== null && amount < 0n && direction === "in")
      report(`${at} has an amount below zero, but its direction is in.`);
    const isNamed = text("id") !== null || text("reference") !== null;
    const isEmpty = (["amount", "debit", "credit"] as const).map(money).every(isEmptyAmount);
    if (isNamed && isEmpty) report(`${at} has no amount.`);
    const foreign = currencies.find(({ field }) => hasMoney(field))?.currency;
    return [
      {
        line: {
          line,
          id: text("id"),
          reference: text("reference"),
          lineId: text("line-id"),
          ...named,
          date: text("date"),
          span: read("date", (cell) => certainOf(readDate(cell, dates))),
          kind,
          feePaisa: fee,
          balancePaisa: read("balance", (cell) => readPaisa(cell, marks.get("balance"))),
          end,
          currency: currencyOfLine() ?? foreign ?? null,
          status: statusIn(text("status") ?? "") ?? text("status"),
          recipient: text("recipient"),
        },
        ...{ isHidden, isFee },
        amountPaisa: direction ? null : amount,
        words: words.shownBy(cells),
        unreadWords: isNamed && amount ? words.unreadIn({ line, cells }) : undefined,
        debitPaisa: direction === "out" ? amount : debit,
        creditPaisa: direction === "in" ? amount : credit,
        lacksDirection:
          places.has("direction") && text("direction") === null && !!amount && kind !== "fee",
      },
    ];
  };
}

interface Cells {
  /** Where they are, for problems. */
  at: string;
  cells: string[];
  header: string[];
  places: Map<string, number>;
  marks: Map<string, DecimalMark | undefined>;
  currencyOfFile: string | undefined;
  report(problem: string): void;
}

/** The cells of a line by their fields. */
function cellsOf({ at, cells, header, places, marks, currencyOfFile, report }: Cells) {
  let currency: string | undefined;
  const text = (field: Read) => cells[places.get(field) ?? -1] || null;
  const read = <Value>(field: Read, reader: CellReader<Value>): Value | null => {
    const cell = text(field);
    const reading = cell === null ? undefined : reader(cell);
    if (reading?.ok === false)
      report(`${at}, ${header[places.get(field) ?? -1]}: ${reading.problem}`);
    return reading?.ok ? (reading.value ?? null) : null;
  };
  const money = (field: Read) => {
    const cell = text(field);
    return cell === null ? undefined : readPaisa(cell, marks.get(field));
  };
  const hasMoney = (field: Read) => {
    const found = money(field);
    return found?.ok === true && !!found.value;
  };
  /** An amount in another currency counts as read: the line differs. */
  const paisa = (field: Read): Paisa | null => {
    const mark = marks.get(field);
    const other = otherMoney(text(field) ?? "", mark);
    currency ??= other?.currency;
    return other ? other.paisa : read(field, (cell) => readPaisa(cell, mark));
  };
  const named = text("currency");
  const currencyOfLine = () =>
    currency ?? (named === null ? currencyOfFile : otherCurrencyOf(named));
  return { text, read, money, hasMoney, paisa, currencyOfLine };
}

/** A dash too. */
function isEmptyAmount(money: Result<Paisa | undefined> | undefined): boolean {
  return money === undefined || (money.ok && money.value === undefined);
}

/** Names, numbers and words of fees in the texts of a line. Names count only if its ID and reference are no single words. */
function createNames(header: string[], mapping: ColumnMapping[]) {
  const placesOf = (...fields: StatementField[]) =>
    mapping
      .filter(({ field }) => fields.includes(field))
      .map(({ column }) => header.findIndex((name) => isSameHeading(name, column)));
  const [names, texts] = [placesOf("id", "reference"), placesOf("type", "narration")];
  return (cells: string[]) => {
    const named = names.flatMap((place) => cells[place] || []);
    const all = [...named, ...texts.map((place) => cells[place] ?? "")];
    const text = all.join("\n");
    const numbers = mobilesIn(text);
    return {
      mentions: named.some(isOneWord) ? [] : mentionsIn(text),
      numbers,
      hasFeeWord: hasFeeWord(text),
      isFee: numbers.length === 0 && all.some(isFeeLabel),
    };
  };
}

function readDirection(cell: string, mapping: ColumnMapping[]): Result<Direction> {
  const direction = directionIn(cell) ?? directionAmong(cell);
  const problem = `${quoted(cell)} is not a direction. Examples: Dr, Cr, Debit, Credit, In, Out. ${ignoring(mapping, "direction")}`;
  return direction ? ok(direction) : err(problem);
}

/** The columns whose headings name another currency. */
function currenciesOf(header: string[], places: Map<string, number>) {
  return (["amount", "debit", "credit", "fee", "balance"] as const).flatMap((field) => {
    const currency = currencyOfHeading(header[places.get(field) ?? -1] ?? "");
    return currency === undefined ? [] : [{ field, currency }];
  });
}

const mostProblems = 20;
