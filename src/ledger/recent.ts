import type { Resource } from "../contract/words.ts";
import type { Database, Row } from "../sqlite/database.ts";
import { accountInSql } from "./account.ts";
import type { Batch } from "./batches/batch.ts";
import { batchOf } from "./batches/from-row.ts";
import type { Operation, Owner } from "./operation.ts";
import { operationOf } from "./rows.ts";

const most = 30;

/** The newest of an account, newest first: what somebody may want to name next. */
export function openRecent(database: Database, owner: Owner) {
  const read = (row: Row): Operation => operationOf(row, owner);
  const newest = (table: string, more: string, ...values: string[]) =>
    database
      .prepare(
        `SELECT * FROM ${table} WHERE account = ${accountInSql} AND ${more} ORDER BY number DESC LIMIT ${most}`,
      )
      .all(owner.baseUrl, owner.keyId, ...values);
  return {
    /** Those of a kind that the service gave an id. */
    records: (kind: Resource): Operation[] =>
      newest("operations", "kind = ? AND remote_id IS NOT NULL", kind).map(read),

    operations: (): Operation[] => newest("operations", "TRUE").map(read),

    batches: (): Batch[] => newest("batches", "digest IS NOT NULL").map(batchOf),
  };
}
