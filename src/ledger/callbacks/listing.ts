import type { Database, Row } from "../../sqlite/database.ts";
import { accountInSql } from "../account.ts";
import type { Worker } from "../worker.ts";
import type { StoredCallback } from "./callback.ts";
import { callbackOf } from "./from-row.ts";

/** Which callbacks of one account were kept. */
export function openCallbackListing(database: Database, worker: Worker) {
  const { baseUrl, keyId } = worker.owner;
  const read = (row: Row): StoredCallback => callbackOf(row, worker);
  const own = `SELECT * FROM callbacks WHERE account = ${accountInSql}`;
  const byNumber = database.prepare(`${own} AND number = ?`);
  const newest = database.prepare(
    `${own} AND (?3 IS NULL OR verdict = ?3) ORDER BY number DESC LIMIT ?4`,
  );
  return {
    find: (number: number): StoredCallback | undefined => {
      const row = byNumber.get(baseUrl, keyId, BigInt(number));
      return row && read(row);
    },

    /** Newest first. */
    list: ({ verdict, limit }: { verdict: string | undefined; limit: number }): StoredCallback[] =>
      newest.all(baseUrl, keyId, verdict ?? null, BigInt(limit)).map(read),
  };
}
