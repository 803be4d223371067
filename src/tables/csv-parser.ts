import type { TableRow } from "./cell.ts";

/** Why a text is not CSV, and the line on which the row begins that is not. */
interface CsvProblem {
  kind: "misplaced-quote" | "not-closed" | "too-long";
  line: number;
}

type CsvRow = TableRow & { cells: string[] };

/**
 * Parses CSV (RFC 4180) in pieces. CRLF, LF and CR each end a row, and empty lines are no rows. A quote is allowed
 * around a whole cell only.
 *
 * @param longestRow in characters
 */
export function createCsvParser(delimiter: string, longestRow: number) {
  let rest = "";
  let line = 1;
  let problem: CsvProblem | undefined;

  /** @param isEnd true if nothing comes behind the text */
  function parse(text: string, isEnd: boolean): CsvRow[] {
    const rows: CsvRow[] = [];
    const next = createFinder(text);
    let at = 0;
    while (at < text.length && !problem) {
      const end = next.lineEnd(at);
      const isPlain = next.quote(at) >= end;
      const row = isPlain
        ? { cells: text.slice(at, end).split(delimiter), end }
        : quotedRow(text, at, delimiter);
      if (row === "misplaced-quote") {
        problem = { kind: row, line };
        break;
      }
      if (row === "incomplete" && isEnd) problem = { kind: "not-closed", line };
      // At the end of a piece, a row may continue, and CRLF may be divided.
      if (row === "incomplete" || (!isEnd && row.end >= text.length - 1)) break;
      if (row.end - at > longestRow) {
        problem = { kind: "too-long", line };
        break;
      }
      if (row.end > at) rows.push({ line, cells: row.cells });
      line += isPlain ? 1 : 1 + lineBreaksIn(text.slice(at, row.end));
      at = row.end + (text.startsWith("\r\n", row.end) ? 2 : 1);
    }
    rest = text.slice(at);
    if (!problem && rest.length > longestRow + 1) problem = { kind: "too-long", line };
    return rows;
  }

  return {
    read: (piece: string): CsvRow[] => (problem ? [] : parse(rest + piece, false)),
    /** The last row, which needs no line break. */
    end: (): CsvRow[] => (problem ? [] : parse(rest, true)),
    problem: () => problem,
    /** The line of the last character that was read. */
    lastLine: () => line + lineBreaksIn(rest),
  };
}

/** Finds the next of a character. What is not in the text is searched once. */
function createFinder(text: string) {
  const found = new Map<string, number>();
  const next = (character: string, from: number): number => {
    let at = found.get(character) ?? -1;
    if (at < from) {
      at = text.indexOf(character, from);
      if (at < 0) at = text.length;
      found.set(character, at);
    }
    return at;
  };
  return {
    quote: (from: number) => next('"', from),
    lineEnd: (from: number) => Math.min(next("\n", from), next("\r", from)),
  };
}

/** @returns the cells, and where the line ends */
function quotedRow(
  text: string,
  from: number,
  delimiter: string,
): { cells: string[]; end: number } | "incomplete" | "misplaced-quote" {
  const cells: string[] = [];
  for (let at = from; ; at += delimiter.length) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? closingQuote(text, at) + 1 : cellEnd(text, at, delimiter);
    if (isQuoted && end === 0) return "incomplete";
    const cell = text.slice(at, end);
    if (!isQuoted && cell.includes('"')) return "misplaced-quote";
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    at = end;
    if (at >= text.length || text[at] === "\n" || text[at] === "\r") return { cells, end: at };
    if (!text.startsWith(delimiter, at)) return "misplaced-quote";
  }
}

/** @returns -1 if the cell is not closed */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r")
    at += 1;
  return at;
}

/** As editors count them: CRLF, LF and CR each end a line. */
function lineBreaksIn(text: string): number {
  return text.match(/\r\n|[\r\n]/g)?.length ?? 0;
}
