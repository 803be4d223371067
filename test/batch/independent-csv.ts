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
 * Blank records are left out.
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
