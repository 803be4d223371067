import { hash } from "node:crypto";
import { payeeOf } from "../domain/mobile.ts";
import { type IdentityRow, identityOf, type RowResult, rowKey } from "../ledger/batch.ts";
import type { FileRow } from "./rows.ts";

/** A row that could be read completely, with its reference. */
export interface CompleteRow extends FileRow {
  reference: string;
  amountPaisa: bigint;
  recipient: string;
  methodId: string;
  method: string;
}

/**
 * The identity of a file's rows. Gives rows of a file without references theirs, which follow from the
 * identity and the row: the same file gives the same ones in any order and on any machine.
 *
 * @param ownName the batch's own name, if it was given one
 * @returns undefined if some row cannot be read
 */
export function identify(
  rows: FileRow[],
  hasReferences: boolean,
  ownName: string | undefined,
): string | undefined {
  const keyed: { key: string; row: FileRow }[] = [];
  for (const row of rows) {
    const key = keyOf(row, hasReferences);
    if (key === undefined) return undefined;
    keyed.push({ key, row });
  }
  keyed.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  const identity = identityOf(
    keyed.map(({ key }) => key),
    ownName ?? null,
  );
  if (!hasReferences) {
    const counts = new Map<string, number>();
    for (const { row } of keyed) {
      const payout = [String(row.amountPaisa), payeeOf(row.recipient ?? ""), row.methodId];
      const equal = JSON.stringify(payout);
      const nth = (counts.get(equal) ?? 0) + 1;
      counts.set(equal, nth);
      row.reference = referenceFor([identity, ...payout, nth]);
    }
  }
  return identity;
}

export function isComplete(row: FileRow): row is CompleteRow {
  return (
    row.reference !== null &&
    row.amountPaisa !== null &&
    row.recipient !== null &&
    row.methodId !== null
  );
}

function keyOf(row: FileRow, hasReferences: boolean): string | undefined {
  const { amountPaisa, recipient, methodId, reference, name, description } = row;
  if (amountPaisa === null || recipient === null || methodId === null) return undefined;
  if (hasReferences && reference === null) return undefined;
  const own = hasReferences ? reference : null;
  return rowKey({ amountPaisa, recipient, methodId, reference: own, name, description });
}

function referenceFor(parts: (string | number | null)[]): string {
  return `LD-${hash("sha256", JSON.stringify(parts), "base64url").slice(0, 32)}`;
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
export async function differencesBetween(
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

export function describeDifference(
  { line, row, planned }: Difference,
  byReference: boolean,
): string {
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
