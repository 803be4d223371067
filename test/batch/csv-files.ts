import fc from "fast-check";
import type { TableRow } from "../../src/tables/cell.ts";
import { csvPages } from "../../src/tables/csv.ts";

/** How a CSV text is written; each cell and each line may have its own way. */
export interface Style {
  delimiter: string;
  /** The line ends, used in turn. */
  ends: string[];
  /** Whether a cell that needs no quotes gets them, in turn. */
  quotes: boolean[];
  /** Whether the last line has an end. */
  isEnded: boolean;
}

export interface ReadRecord {
  line: number;
  cells: string[];
}

/** Writes a table without any help of what is tested; also the line on which each record begins. */
export function writtenCsv(table: string[][], style: Style): { text: string; lines: number[] } {
  const { delimiter, ends, quotes, isEnded } = style;
  let text = "";
  let cellNumber = 0;
  const starts: number[] = [];
  for (const [index, cells] of table.entries()) {
    starts.push(text.length);
    const written = cells.map((cell) => {
      cellNumber += 1;
      const isQuoted = quotes[cellNumber % quotes.length] || needsQuotes(cell, delimiter);
      return isQuoted ? `"${cell.split('"').join('""')}"` : cell;
    });
    const isLast = index === table.length - 1;
    text += written.join(delimiter) + (isLast && !isEnded ? "" : ends[index % ends.length]);
  }
  return { text, lines: starts.map((start) => lineOf(text, start)) };
}

function needsQuotes(cell: string, delimiter: string): boolean {
  return ['"', "\r", "\n", delimiter].some((character) => cell.includes(character));
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split(/\r\n|\r|\n/).length;
}

/**
 * Reads a CSV text as RFC 4180 has it and not a bit more liberally, cell by cell; a fault ends it.
 * Blank records are omitted.
 */
