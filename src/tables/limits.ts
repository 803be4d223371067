/** More than this is no table that a person made, or costs too much memory. */
export const most = {
  /** Bytes of a workbook's file, and of all its entries inflated. */
  bytes: 100_000_000,
  rows: 100_000,
  columns: 1_000,
  cells: 2_000_000,
};

/** The workbook has more rows or cells than are read; the message says which. */
export class TooLarge extends Error {}

export function assertSize(rows: number, cells: number): void {
  if (rows > most.rows) throw new TooLarge("The sheet has more than 100,000 rows.");
  if (cells > most.cells) throw new TooLarge("The sheet has more than 2,000,000 cells.");
}

export function assertColumn(place: number): void {
  if (place >= most.columns) throw new TooLarge("The sheet has more than 1,000 columns.");
}
