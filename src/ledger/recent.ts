import type { Resource } from "../contract/words.ts";
import type { Batch } from "./batch.ts";
import type { Database } from "./database.ts";
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
  const keyId = newestKeyId(database, owner);
  const newest = (table: string, more: string, ...values: string[]) =>
    database
      .prepare(
        `SELECT * FROM ${table} WHERE base_url = ? AND key_id = ? AND ${more} ORDER BY number DESC LIMIT ${most}`,
      )
      .all(owner.baseUrl, keyId, ...values);
  return {
    /** Those of a kind that the service gave an id. */
    records: (kind: Resource): Operation[] =>
      newest("operations", "kind = ? AND remote_id IS NOT NULL", kind).map(operationOf),

    operations: (): Operation[] => newest("operations", "TRUE").map(operationOf),

    /** Those of which nobody knows whether they happened. */
    unsettled: (): Operation[] =>
      newest("operations", "state IN ('INTENT', 'UNCERTAIN')").map(operationOf),

    batches: (): Batch[] => newest("batches", "digest IS NOT NULL").map(batchOf),
  };
}

/**
 * The key with which a profile's newest operation was sent. It goes from key to key by the index:
 * a ledger of a million operations has few of them.
 */
function newestKeyId(database: Database, { baseUrl, profile }: RecentOwner): string {
  const next = database.prepare(
    "SELECT min(key_id) AS key_id FROM operations WHERE base_url = ? AND key_id > ?",
  );
  const last = database.prepare(
    "SELECT profile, number FROM operations WHERE base_url = ? AND key_id = ? ORDER BY number DESC LIMIT 1",
  );
  let newest = { keyId: "", number: -1n };
  let keyId = next.get(baseUrl, "")?.key_id;
  while (typeof keyId === "string") {
    const row = last.get(baseUrl, keyId);
    const number = BigInt(row?.number ?? 0n);
    if (row?.profile === profile && number > newest.number) newest = { keyId, number };
    keyId = next.get(baseUrl, keyId)?.key_id;
  }
  return newest.keyId;
}
