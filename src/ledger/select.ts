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
  return openQuestions(database, owner, `account = ${accountInSql}`, [baseUrl, keyId]);
}

/**
 * The same for operations of whatever API key of this service: a merchant gets a new one, and pays the same
 * people and pays back the same payments with it.
 */
export function openSelectOfService(database: Database, owner: Owner) {
  const { baseUrl, environment } = owner;
  return openQuestions(database, owner, ofServiceInSql, [baseUrl, environment]);
}

/**
 * The operations that a duplicate check looks at. In production: all of the environment, whichever base
 * URL and API key sent them. In a sandbox: those of this base URL, because every local sandbox is a world
 * of its own.
 */
export function openSelectOfGuards(database: Database, owner: Owner) {
  if (owner.environment !== "production") return openSelectOfService(database, owner);
  const all = "account IN (SELECT number FROM accounts) AND environment = ?";
  return openQuestions(database, owner, all, [owner.environment]);
}

const ofServiceInSql =
  "account IN (SELECT number FROM accounts WHERE base_url = ?) AND environment = ?";

function openQuestions(database: Database, owner: Owner, whose: string, of: string[]) {
  const read = (row: Row): Operation => operationOf(row, owner);
  return (more: string) => {
    const statement = database.prepare(`SELECT * FROM operations WHERE ${whose} ${more}`);
    return {
      first: (...values: Value[]): Operation | undefined => {
        const row = statement.get(...of, ...values);
        return row && read(row);
      },
      all: (...values: Value[]): Operation[] => statement.all(...of, ...values).map(read),
    };
  };
}
