import type { Database, Row } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Worker } from "../worker.ts";
import type { StoredCallback } from "./callback.ts";
import { callbackOf } from "./from-row.ts";

/** Which callbacks of one account were kept. */
export function openCallbackListing(database: Database, worker: Worker, account: RunAccount) {
  const read = (row: Row): StoredCallback => callbackOf(row, worker);
  const own = `SELECT * FROM callbacks WHERE account = ?`;
  const byNumber = database.prepare(`${own} AND number = ?`);
  const newest = database.prepare(
    `${own} AND (?2 IS NULL OR verdict = ?2) ORDER BY number DESC LIMIT ?3`,
  );
  return {
    find: (number: number): StoredCallback | undefined => {
      const row = byNumber.get(account.number(), BigInt(number));
      return row && read(row);
    },

    /** Newest first. */
    list: ({ verdict, limit }: { verdict: string | undefined; limit: number }): StoredCallback[] =>
      newest.all(account.number(), verdict ?? null, BigInt(limit)).map(read),
  };
}
