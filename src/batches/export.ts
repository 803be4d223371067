import type { Batch, RowResult } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Field, readHeader, resultColumns } from "./header.ts";
import { countAgain, openOnward, type SentAgain } from "./retries.ts";
import { type Standing, standingOf, standings } from "./status.ts";

/** Which rows: those with one status, or those that can be sent again after a correction. */
export const selections = ["failed", ...standings] as const;
export type Selection = (typeof selections)[number];

/** A row of the export: its cells by column. */
export type ExportedRow = Record<string, string>;

const rowsPerPage = 500;

/** The columns of an export: the file's own, then the result of each row. */
export function columnsOf(batch: Batch, only: Selection | undefined): string[] {
  const { columns } = batch;
  const lacks = (field: Field) => !fieldsOf(batch).includes(field);
  // A file without references needs them too: the dashboard identifies a payout by nothing else.
  const ref = lacks("ref") ? ["ref"] : [];
  // The value of --method applies to the rows the next time too.
  const method = lacks("method") ? ["method"] : [];
  return only === "failed"
    ? [...ref, ...columns, ...method]
    : [...columns, ...ref, ...resultColumns];
}

/** The rows of a batch with their results, page by page. */
export function exportedRows(
  batch: Batch,
  only: Standing | undefined,
  ledger: Ledger,
): AsyncIterable<ExportedRow[]> {
  const ref = nameOf("ref", batch);
  return inPages(ledger.batches.rows(batch, "all"), (row) => {
    const isMeant = only === undefined || only === standingOf(row.state, row.status);
    return isMeant ? exported(row, batch.columns, ref) : undefined;
  });
}

/**
 * The rows of a batch that can be sent again after a correction, page by page.
 *
 * @param omitted counts those that were sent again by their new references
 */
export async function* rowsAgain(
  batch: Batch,
  ledger: Ledger,
  omitted: SentAgain,
): AsyncIterable<ExportedRow[]> {
  const onwardOf = await openOnward(batch, ledger);
  const [ref, method] = [nameOf("ref", batch), nameOf("method", batch)];
  yield* inPages(ledger.batches.rows(batch, "all"), async (row) => {
    const onward = await onwardOf(row);
    countAgain(omitted, onward);
    if (onward.kind !== "open") return undefined;
    const own = ownCells(row, batch.columns);
    return { ...own, [ref]: onward.reference, [method]: own[method] || row.method };
  });
}

async function* inPages(
  rows: AsyncIterable<RowResult>,
  make: (row: RowResult) => ExportedRow | undefined | Promise<ExportedRow | undefined>,
): AsyncIterable<ExportedRow[]> {
  let page: ExportedRow[] = [];
  for await (const row of rows) {
    const made = await make(row);
    if (made) page.push(made);
    if (page.length < rowsPerPage) continue;
    yield page;
    page = [];
  }
  yield page;
}

function exported(row: RowResult, columns: string[], ref: string): ExportedRow {
  const { payoutId, status, code, message, sentAt, updatedAt } = row;
  const state = row.state === "INTENT" ? "UNCERTAIN" : (row.state ?? "NOT_SENT");
  const results = { payoutId, state, status, code, message, sentAt, updatedAt };
  return {
    [ref]: row.reference,
    ...ownCells(row, columns),
    ...Object.fromEntries(Object.entries(results).map(([name, value]) => [name, value ?? ""])),
  };
}

function ownCells({ cells }: RowResult, columns: string[]): ExportedRow {
  return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
}

/** The file's name for a column, or ours if the file does not have it. */
function nameOf(field: Field, batch: Batch): string {
  return batch.columns[fieldsOf(batch).indexOf(field)] ?? field;
}

function fieldsOf({ columns }: Batch): Field[] {
  return readHeader(columns, ",").fields;
}
