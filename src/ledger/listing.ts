import type { Database } from "../sqlite/database.ts";
import type { Kind, Operation, Owner } from "./operation.ts";
import { openSelect } from "./select.ts";

export interface Filter {
  status?: string | undefined;
  /** ISO 8601, inclusive. */
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
}

const pageSize = 500;

/** Many operations of the account. */
export function openListing(database: Database, owner: Owner) {
  const select = openSelect(database, owner);
  const newest = select("ORDER BY number DESC LIMIT ?");
  const unsettled = select("AND state IN ('INTENT', 'UNCERTAIN') ORDER BY number");
  const page = select(`AND number > ? ORDER BY number LIMIT ${pageSize}`);
  return {
    /** So many of any kind, newest first. */
    recent: (limit: number): Operation[] => newest.all(BigInt(limit)),

    /** Those of a kind that a filter lets through, newest first. */
    list: (kind: Kind, filter: Filter): Operation[] => {
      const { sql, values } = conditions(filter);
      const listed = select(`AND kind = ?${sql} ORDER BY number DESC LIMIT ?`);
      return listed.all(kind, ...values, BigInt(filter.limit));
    },

    /** Those of which nobody knows whether they happened. */
    unsettled: (): Operation[] => unsettled.all(),

    /** All of them, oldest first, a page at a time: memory does not grow with the ledger. */
    *all(): Iterable<Operation> {
      for (let after = 0n; ; ) {
        const operations = page.all(after);
        yield* operations;
        const last = operations.at(-1);
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
