import type { Batch, RowResult } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isUsed, openReferencesAgain } from "./again.ts";
import { readHeader } from "./columns.ts";
import { countRow, type Standing, type Sum, standingOf, standings } from "./standing.ts";

/** Which rows: all that stand somewhere, or those that can be sent again after mending. */
export const selections = ["failed", ...standings] as const;
export type Selection = (typeof selections)[number];

/** A row of the export: its cells by column. */
export type ExportedRow = Record<string, string>;

const resultColumns = ["payoutId", "state", "status", "code", "message", "sentAt", "updatedAt"];
const rowsPerPage = 500;

/** The columns of an export: the file's own, then what came of each row. */
export function columnsOf(batch: Batch, only: Selection | undefined): string[] {
  // A file without references still needs them: the dashboard knows a payout by nothing else.
  const made = hasReferences(batch) ? [] : ["ref"];
  if (only === "failed") return [...made, ...batch.columns];
  return [...batch.columns, ...made, ...resultColumns];
}

/** The rows of a batch with what came of them, page by page. */
export function exportedRows(
  batch: Batch,
  only: Standing | undefined,
  ledger: Ledger,
): Iterable<ExportedRow[]> {
  return inPages(ledger.batches().results(batch), (row) => {
    const isMeant = only === undefined || only === standingOf(row.state, row.status);
    return isMeant ? exported(row, batch) : undefined;
  });
}

/**
 * The rows of a batch that can be sent again after mending, page by page.
 *
 * @param leftOut counts those that went on under their new references
 */
export function rowsAgain(batch: Batch, ledger: Ledger, leftOut: Sum): Iterable<ExportedRow[]> {
  const referenceAgain = openReferencesAgain(batch, ledger);
  return inPages(ledger.batches().results(batch), (row) => {
    const standing = standingOf(row.state, row.status);
    const reference = referenceAgain(row, standing);
    if (reference !== undefined) return anew(row, reference, batch);
    if (isUsed(standing)) countRow(leftOut, row);
    return undefined;
  });
}

function* inPages(
  rows: Iterable<RowResult>,
  make: (row: RowResult) => ExportedRow | undefined,
): Iterable<ExportedRow[]> {
  let page: ExportedRow[] = [];
  for (const row of rows) {
    const made = make(row);
    if (made) page.push(made);
    if (page.length < rowsPerPage) continue;
    yield page;
    page = [];
  }
  yield page;
}

function exported(row: RowResult, batch: Batch): ExportedRow {
  const { columns } = batch;
  const { payoutId, status, code, message, sentAt, updatedAt } = row;
  const state = row.state === "INTENT" ? "UNCERTAIN" : (row.state ?? "NOT_SENT");
  const results = { payoutId, state, status, code, message, sentAt, updatedAt };
  return {
    [referenceColumn(batch)]: row.reference,
    ...Object.fromEntries(columns.map((column, index) => [column, row.cells[index] ?? ""])),
    ...Object.fromEntries(Object.entries(results).map(([name, value]) => [name, value ?? ""])),
  };
}

function anew(row: RowResult, reference: string, batch: Batch): ExportedRow {
  const own = batch.columns.map((column, index) => [column, row.cells[index] ?? ""]);
  return { ...Object.fromEntries(own), [referenceColumn(batch)]: reference };
}

function hasReferences(batch: Batch): boolean {
  return readHeader(batch.columns, ",").fields.includes("ref");
}

function referenceColumn({ columns }: Batch): string {
  return columns.find((column) => column === "ref" || column === "merchantRef") ?? "ref";
}
