import { accountInSql, makeAccount } from "./account.ts";
import type { Batch } from "./batch.ts";
import { openPlans } from "./batch-plan.ts";
import { openBatchRows } from "./batch-rows.ts";
import type { Database } from "./database.ts";
import { openDraft } from "./draft.ts";
import type { Holder } from "./operation.ts";
import { batchOf } from "./rows.ts";
import type { Worker } from "./worker.ts";

/** A file that is to become a batch. */
export interface BatchFile {
  /** The file's, unless somebody gave it another. */
  name: string;
  fileName: string;
  hash: string;
  columns: string[];
  method: string | null;
}

/** What came of asking for the batch of a file. */
export type BatchClaim =
  /** Ours; `plan` of it is null until it was planned. */
  | { kind: "ours"; batch: Batch }
  | { kind: "held"; batch: Batch; by: Holder }
  /** Another file of the same name was planned before. */
  | { kind: "other file"; batch: Batch };

/** Letters and digits that nobody mixes up when reading them aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export type Batches = ReturnType<typeof openBatches>;

/** The batches of one account: plans, and what came of their rows. */
export function openBatches(database: Database, worker: Worker) {
  const { profile, environment, baseUrl, keyId } = worker.owner;
  const own = `account = ${accountInSql}`;
  const one = (sql: string, ...values: string[]): Batch | undefined => {
    const row = database.prepare(sql).get(baseUrl, keyId, ...values);
    return row && batchOf(row);
  };
  const take = (batch: Batch): Batch => {
    const holder = { ...worker.holder, since: new Date(worker.now()).toISOString() };
    database
      .prepare("UPDATE batches SET holder = ? WHERE number = ?")
      .run(JSON.stringify(holder), batch.number);
    return { ...batch, holder };
  };

  const ofFile = (hash: string) =>
    one(`SELECT * FROM batches WHERE ${own} AND file_hash = ?`, hash);
  const named = (name: string) =>
    one(
      `SELECT * FROM batches WHERE ${own} AND ? IN (name, file_name) AND digest IS NOT NULL
       ORDER BY name = ? DESC, number DESC LIMIT 1`,
      name,
      name,
    );
  const holderOf = ({ holder }: Batch) => (holder && worker.isAlive(holder) ? holder : undefined);

  return {
    ...openBatchRows(database, worker.owner),
    ...openPlans(database),

    /** Where a file is read and looked at before anything of it is kept. */
    draft: () => openDraft(database, worker.owner),

    ofFile,

    /** By its id, its name, or its file's. */
    find: (name: string): Batch | undefined =>
      one(`SELECT * FROM batches WHERE ${own} AND id = ?`, name.toUpperCase()) ?? named(name),

    /** The one that was planned by this name, or the newest from a file of this name. */
    named,

    /** Newest first. */
    list: (limit: number): Batch[] =>
      database
        .prepare(
          `SELECT * FROM batches WHERE ${own} AND digest IS NOT NULL ORDER BY number DESC LIMIT ?`,
        )
        .all(baseUrl, keyId, BigInt(limit))
        .map(batchOf),

    /** The process that works on it, where one still does. */
    holderOf,

    /** Asks for the batch of a file: one process at a time, one file for a name. */
    claim: ({ name, fileName, hash, columns, method }: BatchFile): BatchClaim =>
      database.transaction(() => {
        const known = ofFile(hash);
        const by = known && holderOf(known);
        if (known && by) return { kind: "held", batch: known, by };
        if (known) return { kind: "ours", batch: take(known) };
        const other = named(name);
        if (other) return { kind: "other file", batch: other };
        makeAccount(database, worker.owner);
        const row = database
          .prepare(
            `INSERT INTO batches (id, profile, environment, account, name, file_name, file_hash,
               columns, method, user, created_at)
             VALUES (?, ?, ?, ${accountInSql}, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
          )
          .get(
            shortId(hash),
            profile,
            environment,
            baseUrl,
            keyId,
            name,
            fileName,
            hash,
            JSON.stringify(columns),
            method,
            worker.user,
            new Date(worker.now()).toISOString(),
          );
        return { kind: "ours", batch: take(batchOf(row ?? {})) };
      }),

    /** Nobody works on it any longer. */
    letGo: ({ number }: Batch): void => {
      database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
    },
  };

  /** Longer only where two files would share it. */
  function shortId(hash: string): string {
    const letters = [...Buffer.from(hash, "hex")].map((byte) => alphabet[byte % 32]).join("");
    for (let length = 6; ; length += 1) {
      const id = `B${letters.slice(0, length)}`;
      if (!one(`SELECT * FROM batches WHERE ${own} AND id = ?`, id)) return id;
    }
  }
}
