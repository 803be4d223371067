/** A cell of a table: the text of a CSV file, or what a workbook stores. */
export type Cell = string | TypedCell;

/** A cell of a workbook that is no text. */
export interface TypedCell {
  /** `error`: an error value such as #REF!; `unknown`: a formula without a stored value. */
  kind: "number" | "date" | "boolean" | "error" | "unknown";
  /**
   * A number in plain decimals with at most 15 significant digits, as a spreadsheet shows it (`12500.01` for
   * 12500.009999999998); a date in ISO form (`2026-11-28`, `2026-11-28T22:30:15`); an error as it is named.
   */
  text: string;
  /** What the number's format says that it is, other than a plain number: `%`, or a currency (`USD`, `$`, `BDT`). */
  unit?: string;
}

/** A row of a table as a file has it. */
export interface TableRow {
  /** From 1: the line of a CSV file on which it begins, the row of a sheet. */
  line: number;
  cells: Cell[];
  isHidden?: boolean;
}

/** A table of a file, read from the disk each time, so that it is not in memory. */
export interface TableSource {
  path: string;
  kind: "csv" | "xlsx" | "xls" | "ods";
  /** Of a CSV file. */
  delimiter?: string;
  /** Of a workbook: the sheet that is read, and the names of the others that have data. */
  sheet?: { name: string; others: string[] };
  /** The places of hidden columns, from 0. */
  hiddenColumns: number[];
  pages(): AsyncIterable<TableRow[]>;
}
