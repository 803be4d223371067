import { hash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { CsvError, parse } from "csv-parse";
import { errorCode, systemReason } from "../domain/error-code.ts";
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

/** A file of payouts, read completely. */
export interface CsvFile {
  path: string;
  bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  hash: string;
}

/** @throws Failure `usage` if there is no such file, or if the file or one of its lines is too large */
export async function readCsvFile(path: string): Promise<CsvFile> {
  const pieces: Uint8Array[] = [];
  /** Of the last line so far. */
  let length = 0;
  for await (const piece of openBytes(path, ofBatch)()) {
    const breaks = lineBreaks.map((one) => piece.indexOf(one)).filter((at) => at >= 0);
    const lastBreak = Math.max(...lineBreaks.map((one) => piece.lastIndexOf(one)));
    const longest = length + Math.min(...breaks, piece.byteLength);
    // Before the rest of the line is in memory.
    if (longest > longestLine) throw tooLongLine(path, pieces);
    length = lastBreak < 0 ? longest : piece.byteLength - 1 - lastBreak;
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  return { path, bytes, hash: hash("sha256", bytes) };
}

const longestLine = 1024 * 1024;
/** LF and CR. */
const lineBreaks = [10, 13];

/** @param before the bytes before the end of the line, in pieces */
function tooLongLine(path: string, before: Uint8Array[]): Failure {
  const { line, message } = problemBefore(before);
  return usage(
    [`${path}, line ${line}: ${message}`],
    "Correct the file, then run the same command again.",
  );
}

/** The line that is too long; a workbook or UTF-16 has no lines. */
function problemBefore(pieces: Uint8Array[]): Pick<Unreadable, "line" | "message"> {
  let [line, end] = [1, ""];
  try {
    rejectOtherFormats(pieces[0] ?? Uint8Array.of());
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
  for (const piece of pieces) {
    const text = Buffer.from(piece).toString("latin1");
    line += lineBreaksIn(text) - Number(end === "\r" && text.startsWith("\n"));
    end = text.at(-1) ?? end;
  }
  return { line, message: "This line is longer than 1 MiB. A row of payouts is one short line." };
}

/** A file that is read from the disk each time, so that it is not in memory. */
export interface CsvText {
  path: string;
  /** @throws Failure as `readCsvFile`, and if the file was changed since it was first read; Unreadable as `textOf` */
  pieces(): AsyncIterable<string>;
}

export function openCsvFile(path: string, hints = ofBatch): CsvText {
  const bytes = openBytes(path, hints);
  async function* pieces() {
    const decoder = new TextDecoder();
    let isFirst = true;
    for await (const piece of bytes()) {
      if (isFirst) rejectOtherFormats(piece);
      isFirst = false;
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder.decode();
  }
  return { path, pieces };
}

/** Reads the bytes of a file, which must not change until it was last read. */
function openBytes(path: string, hints: typeof ofBatch): () => AsyncIterable<Uint8Array> {
  let found: Stats | undefined;
  return async function* () {
    try {
      found ??= await stat(path);
      if (found.isDirectory()) throw usage([`${path} is a directory.`], "Name the CSV file in it.");
      if (!found.isFile()) throw usage([`${path} is not a regular file.`], hints.pipe);
      if (found.size > largestFile) throw usage([`${path} is larger than 400 MB.`], hints.large);
      yield* createReadStream(path, { highWaterMark: pieceLength });
      const now = await stat(path);
      if (now.mtimeMs !== found.mtimeMs || now.size !== found.size)
        throw usage([`${path} was changed while it was read.`], "Run the command again.");
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      if (code === "ENOENT")
        throw usage(
          [`The file ${path} does not exist.`],
          path === "-" ? hints.pipe : hints.missing,
        );
      throw new Failure("file.unreadable", `Cannot read ${path}: ${systemReason(error)}.`, {
        hint: "Check the permissions of the file, then run the same command again.",
        cause: error,
      });
    }
  };
}

const largestFile = 400_000_000;
const ofBatch = {
  pipe: "A batch cannot be read from a pipe: save the rows in a file.",
  missing: "Check the path. 'lenden payout batch template <file>' creates a sample.",
  large: "Split the file, and send each part.",
};

/** @throws Unreadable if the file is not UTF-8 text; single invalid characters become U+FFFD */
export function textOf({ bytes }: Pick<CsvFile, "bytes">): string {
  rejectOtherFormats(bytes);
  return new TextDecoder().decode(bytes);
}

/**
 * Reads a CSV text (RFC 4180) piece by piece, up to a misplaced quote or an invalid character: a wrong
 * character in a name is a wrong name, and another encoding may hide a digit. Blank records, which
 * spreadsheets write at the end, are skipped.
 *
 * @throws Unreadable after the last record that can be read
 */
export async function* recordPages(
  text: string | AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord[]> {
  const reader = createRecordReader(delimiter);
  let [isCut, breaks, end] = [false, 0, ""];
  for await (const piece of typeof text === "string" ? piecesOf(text) : text) {
    const [valid = "", ...invalid] = piece.split("\ufffd");
    // CRLF may be divided by two pieces.
    breaks += lineBreaksIn(valid) - Number(end === "\r" && valid.startsWith("\n"));
    end = valid.at(-1) ?? end;
    isCut = invalid.length > 0;
    yield await reader.read(valid);
    if (isCut || reader.hasFailed()) break;
  }
  const { records, error, line } = await reader.end();
  isCut &&= error === undefined || error.code === quoteNotClosed;
  // What comes before the invalid character is the beginning of a record only.
  if (isCut && error === undefined && !/[\r\n]/.test(end)) records.pop();
  yield records;
  if (isCut) throw notUtf8(1 + breaks);
  if (error) throw notCsv(error, line);
}

function* piecesOf(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    // Both halves of a character are in one piece.
    const isSplit = /[\ud800-\udbff]/.test(text[at + pieceLength - 1] ?? "");
    const end = at + pieceLength + Number(isSplit);
    yield text.slice(at, end);
    at = end;
  }
}

/** A header is shorter. */
const mostOfHeader = 16 * 1024;

/**
 * The delimiter by which the first record of a text names the most columns, or has the most cells if it names
 * none.
 *
 * @param candidates the first one is returned if nothing shows another one
 */
export async function detectDelimiter(
  text: string,
  candidates: Iterable<string>,
  isColumn: (cell: string) => boolean,
): Promise<string> {
  let best = { delimiter: ",", named: -1, cells: 0 };
  for (const delimiter of candidates) {
    const cells = await firstCells(text.slice(0, mostOfHeader), delimiter);
    const named = cells.filter(isColumn).length;
    if (named > best.named || (named === best.named && cells.length > best.cells))
      best = { delimiter, named, cells: cells.length };
  }
  return best.delimiter;
}

async function firstCells(text: string, delimiter: string): Promise<string[]> {
  try {
    for await (const [first] of recordPages(text, delimiter)) if (first) return first.cells;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  return [];
}

/** Characters that are parsed at once; between two pieces, signals are handled. */
const pieceLength = 256 * 1024;

function createRecordReader(delimiter: string) {
  let found: CsvRecord[] = [];
  // Without the blank lines, which the parser counts.
  let nextLine = 1;
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    max_record_size: longestRecord,
    // A blank line that becomes a record costs as much as a row.
    skip_empty_lines: true,
    on_record: (cells: string[]) => {
      if (!isBlank(cells)) found.push({ line: nextLine + parser.info.empty_lines, cells });
      nextLine += 1 + cells.reduce((breaks, cell) => breaks + lineBreaksIn(cell), 0);
      // Otherwise the parser makes an error for each record of another length than the first, and then
      // ignores it: that takes longer than to read the record.
      Object.assign(parser.info, { records: 0 });
      return undefined;
    },
  });
  parser.on("error", () => {}); // read from `finished` below, after the records before it
  const taken = (): CsvRecord[] => {
    const records = found;
    found = [];
    return records;
  };
  return {
    hasFailed: () => parser.errored !== null,
    read: async (piece: string): Promise<CsvRecord[]> => {
      parser.write(piece);
      await setImmediate();
      return taken();
    },
    /** The rest of the records, the error if there is one, and the line on which it is. */
    end: async () => {
      parser.end();
      let error: CsvError | undefined;
      await finished(parser.resume()).catch((cause: unknown) => {
        if (!(cause instanceof CsvError)) throw cause;
        error = cause;
      });
      return { records: taken(), error, line: nextLine + parser.info.empty_lines };
    },
  };
}

function isBlank(cells: string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}

function notUtf8(line: number): Unreadable {
  return new Unreadable(line, `There is a character here that is not UTF-8. ${saveAs}`);
}

function notCsv({ code }: CsvError, line: number): Unreadable {
  const hint = line === 1 ? " If its cells have another delimiter, add --delimiter." : "";
  return new Unreadable(line, whatIsWrong(code) + hint);
}

const quoteNotClosed = "CSV_QUOTE_NOT_CLOSED";

function whatIsWrong(code: string): string {
  if (code === quoteNotClosed) return "A quote is opened here and never closed.";
  if (code === "CSV_MAX_RECORD_SIZE")
    return `This row is longer than ${longestRecord} bytes. Probably a quote is opened here and never closed.`;
  if (code === "INVALID_OPENING_QUOTE" || code === "CSV_INVALID_CLOSING_QUOTE")
    return 'There is a quote inside a cell. Put the cell in quotes and double the quotes in it: "a ""b"" c". Replace a formula such as ="01712345678" by 01712345678.';
  return `This line is not valid CSV (${code}).`;
}

/** A row of payouts has some hundred characters; a longer one has a quote that is never closed. */
const longestRecord = 64 * 1024;

/** As editors count them: CRLF, LF and CR each end a line. */
function lineBreaksIn(text: string): number {
  return text.match(/\r\n|[\r\n]/g)?.length ?? 0;
}

/** A spreadsheet's own formats: an archive (.xlsx, .ods), or the older compound file (.xls). */
const workbooks = ["504b0304", "d0cf11e0"];
const saveAs = "In Excel save the file as 'CSV UTF-8 (Comma delimited)'.";

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
