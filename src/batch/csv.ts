import { CsvError, parse } from "csv-parse";
import { Unreadable } from "./unreadable.ts";

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
 * @throws Unreadable where the quotes make no sense
 */
export async function* recordsOf(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncIterable<CsvRecord[]> {
  const parser = parse({
    delimiter,
    info: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    max_record_size: longestRecord,
  });
  let failure: unknown;
  parser.on("error", (error) => {
    failure = error;
  });
  let line = 1;
  const parsed = (): CsvRecord[] => {
    const records: CsvRecord[] = [];
    for (let read = parser.read(); read !== null; read = parser.read()) {
      const { record, info }: { record: string[]; info: { lines: number } } = read;
      if (record.some((cell) => cell.trim() !== "")) records.push({ line, cells: record });
      line = info.lines + 1;
    }
    return records;
  };
  for await (const piece of text) {
    parser.write(piece);
    yield parsed();
    if (failure) throw unreadable(failure, line);
  }
  await new Promise((resolve) => {
    parser.on("error", resolve);
    parser.end(resolve);
  });
  yield parsed();
  if (failure) throw unreadable(failure, line);
}

function unreadable(error: unknown, line: number): unknown {
  return error instanceof CsvError ? new Unreadable(line, whatIsWrong(error.code)) : error;
}

function whatIsWrong(code: string): string {
  if (code === "CSV_QUOTE_NOT_CLOSED" || code === "CSV_MAX_RECORD_SIZE")
    return "A quote is opened here and never closed.";
  if (code === "INVALID_OPENING_QUOTE" || code === "CSV_INVALID_CLOSING_QUOTE")
    return 'There is a quote inside a cell. Put the cell in quotes and double those within: "a ""b"" c".';
  return `This is not a line of CSV (${code}).`;
}
