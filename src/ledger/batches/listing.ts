import type { Database } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Batch } from "./batch.ts";
import { batchOf } from "./from-row.ts";

export type BatchListing = ReturnType<typeof openBatchListing>;

/** Which batches of one account there are, and by what they are found. */
export function openBatchListing(database: Database, account: RunAccount) {
  const select = `SELECT * FROM batches WHERE ${account.isAll ? "true" : "account = ?"}`;
  const whose = () => (account.isAll ? [] : [account.number()]);
  const one = (condition: string, ...values: string[]): Batch | undefined => {
    const row = database.prepare(`${select} AND ${condition}`).get(...whose(), ...values);
    return row && batchOf(row);
  };
  const withId = (id: string) => one("id = ?", id);
  const named = (name: string) =>
    one(`? IN (name, file_name) AND ${isPlanned} ORDER BY name = ? DESC, ${newest}`, name, name);
  return {
    /** By its identity, planned or not yet. */
    withIdentity: (identity: string) => one("identity = ?", identity),

    /**
     * The plan of a file by the SHA-256 of its bytes: the one with this name of its own, or without one if
     * none is given.
     */
    ofFile: (hash: string, ownName: string | undefined): Batch | undefined =>
      ownName === undefined
        ? one(`file_hash = ? AND name = file_name AND ${isPlanned} ORDER BY ${newest}`, hash)
        : one(`file_hash = ? AND name = ? AND ${isPlanned} ORDER BY ${newest}`, hash, ownName),

    /** The newest plan of a file by the SHA-256 of its bytes, whatever its name. */
    newestOfFile: (hash: string) => one(`file_hash = ? AND ${isPlanned} ORDER BY ${newest}`, hash),

    /** By its id as it is written, planned or not yet. */
    withId,

    /** The newest that was planned by this name, or else from a file of this name. */
    named,

    /** By its id in any case, its name, or its file's. */
    find: (name: string): Batch | undefined => withId(name.toUpperCase()) ?? named(name),

    /** Those that were planned, newest first. */
    list: (limit: number): Batch[] =>
      database
        .prepare(`${select} AND ${isPlanned} ORDER BY number DESC LIMIT ?`)
        .all(...whose(), BigInt(limit))
        .map(batchOf),
  };
}

const isPlanned = "digest IS NOT NULL";
const newest = "number DESC LIMIT 1";