export function strictlyRead(
  text: string,
  delimiter: string,
): { records: ReadRecord[]; isWhole: boolean } {
  const part = delimiter === "\t" ? "\\t" : delimiter;
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"|([^"${part}\\r\\n]*))(${part}|\\r\\n|\\r|\\n|$)`,
    "y",
  );
  const records: ReadRecord[] = [];
  let cells: string[] = [];
  let start = 0;
  for (let position = 0; position < text.length || cells.length > 0; ) {
    cell.lastIndex = position;
    const found = cell.exec(text);
    if (!found) return { records, isWhole: false };
    const [all, quoted, plain = "", end] = found;
    cells.push(quoted === undefined ? plain : quoted.split('""').join('"'));
    position += all.length;
    if (end === delimiter) continue;
    if (cells.some((one) => one.trim() !== "")) records.push({ line: lineOf(text, start), cells });
    cells = [];
    start = position;
  }
  return { records, isWhole: true };
}

/** Whole paisa, or undefined: the rule of an amount, written down a second time. */
export function strictPaisa(text: string): bigint | undefined {
  const [taka = "", paisa = "0", ...more] = text.split(".");
  const isPlain = (digits: string) => [...digits].every((one) => "0123456789".includes(one));
  if (more.length > 0 || !isPlain(taka) || !isPlain(paisa)) return undefined;
  if (taka === "" || taka.length > 12 || (taka.length > 1 && taka.startsWith("0")))
    return undefined;
  if (paisa === "" || paisa.length > 2) return undefined;
  const value = BigInt(taka) * 100n + BigInt(paisa.length === 1 ? `${paisa}0` : paisa);
  const isCut = text.includes(".") ? text.split(".")[1] === "" : false;
  return value > 0n && !isCut ? value : undefined;
}

/** A mobile number as `01XXXXXXXXX`, or undefined. */
export function strictMobile(text: string): string | undefined {
  const digits = [...text].filter((one) => one !== " " && one !== "-").join("");
  for (const start of ["+880", "880", "0"]) {
    const rest = digits.slice(start.length);
    const fits = digits.startsWith(start) && rest.length === 10 && rest.startsWith("1");
    if (fits && [...rest].every((one) => "0123456789".includes(one))) return `0${rest}`;
  }
  return undefined;
}

/** Any valid texts, with many of the characters that mean something to CSV. U+FFFD stands for an invalid one. */
export const anyTable = fc.array(
  fc.array(
    fc.string({
      unit: fc.oneof(fc.constantFrom('"', ",", ";", "\t", "\r", "\n", " ", "0"), binaryUnit()),
      maxLength: 8,
    }),
    { minLength: 1, maxLength: 5 },
  ),
  { maxLength: 8 },
);

function binaryUnit() {
  return fc
    .string({ unit: "binary", minLength: 1, maxLength: 1 })
    .filter((unit) => unit !== "\ufffd");
}

export function anyStyle(delimiters: string[]): fc.Arbitrary<Style> {
  return fc.record({
    delimiter: fc.constantFrom(...delimiters),
    ends: fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 1, maxLength: 3 }),
    quotes: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    isEnded: fc.boolean(),
  });
}

/** A payout as a person means it, and the cells in which it is written down. */
interface Meant {
  paisa: bigint;
  mobile: string;
  cells: string[];
}

const written = fc.record({
  taka: fc.bigInt({ min: 0n, max: 999_999_999_999n }),
  paisa: fc.constantFrom("", ".5", ".05", ".50", ".99"),
  // A number that ends in zeros may be a rounded one.
  subscriber: fc.nat(99_999_999).map((one) => (one % 100_000 === 0 ? one + 1 : one)),
  mobile: fc.constantFrom("01R", "+8801R", "8801R", "+880 1R", " 01R ", "0-1R"),
  operator: fc.constantFrom("7", "8", "9", "3"),
  method: fc.constantFrom("bkash", "nagad"),
  name: fc
    .string({
      unit: fc.constantFrom("a", "Z", " ", '"', ",", ";", "=", "'", "রহ", "é", "🎉", "\u200d"),
      maxLength: 12,
    })
    // An export puts the apostrophe there, so it is taken away when the file is read.
    .filter((name) => !/^'+=/.test(name)),
});

const columnSets = [
  ["amount", "to"],
  ["ref", "amount", "to", "method", "name", "description"],
  ["description", "to", "amount", "merchantRef"],
  ["recipientName", "recipientNumber", "paymentMethodId", "amount"],
];

/** Files without any fault: the table with its header, and what it says. */
export const payoutTable = fc
  .tuple(fc.constantFrom(...columnSets), fc.array(written, { minLength: 1, maxLength: 6 }))
  .map(([columns, rows]) => {
    const payouts = rows.map((row, index): Meant => {
      const paisaText = row.taka === 0n && row.paisa === "" ? ".01" : row.paisa;
      const amount = `${row.taka}${paisaText}`;
      const rest = `${row.operator}${String(row.subscriber).padStart(8, "0")}`;
      const to = row.mobile.replace("R", rest);
      const cells = columns.map((column) => {
        if (column === "amount") return amount;
        if (column === "to" || column === "recipientNumber") return to;
        if (column === "ref" || column === "merchantRef") return `R-${index}_${row.subscriber}`;
        return column === "method" || column === "paymentMethodId" ? row.method : row.name;
      });
      const paisa = row.taka * 100n + BigInt(`${paisaText.slice(1)}00`.slice(0, 2));
      return { paisa, mobile: `01${rest}`, cells };
    });
    return { table: [columns, ...payouts.map(({ cells }) => cells)], payouts };
  });

const insertions = [
  ...[
    '"',
    '""',
    ",",
    ";",
    "\t",
    "\r",
    "\n",
    "\ufeff",
    "\u00a0",
    "\0",
    "'",
    "-",
    "0",
    "1",
    ".",
    "e",
  ],
  ...["১", "１", "٣", "E+11", "\u202e", "é", "\ufffd", ",,", '"\n"', " "],
].map((text) => Buffer.from(text));

const mutation = fc.record({
  kind: fc.constantFrom("flip", "byte", "insert", "remove", "cut", "swap", "repeat"),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  byte: fc.nat(255),
  insertion: fc.constantFrom(...insertions),
});

/** One to three damages to the bytes of a file. */
export const mutated = fc
  .array(mutation, { minLength: 1, maxLength: 3 })
  .map((mutations) => (bytes: Buffer) => mutations.reduce(damaged, bytes));

type Mutation = typeof mutation extends fc.Arbitrary<infer One> ? One : never;

function damaged(bytes: Buffer, { kind, at, byte, insertion }: Mutation): Buffer {
  const position = Math.floor(at * bytes.length);
  const [before, after] = [bytes.subarray(0, position), bytes.subarray(position)];
  const [here = 0] = after;
  const rest = after.subarray(1);
  const joined = (...parts: Uint8Array[]) => Buffer.concat(parts);
  if (kind === "flip") return joined(before, Buffer.of(here ^ (1 << (byte % 8))), rest);
  if (kind === "byte") return joined(before, Buffer.of(byte), rest);
  if (kind === "insert") return joined(before, insertion, after);
  if (kind === "remove") return joined(before, rest);
  if (kind === "cut") return before;
  if (kind === "repeat") return joined(before, after.subarray(0, 20), after);
  return Buffer.from(bytes.map((one) => (one === 0x2c ? 0x3b : one === 0x3b ? 0x2c : one)));
}

/** How a program writes a table into a file, as far as it matters to who reads it. */
export interface Export {
  program: string;
  delimiter: "," | ";" | "\t";
  /** What ends a line. */
  end: "\r\n" | "\n" | "\r";
  /** Whether the last line has an end as well. */
  isEnded: boolean;
  /** Which cells stand in quotes: those that must, all that are no numbers, or all. */
  quotes: "needed" | "texts" | "all";
  encoding: "utf8" | "utf8 with mark" | keyof typeof codePages;
}

/** As Excel writes it, but for what is given. */
export function exportOf(program: string, given: Partial<Export> = {}): Export {
  const usual = { delimiter: ",", end: "\r\n", isEnded: true, quotes: "needed" } as const;
  return { ...usual, encoding: "utf8", program, ...given };
}

const decimalComma = { delimiter: ";" } as const;
const unix = { end: "\n" } as const;

/** What programs write as UTF-8, or as ASCII if no name has an accent. */
export const utf8Exports: Export[] = [
  exportOf("Excel, CSV UTF-8", { encoding: "utf8 with mark" }),
  exportOf("Excel, decimal comma", { ...decimalComma, encoding: "utf8 with mark" }),
  exportOf("Excel for the web"),
  exportOf("LibreOffice", unix),
  exportOf("LibreOffice, all texts quoted", { ...unix, quotes: "texts" }),
  exportOf("LibreOffice, semicolons", { ...unix, ...decimalComma, quotes: "texts" }),
  exportOf("LibreOffice, tabs", { ...unix, delimiter: "\t" }),
  exportOf("Google Sheets", { isEnded: false }),
  exportOf("Numbers, decimal comma", { ...decimalComma, isEnded: false }),
  exportOf("pandas, everything quoted", { ...unix, quotes: "all" }),
  exportOf("PowerShell", { quotes: "all" }),
];

/** Where each of these characters is in encodings of one byte; all others become `?`. */
const codePages = {
  "windows-1252": { é: 0xe9, "\u00a0": 0xa0, "“": 0x93, "”": 0x94, "€": 0x80 },
  macroman: { é: 0x8e, "\u00a0": 0xca, "“": 0xd2, "”": 0xd3, "€": 0xdb },
  cp437: { é: 0x82, "\u00a0": 0xff },
};

export const narrowExports: Export[] = [
  exportOf("Excel, CSV", { encoding: "windows-1252" }),
  exportOf("Excel, CSV, decimal comma", { ...decimalComma, encoding: "windows-1252" }),
  exportOf("Excel, Text (tabs)", { delimiter: "\t", encoding: "windows-1252" }),
  exportOf("Excel, CSV (Macintosh)", { end: "\r", encoding: "macroman" }),
  exportOf("Excel, CSV (MS-DOS)", { encoding: "cp437" }),
];

export function exportedText(table: string[][], how: Export): string {
  const { delimiter, end, isEnded } = how;
  const lines = table.map((cells) => cells.map((cell) => exportedCell(cell, how)).join(delimiter));
  return lines.join(end) + (isEnded ? end : "");
}

export function exportedBytes(text: string, { encoding }: Export): Buffer {
  if (encoding === "utf8") return Buffer.from(text);
  if (encoding === "utf8 with mark") return Buffer.from(`\ufeff${text}`);
  const page = new Map<string, number>(Object.entries(codePages[encoding]));
  const byteOf = (character: string): number =>
    character <= "\x7f" ? character.charCodeAt(0) : (page.get(character) ?? 0x3f);
  return Buffer.from([...text].map(byteOf));
}

/** Whether a text comes out of the encoding as bytes that are no UTF-8. */
export function isForeign(text: string, { encoding }: Export): boolean {
  if (encoding === "utf8" || encoding === "utf8 with mark") return false;
  return Object.keys(codePages[encoding]).some((character) => text.includes(character));
}

function exportedCell(cell: string, { delimiter, quotes }: Export): string {
  const mustBe = /["\r\n]/.test(cell) || cell.includes(delimiter);
  const isText = !/^-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?$/.test(cell);
  const isQuoted = mustBe || quotes === "all" || (quotes === "texts" && isText);
  return isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** All records of a text, and why the rest of it cannot be read. */
export async function recordsIn(text: string, delimiter: string) {
  const records: TableRow[] = [];
  async function* pieces() {
    yield text;
  }
  try {
    for await (const page of csvPages(pieces(), delimiter)) records.push(...page);
    return { records, problem: undefined };
  } catch (problem) {
    return { records, problem };
  }
}
