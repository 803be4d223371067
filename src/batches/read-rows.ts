import { setImmediate as turn } from "node:timers/promises";
import { formatPaisa } from "../domain/money.ts";
import { checkStop, type OperationDeps } from "../operations/deps.ts";
import type { TableRow, TableSource } from "../tables/cell.ts";
import { Unreadable } from "../tables/csv.ts";
import { tableIn } from "../tables/source.ts";
import { amountIn, cellText } from "./cells.ts";
import type { CellProblem } from "./findings.ts";
import {
  type ColumnChoices,
  type Header,
  looksLikeHeader,
  noChoices,
  readHeader,
} from "./header.ts";
import { cleanCommand } from "./other-rows.ts";
import type { PayoutFile } from "./payout-file.ts";
import { createRowReader, type FileRow, type RowRules } from "./rows.ts";
import { countRow, type Sum } from "./status.ts";
import { linesText } from "./texts.ts";

/** Whether rows that a workbook hides are payouts. */
export type HiddenRows = "include" | "skip";

/** A file of payouts, and how it is read. */
export interface Source extends PayoutFile {
  /** The character between the cells of a CSV file; detected if undefined. */
  delimiter?: string | undefined;
  /** Of a workbook; the first with data if undefined. */
  sheet?: string | undefined;
  hidden?: HiddenRows | undefined;
  choices?: ColumnChoices | undefined;
}

export type StopDeps = Pick<OperationDeps, "isStopping" | "isOutOfTime">;

/** Where the rows of a file come from. */
export interface ReadTable extends Pick<TableSource, "delimiter" | "sheet"> {
  /** The names of hidden columns. */
  hiddenColumns: string[];
  hiddenRows: Sum;
  /** The names of the columns that are only kept for the export. */
  kept: string[];
}

interface ReadFile {
  table: ReadTable;
  header: Header | undefined;
  rows: FileRow[];
  problems: CellProblem[];
}

const mostRows = 500_000;
const rowsPerTurn = 1_000;
/** Rows that are searched for the header if the first one is not it. */
const mostTitles = 50;

/**
 * Reads the rows of a file, and what cannot be read of them.
 *
 * @throws Failure `usage` if the file is no table, `interrupted` if the run is stopped
 */
export async function readRows(source: Source, rules: RowRules, deps: StopDeps): Promise<ReadFile> {
  const { path, delimiter, sheet, choices = noChoices } = source;
  // The header is not a payout.
  const limit = { rows: mostRows + 1, message: tooManyRows };
  const opened = await tableIn(source, { delimiter, sheet, limit });
  const table = { ...opened, hiddenColumns: [], hiddenRows: { count: 0, sumPaisa: 0n }, kept: [] };
  const read: ReadFile = { table, header: undefined, rows: [], problems: [] };
  const hidden = createHiddenRows(source, read);
  let readRow: ReturnType<typeof createRowReader> | undefined;
  try {
    for await (const page of opened.pages())
      for (const record of page) {
        if (read.header && !read.header.isHeader) {
          if (addHeaderPlace(record, read, source)) return read;
          continue;
        }
        if (readRow && read.header) {
          if (read.rows.length % rowsPerTurn === 0) await turn(); // for signals and timers
          checkStop(deps);
          const whole = opened.kind === "csv" ? record : padded(record, read.header.cells.length);
          if (record.isHidden && hidden.isSkipped(whole, read.header)) continue;
          read.rows.push(await readRow(whole));
          continue;
        }
        const header = readHeader(record.cells.map(cellText), opened.delimiter, choices);
        for (const one of header.problems) read.problems.push({ ...one, line: record.line });
        read.header = header;
        readRow = createRowReader(header, rules, read.problems, path);
        read.table = { ...table, ...columnsOf(header, opened) };
      }
    if (read.rows.length === 0 && read.problems.length === 0)
      read.problems.push(wholeLine(1, read.header ? noRow : noContent));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    if (!read.header || read.header.isHeader)
      read.problems.push(
        wholeLine(error.line, `${error.message} The lines below were not checked.`),
      );
  }
  hidden.addProblem();
  checkStop(deps);
  return read;
}

const tooManyRows = "A batch has at most 500,000 rows. Split the file, and send each part.";
const noRow = "The file has a header but no rows.";
const noContent = "The file is empty. 'lenden payout batch template' creates an example.";

/** A workbook does not store the empty cells at the end of a row. */
function padded(record: TableRow, width: number): TableRow {
  if (record.cells.length >= width) return record;
  const cells = [...record.cells];
  while (cells.length < width) cells.push("");
  return { ...record, cells };
}

function columnsOf({ cells, columns, fields }: Header, { hiddenColumns }: TableSource) {
  return {
    hiddenColumns: hiddenColumns.map((place) => cells[place] || `column ${place + 1}`),
    kept: columns.filter((_, index) => fields[index] === undefined),
  };
}

/**
 * Says where the header is if the first row is a title.
 *
 * @returns true if the search ends
 */
function addHeaderPlace({ line, cells }: TableRow, read: ReadFile, source: Source): boolean {
  const { path, choices = noChoices } = source;
  const [first] = read.problems;
  if (!first || line > first.line + mostTitles) return true;
  if (!looksLikeHeader(cells.map(cellText), choices)) return false;
  first.problem = `The first row is not the header, but a title. The header is in line ${line}. Delete the lines above it, or run '${cleanCommand(path)}'.`;
  return true;
}

/** Counts the rows that a workbook hides, so that none is paid or skipped without being shown. */
function createHiddenRows({ hidden, choices }: Source, read: ReadFile) {
  const lines: number[] = [];
  return {
    isSkipped: (record: TableRow, { fields, places }: Header): boolean => {
      lines.push(record.line);
      const amount = amountIn(record.cells[places[fields.indexOf("amount")] ?? -1] ?? "");
      countRow(read.table.hiddenRows, { amountPaisa: amount.ok ? amount.value : 0n });
      return hidden === "skip";
    },
    addProblem: (): void => {
      const [first] = lines;
      if (first === undefined || hidden !== undefined || choices?.isLenient) return;
      const { count, sumPaisa } = read.table.hiddenRows;
      const are = count === 1 ? "row is" : "rows are";
      read.problems.push(
        wholeLine(
          first,
          `${count} ${are} hidden in the workbook (${linesText(lines)}): ${formatPaisa(sumPaisa)}. To pay hidden rows, add --hidden include. To omit them, add --hidden skip.`,
        ),
      );
    },
  };
}

function wholeLine(line: number, problem: string): CellProblem {
  return { kind: "cell", line, column: "", value: "", problem };
}
