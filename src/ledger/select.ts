import type { Database, Row, Value } from "../sqlite/database.ts";
import { accountInSql } from "./account.ts";
import type { Operation, Owner } from "./operation.ts";
import { operationOf } from "./rows.ts";

/** Since when an operation, `o`, may have been sent. */
export const openedAt = "coalesce(o.reopened_at, o.created_at)";

/** When it last began to be sent: in doubt, it may go out for a day. */
export const lastBegunAt = "coalesce(o.resumed_at, o.reopened_at, o.created_at)";

/**
 * Prepares questions for operations of one account. `more` is the rest of the SQL, after the
 * account; whoever asks gives the values for the question marks in it.
 */
export function openSelect(database: Database, owner: Owner) {
  const { baseUrl, keyId } = owner;
  const read = (row: Row): Operation => operationOf(row, owner);
  return (more: string) => {
    const statement = database.prepare(
      `SELECT * FROM operations WHERE account = ${accountInSql} ${more}`,
    );
    return {
      first: (...values: Value[]): Operation | undefined => {
        const row = statement.get(baseUrl, keyId, ...values);
        return row && read(row);
      },
      all: (...values: Value[]): Operation[] => statement.all(baseUrl, keyId, ...values).map(read),
    };
  };
}
