import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { errorCode } from "../domain/error-code.ts";
import { Failure, usage } from "../domain/failure.ts";

/** One record of a file: its cells as texts, whatever they look like. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  line: number;
  cells: string[];
}

/** The file cannot be read from this line on; the problems before it are reported all the same. */
export class Unreadable extends Error {
  readonly line: number;

  /** @param message one sentence that says what is wrong, and what would be right */
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A row of payouts has some hundred characters; a longer one has a quote that is never closed. */
const longestRecord = 64 * 1024;

/**
 * The SHA-256 of a file's bytes, in hexadecimal.
 *
 * @throws Failure `usage` if there is no such file, or if it cannot be read twice
 */
export async function hashOf(path: string): Promise<string> {
  checkRegular(path);
  const hash = createHash("sha256");
  for await (const chunk of bytesOf(path)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * The text of a file, piece by piece. It must be UTF-8: a wrong character in a name is a wrong name, and
 * another encoding may hide a digit.
 *
 * @param expectedHash the file's SHA-256 when it was read first; a file that was changed since is another
 * @throws Unreadable with the line; Failure `usage` if the file changed
 */
export async function* textOf(path: string, expectedHash: string): AsyncIterable<string> {
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8");
  let line = 1;
  let before = "";
  let isFirst = true;
  for await (const chunk of bytesOf(path)) {
    if (isFirst) rejectOtherFormats(chunk);
    isFirst = false;
    hash.update(chunk);
    const text = decoder.decode(chunk, { stream: true });
    if (before.endsWith("\r") && text.startsWith("\n")) line -= 1; // one CRLF in two pieces
    // A character that is not UTF-8, or that an earlier program could not read, is U+FFFD.
    const [valid = ""] = text.split("\ufffd", 1);
    yield valid;
    line += lineBreaksIn(valid);
    if (valid !== text) throw notUtf8(line);
    before = text;
  }
  if (decoder.decode() !== "") throw notUtf8(line);
  if (hash.digest("hex") === expectedHash) return;
  throw usage([`${path} was changed while it was read.`], "Run the command again.");
}

/**
 * The records of a CSV text (RFC 4180), some thousands at a time, because waiting for each one costs more
 * than reading it. Blank records, which spreadsheets write at the end, are skipped.
 *
 * @throws Unreadable at a misplaced quote, after the records that come before
 */
export async function* recordsOf(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncIterable<CsvRecord[]> {
  const found: { cells: string[]; blankBefore: number }[] = [];
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    max_record_size: longestRecord,
    // A blank line that becomes a record costs as much as a row.
    skip_empty_lines: true,
    // A stream that fails drops the records that it has; these are safe from that.
    on_record: (cells: string[]) => {
      found.push({ cells, blankBefore: parser.info.empty_lines });
      // Otherwise the parser makes an error with its stack for each record of another length than the
      // first, and then ignores it.
      Object.assign(parser.info, { records: 0 });
      return undefined;
    },
  });
  parser.on("error", () => {}); // read from `errored` below, after the records before it
  // Without the blank lines, which the parser counts.
  let nextLine = 1;
  const newRecords = (): CsvRecord[] => {
    const records: CsvRecord[] = [];
    for (const { cells, blankBefore } of found.splice(0)) {
      const line = nextLine + blankBefore;
      if (cells.some((cell) => cell.trim() !== "")) records.push({ line, cells });
      nextLine += 1 + cells.reduce((breaks, cell) => breaks + lineBreaksIn(cell), 0);
    }
    return records;
  };
  const lineOfError = (): number => nextLine + parser.info.empty_lines;
  for await (const piece of text) {
    parser.write(piece);
    yield newRecords();
    if (parser.errored) throw unreadable(parser.errored, lineOfError());
  }
  parser.end();
  await finished(parser.resume()).catch(() => {});
  yield newRecords();
  if (parser.errored) throw unreadable(parser.errored, lineOfError());
}

/** As editors count them: CRLF, LF and CR each end a line. */
function lineBreaksIn(text: string): number {
  if (!text.includes("\n") && !text.includes("\r")) return 0;
  return text.match(/\r\n|[\r\n]/g)?.length ?? 0;
}

function unreadable(error: Error, line: number): Error {
  if (!(error instanceof CsvError)) return error;
  const hint = line === 1 ? " If its cells are not separated by commas, add --delimiter." : "";
  return new Unreadable(line, whatIsWrong(error.code) + hint);
}

function whatIsWrong(code: string): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "A quote is opened here and never closed.";
  if (code === "CSV_MAX_RECORD_SIZE")
    return `This row is longer than ${longestRecord} bytes. Is a quote opened here and never closed?`;
  if (code === "INVALID_OPENING_QUOTE" || code === "CSV_INVALID_CLOSING_QUOTE")
    return 'There is a quote inside a cell. Put the cell in quotes and double those within: "a ""b"" c". Of ="01712345678", as spreadsheets write it, remove =" and the last quote.';
  return `This is not a line of CSV (${code}).`;
}

function checkRegular(path: string): void {
  const found = statOf(path);
  const noPipe = "A batch is read twice, so it cannot come from a pipe: give it a file.";
  if (!found) throw usage([`The file ${path} does not exist.`], path === "-" ? noPipe : undefined);
  if (found.isDirectory()) throw usage([`${path} is a directory.`], "Name the CSV file in it.");
  if (!found.isFile()) throw usage([`${path} is not a regular file.`], noPipe);
}

function statOf(path: string) {
  try {
    return statSync(path); // with throwIfNoEntry: false, Node 22 and later hide ENOTDIR as well
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw unreadablePath(path, error);
  }
}

async function* bytesOf(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 32 * 1024 });
  } catch (error) {
    throw unreadablePath(path, error);
  }
}

function unreadablePath(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === undefined) return error;
  return new Failure("file.unreadable", `Cannot read ${path} (${code}).`, { cause: error });
}

/** A spreadsheet's own formats: an archive (.xlsx, .ods), or the older compound file (.xls). */
const workbooks = ["504b0304", "d0cf11e0"];
const saveAs = "In Excel save it as 'CSV UTF-8 (Comma delimited)'.";

function rejectOtherFormats(start: Uint8Array): void {
  if (workbooks.includes(Buffer.from(start.subarray(0, 4)).toString("hex")))
    throw new Unreadable(1, `This is a workbook, not a CSV file. ${saveAs}`);
  // By its mark, or by the zero bytes of every second character of a table.
  const [first = 0, second = 0] = start;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const beginning = start.subarray(0, 64);
  const hasZeros = beginning.filter((byte) => byte === 0).length > beginning.length / 3;
  if (isMarked || hasZeros) throw new Unreadable(1, `The file is UTF-16, not UTF-8. ${saveAs}`);
}

function notUtf8(line: number): Unreadable {
  const fix = saveAs.replace("it", "the file");
  return new Unreadable(line, `There is a character here that is not UTF-8. ${fix}`);
}
