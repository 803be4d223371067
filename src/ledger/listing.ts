import { accountInSql } from "./account.ts";
import type { Database, Row } from "./database.ts";
import type { Intent, Kind, Operation, Owner } from "./operation.ts";
import { operationOf } from "./rows.ts";

export interface Filter {
  status?: string | undefined;
  /** ISO 8601, inclusive. */
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
}

/** What can be read: of one account alone, newest first. */
export function openListing(database: Database, owner: Owner) {
  const { baseUrl, keyId } = owner;
  const read = (row: Row): Operation => operationOf(row, owner);
  const maybe = (row: Row | undefined): Operation | undefined => row && read(row);
  const own = `account = ${accountInSql}`;
  const nth = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND kind = ? AND remote_id IS NOT NULL ORDER BY number DESC LIMIT 1 OFFSET ?`,
  );
  const nthOfAll = database.prepare(
    `SELECT * FROM operations WHERE ${own} ORDER BY number DESC LIMIT 1 OFFSET ?`,
  );
  const newestOfAll = database.prepare(
    `SELECT * FROM operations WHERE ${own} ORDER BY number DESC LIMIT ?`,
  );
  // Without the plus SQLite would walk through all of them by their number, to avoid the sorting.
  const byName = ["id", "reference", "remote_id"].map((column) =>
    database.prepare(
      `SELECT * FROM operations WHERE ${own} AND ${column} = ? ORDER BY +number DESC LIMIT 1`,
    ),
  );
  const byRemoteId = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND kind = ? AND remote_id = ? ORDER BY number DESC LIMIT 1`,
  );
  const byTarget = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND kind = ? AND target = ? ORDER BY number`,
  );
  const byFingerprint = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND kind = 'payment' AND fingerprint = ? ORDER BY number`,
  );
  const unsettled = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND state IN ('INTENT', 'UNCERTAIN') ORDER BY number`,
  );
  const page = database.prepare(
    `SELECT * FROM operations WHERE ${own} AND number > ? ORDER BY number LIMIT 500`,
  );
  return {
    /** The newest of a kind that the service confirmed is 1, the one before it 2. */
    newest: (kind: Kind, place: number): Operation | undefined =>
      maybe(nth.get(baseUrl, keyId, kind, BigInt(place - 1))),

    /** The same of any kind, confirmed or not. */
    latest: (place: number): Operation | undefined =>
      maybe(nthOfAll.get(baseUrl, keyId, BigInt(place - 1))),

    /** So many of any kind. */
    recent: (limit: number): Operation[] =>
      newestOfAll.all(baseUrl, keyId, BigInt(limit)).map(read),

    /** By its own id, by a payout's reference, or by the service's id. */
    find: (name: string): Operation | undefined => {
      const rows = byName.map((statement) => statement.get(baseUrl, keyId, name));
      return maybe(rows.find((row) => row !== undefined));
    },

    /** The operation that made a record of the service. */
    ofRecord: (kind: Kind, remoteId: string): Operation | undefined =>
      maybe(byRemoteId.get(baseUrl, keyId, kind, remoteId)),

    /** Those of the same target; payments, which have none: those of the very same request. */
    similarTo: ({ kind, target, fingerprint }: Intent): Operation[] =>
      (target === null
        ? byFingerprint.all(baseUrl, keyId, fingerprint)
        : byTarget.all(baseUrl, keyId, kind, target)
      ).map(read),

    /** What was paid back of a payment, or may have been. */
    refundsOf: (transactionId: string): Operation[] =>
      byTarget.all(baseUrl, keyId, "refund", transactionId).map(read),

    /** Those of which nobody knows whether they happened. */
    unsettled: (): Operation[] => unsettled.all(baseUrl, keyId).map(read),

    list: (kind: Kind, filter: Filter): Operation[] => {
      const { sql, values } = conditions(filter);
      return database
        .prepare(
          `SELECT * FROM operations WHERE ${own} AND kind = ?${sql} ORDER BY number DESC LIMIT ?`,
        )
        .all(baseUrl, keyId, kind, ...values, BigInt(filter.limit))
        .map(read);
    },

    /** All of them, oldest first, a page at a time: memory does not grow with the ledger. */
    *all(): Iterable<Operation> {
      for (let after = 0n; ; ) {
        const rows = page.all(baseUrl, keyId, after).map(read);
        yield* rows;
        const last = rows.at(-1);
        if (!last) return;
        after = last.number;
      }
    },
  };
}

function conditions({ status, since, until }: Filter): { sql: string; values: string[] } {
  const parts: [string, string | undefined][] = [
    [" AND status = ?", status],
    [" AND created_at >= ?", since],
    [" AND created_at <= ?", until],
  ];
  const used = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return { sql: used.map(({ sql }) => sql).join(""), values: used.map(({ value }) => value) };
}
