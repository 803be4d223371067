/**
 * Spreadsheets run a cell as a formula if it begins with one of these. Apostrophes before it are
 * part of the pattern: so a text that really begins with an apostrophe comes back unchanged.
 */
const formula = /^'*[=+\-@\t\r]/;

/** A cell that no spreadsheet runs. */
export function guarded(cell: string): string {
  return formula.test(cell) ? `'${cell}` : cell;
}

/** The cell that `guarded` was given. Spreadsheets keep the apostrophe when they save a CSV file. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}
