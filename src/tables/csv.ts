import type { TableRow } from "./cell.ts";
import { createCsvParser } from "./csv-parser.ts";

/** The file cannot be read from this line on; the rows before it are read all the same. */
export class Unreadable extends Error {
  readonly line: number;

  /** @param message one sentence that says what is wrong, and what would be right */
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads a CSV text (RFC 4180) piece by piece, up to a misplaced quote or an invalid character: a wrong character in
 * a name is a wrong name, and another encoding may hide a digit. Blank rows, which spreadsheets write at the end,
 * and a first line such as `sep=;` are skipped.
 *
 * @throws Unreadable after the last row that can be read
 */
export async function* csvPages(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<TableRow[]> {
  const parser = createCsvParser(delimiter, longestRow);
  for await (const piece of text) {
    const [valid = "", ...invalid] = piece.split("\ufffd", 2);
    yield parser.read(valid).filter(isContent);
    if (parser.problem()) break;
    if (invalid.length > 0)
      throw new Unreadable(
        parser.lastLine(),
        `There is a character here that is not UTF-8. ${saveAs}`,
      );
  }
  yield parser.end().filter(isContent);
  const problem = parser.problem();
  if (problem) throw new Unreadable(problem.line, whatIsWrong(problem));
}

const saveAs = "In Excel save the file as 'CSV UTF-8 (Comma delimited)'.";

/** A row of a table has some hundred characters; a longer one has a quote that is never closed. */
const longestRow = 64 * 1024;

function whatIsWrong({ kind, line }: { kind: string; line: number }): string {
  const hint = line === 1 ? " If its cells have another delimiter, add --delimiter." : "";
  if (kind === "not-closed") return `A quote is opened here and never closed.${hint}`;
  if (kind === "too-long")
    return `This row is longer than ${longestRow} characters. Probably a quote is opened here and never closed.${hint}`;
  return `There is a quote inside a cell. Put the cell in quotes and double the quotes in it: "a ""b"" c". Replace a formula such as ="01712345678" by 01712345678.${hint}`;
}

function isContent({ line, cells }: TableRow): boolean {
  const isBlank = cells.every((cell) => typeof cell === "string" && cell.trim() === "");
  return !isBlank && !(line === 1 && /^sep=.?$/i.test(cells.filter(Boolean).join("")));
}

/** Each delimiter by its name. The first one is used if nothing shows another. */
export const delimiters = new Map([
  ["comma", ","],
  ["semicolon", ";"],
  ["tab", "\t"],
]);

const sampled = { characters: 16 * 1024, rows: 50 };

/**
 * The delimiter that a first line such as `sep=;` names; otherwise the one by which most of the first rows have the
 * same number of cells, and more than one.
 *
 * @param text the beginning of a file
 */
export function detectDelimiter(text: string): string {
  const beginning = text.slice(0, sampled.characters);
  const named = /^"?sep=([^"\r\n])"?[\r\n]/i.exec(beginning)?.[1];
  if (named !== undefined) return named;
  let best = { delimiter: ",", rows: 0, cells: 0 };
  for (const delimiter of delimiters.values()) {
    const { rows, cells } = agreement(beginning, delimiter);
    if (rows > best.rows || (rows === best.rows && cells > best.cells))
      best = { delimiter, rows, cells };
  }
  return best.delimiter;
}

/** How many of the first rows have the number of cells that most of them have. */
function agreement(beginning: string, delimiter: string): { rows: number; cells: number } {
  const none = { rows: 0, cells: 0 };
  // Commas that are only in numbers, as in 1,250.50 or in 12,50, divide no cells if there is another delimiter.
  const isInNumbers = delimiter === "," && !/(?:^|\D),|,(?:\D|$)/.test(beginning);
  if (isInNumbers && /[;\t]/.test(beginning)) return none;
  const parser = createCsvParser(delimiter, longestRow);
  const rows = parser.read(beginning);
  // The last row may be cut, unless the file ends here.
  if (beginning.length < sampled.characters) rows.push(...parser.end());
  const counts = new Map<number, number>();
  for (const { cells } of rows.filter(isContent).slice(0, sampled.rows))
    if (cells.length > 1) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  return [...counts].reduce(
    (best, [cells, rows]) =>
      rows > best.rows || (rows === best.rows && cells > best.cells) ? { rows, cells } : best,
    none,
  );
}
