import { finished } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { lineBreaksIn, Unreadable } from "./unreadable.ts";

/** One record of a table: its cells as texts, whatever they look like. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  line: number;
  cells: string[];
}

/** A row of payouts is some hundred characters; what is longer is a quote that nobody closed. */
const longestRecord = 64 * 1024;

/**
 * The records of a CSV text (RFC 4180), some thousands at a time: to wait for each one would cost
 * more than reading it. Records that are blank altogether, as spreadsheets leave them at the end,
 * are left out.
 *
 * @throws Unreadable where the quotes make no sense, after the records that come before
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
    // A stream that fails drops what it still holds; what stands here is safe from that.
    on_record: (cells: string[]) => {
      found.push({ cells, blankBefore: parser.info.empty_lines });
      // The parser would make an error, with its stack, for each record of another length than the
      // first, and then ignore it.
      Object.assign(parser.info, { records: 0 });
      return undefined;
    },
  });
  parser.on("error", () => {}); // it is looked at below, once what came before is told
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

function unreadable(error: Error, line: number): Error {
  if (!(error instanceof CsvError)) return error;
  const hint = line === 1 ? " If its cells are not parted by commas, say so with --delimiter." : "";
  return new Unreadable(line, whatIsWrong(error.code) + hint);
}

function whatIsWrong(code: string): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "A quote is opened here and never closed.";
  if (code === "CSV_MAX_RECORD_SIZE")
    return `This row is longer than ${longestRecord} bytes. Is a quote opened here and never closed?`;
  if (code === "INVALID_OPENING_QUOTE" || code === "CSV_INVALID_CLOSING_QUOTE")
    return 'There is a quote inside a cell. Put the cell in quotes and double those within: "a ""b"" c". Of ="01712345678", as spreadsheets write it, take away =" and the last quote.';
  return `This is not a line of CSV (${code}).`;
}
