import type { Resource } from "../contract/words.ts";
import type { Database } from "../sqlite/database.ts";
import type { Batch } from "./batches/batch.ts";
import { batchOf } from "./batches/from-row.ts";
import type { Operation } from "./operation.ts";
import type { RunAccount } from "./sqlite/accounts.ts";
import { operationColumns, operationOf } from "./sqlite/operation-rows.ts";

const most = 30;

/** The newest of an account, newest first: what somebody may want to name next. */
export function openRecent(database: Database, account: RunAccount) {
  const newest = (table: string, more: string, ...values: string[]) =>
    database
      .prepare(
        `SELECT ${table === "operations" ? operationColumns : "o.*"} FROM ${table} o
         WHERE o.account = ? AND ${more} ORDER BY o.number DESC LIMIT ${most}`,
      )
      .all(account.number(), ...values);
  return {
    /** Those of a kind that the service gave an id. */
    records: (kind: Resource): Operation[] =>
      newest("operations", "kind = ? AND remote_id IS NOT NULL", kind).map(operationOf),

    operations: (): Operation[] => newest("operations", "TRUE").map(operationOf),

    batches: (): Batch[] => newest("batches", "digest IS NOT NULL").map(batchOf),
  };
}
