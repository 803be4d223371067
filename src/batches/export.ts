import type { Batch, RowResult } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Field } from "./fields.ts";
import { fieldsOf, resultColumns } from "./header.ts";
import { countRetry, createRetryPlanner, type Retries } from "./retries.ts";
import { existedBefore, type RowStatus, rowStatuses, rowStatusOf } from "./status.ts";

/** Which rows: those with one status, or those that can be sent again after a correction. */
export const selections = ["failed", ...rowStatuses] as const;
export type Selection = (typeof selections)[number];

/** A row of the export: its cells by column. */
export type ExportedRow = Record<string, string>;

const rowsPerPage = 500;

/** The columns of an export: the file's own, then the result of each row. */
export function columnsOf(batch: Batch, only: Selection | undefined): string[] {
  const { columns } = batch;
  const missing = (field: Field) => (fieldsOf(columns).includes(field) ? [] : [field]);
  // The dashboard identifies a payout by its reference alone. The value of --method applies to retries too.
  return only === "failed"
    ? [...missing("ref"), ...columns, ...missing("method")]
    : [...columns, ...missing("ref"), ...resultColumns];
}

/**
 * The rows of a batch with their results, page by page.
 *
 * @throws Failure `batch.plan-modified` before the first row if they are not those that were planned; `ledger.modified`
 */
export async function* exportedRows(
  batch: Batch,
  only: RowStatus | undefined,
  ledger: Ledger,
): AsyncIterable<ExportedRow[]> {
  const ref = nameOf("ref", batch);
  yield* inPages(await plannedRows(batch, ledger), async (row) => {
    if (only !== undefined && only !== rowStatusOf(row)) return undefined;
    const { payoutId, status, code, message, sentAt, updatedAt } = row;
    const state = row.state === "INTENT" ? "UNCERTAIN" : (row.state ?? "NOT_SENT");
    const cells: ExportedRow = { [ref]: row.reference, ...ownCells(row, batch) };
    const existing = existedBefore(row, batch) ? "yes" : "no";
    const results = { payoutId, state, status, code, message, sentAt, updatedAt, existing };
    for (const [name, value] of Object.entries(results)) cells[name] = value ?? "";
    return cells;
  });
}

/**
 * The rows of a batch that can be sent again after a correction, page by page.
 *
 * @param omitted counts those that have new references already
 * @throws Failure as `exportedRows`
 */
export async function* retryRows(
  batch: Batch,
  ledger: Ledger,
  omitted: Retries,
): AsyncIterable<ExportedRow[]> {
  const planOf = await createRetryPlanner(batch, ledger);
  const [ref, method] = [nameOf("ref", batch), nameOf("method", batch)];
  yield* inPages(await plannedRows(batch, ledger), async (row) => {
    const plan = await planOf(row);
    countRetry(omitted, plan);
    if (plan.kind !== "open") return undefined;
    const own = ownCells(row, batch);
    return { ...own, [ref]: plan.reference, [method]: own[method] || row.method };
  });
}

/**
 * Whoever can write to the ledger can add rows to a batch, and edit its operations: what a person sends again has to be
 * what was planned, and was not paid.
 */
async function plannedRows(batch: Batch, { batches }: Ledger): Promise<AsyncIterable<RowResult>> {
  return batches.recordedRows(await batches.readPlan(batch, undefined), "all");
}

async function* inPages(
  rows: AsyncIterable<RowResult>,
  cellsOf: (row: RowResult) => Promise<ExportedRow | undefined>,
): AsyncIterable<ExportedRow[]> {
  let page: ExportedRow[] = [];
  for await (const row of rows) {
    const cells = await cellsOf(row);
    if (cells) page.push(cells);
    if (page.length < rowsPerPage) continue;
    yield page;
    page = [];
  }
  yield page;
}

function ownCells({ cells }: RowResult, { columns }: Batch): ExportedRow {
  return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
}

/** The file's name for a column, or ours if the file does not have it. */
function nameOf(field: Field, { columns }: Batch): string {
  return columns[fieldsOf(columns).indexOf(field)] ?? field;
}
