import type { Resource } from "../contract/words.ts";
import type { Batch } from "./batch.ts";
import type { Database, Row } from "./database.ts";
import type { Operation, Owner } from "./operation.ts";
import { batchOf, operationOf } from "./rows.ts";

/** Whose operations are meant, without a key: to fetch one, a person may have to unlock something. */
export type RecentOwner = Pick<Owner, "profile" | "baseUrl">;
export type Recent = ReturnType<typeof openRecent>;

const most = 30;

/**
 * The newest of an account, newest first, for a Tab: it only looks, and brings no ledger of an
 * older lenden to this one's schema.
 */
export function openRecent(database: Database, owner: RecentOwner) {
  const account = newestAccount(database, owner);
  const read = (row: Row): Operation => operationOf(row, owner);
  const newest = (table: string, more: string, ...values: string[]): Row[] =>
    database
      .prepare(
        `SELECT * FROM ${table} WHERE account = ? AND ${more} ORDER BY number DESC LIMIT ${most}`,
      )
      .all(account, ...values);
  return {
    /** Those of a kind that the service gave an id. */
    records: (kind: Resource): Operation[] =>
      newest("operations", "kind = ? AND remote_id IS NOT NULL", kind).map(read),

    operations: (): Operation[] => newest("operations", "TRUE").map(read),

    /** Those of which nobody knows whether they happened. */
    unsettled: (): Operation[] =>
      newest("operations", "state IN ('INTENT', 'UNCERTAIN')").map(read),

    batches: (): Batch[] => newest("batches", "digest IS NOT NULL").map(batchOf),
  };
}

/** Of a profile's accounts, one for each key it had: the one that its newest operation was sent for. */
function newestAccount(database: Database, { baseUrl, profile }: RecentOwner): bigint {
  const last = database.prepare(
    "SELECT profile, number FROM operations WHERE account = ? ORDER BY number DESC LIMIT 1",
  );
  const accounts = database.prepare("SELECT number FROM accounts WHERE base_url = ?").all(baseUrl);
  let newest = { account: 0n, number: 0n };
  for (const row of accounts) {
    const account = BigInt(row.number ?? 0n);
    const operation = last.get(account);
    const number = BigInt(operation?.number ?? 0n);
    if (operation?.profile === profile && number > newest.number) newest = { account, number };
  }
  return newest.account;
}
