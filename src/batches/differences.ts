import type { Batch, BatchFile, RowResult } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { hasReferenceColumn } from "./header.ts";
import { type CompleteRow, type IdentityRow, isComplete, rowKey } from "./identity.ts";
import type { FileRow } from "./rows.ts";

/**
 * How a file differs from the plan of a batch, one text for each row that differs. Rows are known by their
 * references, if the file or the batch has some.
 */
export async function differencesFrom(
  batch: Batch,
  { columns }: Pick<BatchFile, "columns">,
  rows: FileRow[],
  { batches }: Ledger,
): Promise<string[]> {
  const byReference = hasReferenceColumn(columns) || hasReferenceColumn(batch.columns);
  const planned = batches.rows(batch, "all");
  const differences = await differencesBetween(rows.filter(isComplete), planned, byReference);
  return differences.map((one) => describeDifference(one, byReference));
}

/** The compared values of a row; the method as it was typed. */
interface ComparedRow extends IdentityRow {
  method: string;
}

/** How a file differs from a plan: a row of the file, the row of the plan, or both. */
interface Difference {
  line?: number;
  row?: ComparedRow;
  planned?: ComparedRow;
}

/**
 * How the rows of a file differ from those of a plan, whatever their order.
 *
 * @param byReference whether rows are known by their references: references that were created differ in
 * another file, so such rows are known by their places
 */
async function differencesBetween(
  rows: CompleteRow[],
  planned: AsyncIterable<RowResult>,
  byReference: boolean,
): Promise<Difference[]> {
  const keyOf = (row: ComparedRow) => rowKey(byReference ? row : { ...row, reference: null });
  const placeOf = (row: { reference: string; row: number }) =>
    byReference ? row.reference : row.row;
  const added = new Map<string, CompleteRow[]>();
  for (const row of rows) {
    const same = added.get(keyOf(row));
    if (same) same.push(row);
    else added.set(keyOf(row), [row]);
  }
  const missing = new Map<string | number, RowResult>();
  for await (const row of planned)
    if (!added.get(keyOf(row))?.shift()) missing.set(placeOf(row), row);
  const differences: Difference[] = [];
  for (const row of [...added.values()].flat().sort((one, other) => one.row - other.row)) {
    const before = missing.get(placeOf(row));
    missing.delete(placeOf(row));
    differences.push({ line: row.line, row, ...(before && { planned: before }) });
  }
  return [...differences, ...[...missing.values()].map((planned) => ({ planned }))];
}

function describeDifference({ line, row, planned }: Difference, byReference: boolean): string {
  const shown = (one: ComparedRow) =>
    byReference ? `${one.reference}, ${payoutText(one)}` : payoutText(one);
  if (!row) return planned ? `in the batch, but not in the file: ${shown(planned)}` : "";
  if (!planned) return `line ${line}: in the file, but not in the batch: ${shown(row)}`;
  const part = [payoutText, nameText, descriptionText].find((one) => one(row) !== one(planned));
  return `line ${line}: the file has ${(part ?? shown)(row)}, the batch has ${(part ?? shown)(planned)}`;
}

/** `1250.50 to 01712345678 by bkash`. */
function payoutText({ amountPaisa, recipient, method }: ComparedRow): string {
  const paisa = String(amountPaisa % 100n).padStart(2, "0");
  return `${amountPaisa / 100n}.${paisa} to ${recipient} by ${method}`;
}

const nameText = ({ name }: ComparedRow) => `name ${name ?? "(none)"}`;
const descriptionText = ({ description }: ComparedRow) => `description ${description ?? "(none)"}`;
