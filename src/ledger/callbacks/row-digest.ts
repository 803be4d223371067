import { hash } from "node:crypto";
import type { Database, Row } from "../../sqlite/database.ts";

/**
 * Shows a change of a callback that was not made by lenden. Callbacks are not in the chain: anyone can
 * send them, and old ones are deleted, so that a missing one proves nothing. Who changes a row and
 * computes its digest again is not detected; no payout, payment or refund relies on a callback's row.
 */
export function rowDigestOf(row: Row): string {
  const covered = columns.map((name) => {
    const value = row[name];
    return value === null || value === undefined ? null : String(value);
  });
  return hash("sha256", JSON.stringify(covered));
}

/** Inside the transaction that changed the callback. */
export function updateRowDigest(database: Database, number: bigint): void {
  const row = database.prepare("SELECT * FROM callbacks WHERE number = ?").get(number);
  if (row) setRowDigest(database, row);
}

export function setRowDigest(database: Database, row: Row): void {
  database
    .prepare("UPDATE callbacks SET row_digest = ? WHERE number = ?")
    .run(rowDigestOf(row), row.number ?? null);
}

/** Not the count, and not what the queue changes: holder, looks and due time. */
const columns = [
  ...["number", "account", "source", "received_at", "digest", "method", "target", "headers"],
  ...["body", "verdict", "because", "records", "finding"],
  ...["forwarded_to", "forwarded_status", "forwarded_finding"],
];
