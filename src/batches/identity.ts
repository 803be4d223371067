import { createHash, hash } from "node:crypto";
import type { Paisa } from "../domain/amount.ts";
import { numberOf } from "../domain/mobile.ts";
import type { Batch, BatchFile, FileOfBatch, FoundPlan, KnownBatches } from "../ledger/batch.ts";
import { hasReferenceColumn } from "./header.ts";
import type { FileRow } from "./rows.ts";

/** A file, as far as it is known. */
export interface SoughtFile extends Pick<BatchFile, "hash" | "fileName"> {
  /** `--name`, or else the file's. Undefined for a command that only shows batches: it takes any name. */
  name?: string;
  /** Undefined until its rows were read. */
  identity?: string;
}

/** What the rows of the file and of plans say. They are read only if they decide. */
export interface RowFacts {
  /** A batch that has the rows of the file. */
  rowsOf?: Batch | undefined;
  /** How the file differs from the unfinished batch of its name. */
  differences?: string[] | undefined;
  /** A paid batch whose payouts would be paid again, by `mayPayAgain`. */
  paid?: FoundPlan | undefined;
}

/**
 * Which batch is this file? The first line that applies decides. The question is asked before the file is read, after
 * that, and again inside the transactions that make it a batch, because another process may have planned one.
 *
 * | the ledger has                                           | the file is | to send it         | to show its batch |
 * | -------------------------------------------------------- | ----------- | ------------------ | ----------------- |
 * | the same bytes, with the same --name or none             | the same    | resumes the batch  | with no --name, or else with any |
 * | the same rows, with the same --name or none              | the same    | resumes the batch  | with any --name   |
 * | the same payouts: unfinished, the newest of its name     | the same    | resumes the batch  | needs the ID      |
 * | other payouts: unfinished, the newest of its name        | changed     | needs a new --name | needs the ID      |
 * | other payouts: ended, the newest of its name             | as below    | as below           | needs the ID      |
 * | a paid batch, and `mayPayAgain`: all of it is in the file | changed     | needs a new --name | not found         |
 * | none of these                                            | new         | is planned         | not found         |
 *
 * A batch is unfinished if some row was not accepted, unless it was cancelled. A batch that was cancelled, or has no
 * row left to send, stays the same one: its rows are paid again with a new --name alone. No line depends on
 * --allow-duplicates. It is needed if rows of a new batch, or unsent rows of the same one, repeat other payouts.
 */
export function whichBatch(
  file: SoughtFile,
  { batches, named, unfinished }: KnownBatches,
  { rowsOf, differences, paid }: RowFacts = {},
): FileOfBatch {
  const { identity, name } = file;
  const isSame = (batch: Batch) =>
    identity === undefined ? isOfBytes(batch, file) : batch.identity === identity;
  const isUnchanged = differences?.length === 0;
  const alike = batches.filter((one) => one.plan !== null && isSame(one));
  // What is shown of a file is what the file would be without --name.
  const unnamed = alike.find((batch) => batch.name === batch.fileName);
  const same =
    (name === undefined ? unnamed : undefined) ??
    alike[0] ??
    rowsOf ??
    (isUnchanged ? unfinished : undefined);
  if (same) return { kind: "same", batch: same };
  const changed = (name === undefined ? named : unfinished) ?? paid?.batch;
  return changed ? { kind: "changed", batch: changed } : { kind: "new" };
}

function isOfBytes(batch: Batch, { hash, name = batch.name, fileName }: SoughtFile): boolean {
  const wanted = name === fileName ? batch.fileName : name;
  return batch.hash === hash && batch.name === wanted;
}

/**
 * True if a file without references that has all payouts of this batch, and maybe more, would pay them again. Exactly
 * the same payouts are a new batch in a file of another name, or if the batch has references. A --name that no batch
 * has is a decision.
 */
export function mayPayAgain(
  { name, fileName, identity }: Pick<BatchFile, "name" | "fileName" | "identity">,
  rowCount: number,
  batch: Batch,
): boolean {
  const hasOwnName = name !== fileName;
  const isNamed = batch.name === name || (!hasOwnName && batch.fileName === name);
  // In another account the same rows have the same references, which are compared one by one.
  if ((hasOwnName && !isNamed) || batch.identity === identity) return false;
  return batch.plan?.rowCount !== rowCount || (isNamed && !hasReferenceColumn(batch.columns));
}

/** The values that identify a row, however the file writes it. */
export interface IdentityRow {
  amountPaisa: Paisa;
  recipient: string;
  methodId: string;
  /** Null if the file has no column of references. */
  reference: string | null;
  name: string | null;
  description: string | null;
}

/**
 * A row as a text: equal for equal rows, whatever the number format and the place in the file. The check
 * digit of Rocket is part of the number.
 */
export function rowKey(row: IdentityRow): string {
  const { amountPaisa, recipient, methodId, reference, name, description } = row;
  const amount = String(amountPaisa);
  return JSON.stringify([amount, numberOf(recipient), methodId, reference, name, description]);
}

/**
 * The identity of a batch: the same for the same rows in another order, in a file with another name or
 * other line ends, and on another machine.
 *
 * @param sortedKeys the key of each row, sorted
 * @param name the batch's own name, if it was given one; else null
 */
function identityOf(sortedKeys: string[], name: string | null): string {
  const hash = createHash("sha256").update(JSON.stringify(name));
  for (const key of sortedKeys) hash.update("\n").update(key);
  return hash.digest("hex");
}

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
      const payout = [String(row.amountPaisa), numberOf(row.recipient ?? ""), row.methodId];
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
