import type { Database } from "../../sqlite/database.ts";
import { accountInSql, makeAccount } from "../account.ts";
import type { Holder } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { Batch, BatchFile } from "./batch.ts";
import { batchOf } from "./from-row.ts";
import type { BatchListing } from "./listing.ts";

/** What came of asking for the batch of a file. */
export type BatchClaim =
  /** Ours; `plan` of it is null until it was planned. */
  | { kind: "ours"; batch: Batch }
  | { kind: "held"; batch: Batch; by: Holder }
  /** Another file of the same name was planned before. */
  | { kind: "other file"; batch: Batch };

/** Which process works on a batch: one at a time. */
export function openBatchClaims(database: Database, worker: Worker, listing: BatchListing) {
  return {
    /** Asks for the batch of a file: one process at a time, one file for a name. */
    claim: (file: BatchFile): BatchClaim => database.transaction(() => claim(file)),

    /** The process that works on it, where one still does. */
    holderOf,

    /** The numbers of the batches, of any account, that a process works on. */
    heldBatches: (): bigint[] =>
      database
        .prepare("SELECT * FROM batches WHERE holder IS NOT NULL")
        .all()
        .map(batchOf)
        .filter((batch) => holderOf(batch) !== undefined)
        .map(({ number }) => number),

    /** Nobody works on it any longer. */
    letGo: ({ number }: Batch): void => {
      database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
    },
  };

  function claim(file: BatchFile): BatchClaim {
    const known = listing.ofFile(file.hash);
    const by = known && holderOf(known);
    if (known && by) return { kind: "held", batch: known, by };
    if (known?.plan) return { kind: "ours", batch: take(known) };
    if (known) return { kind: "ours", batch: take(renewed(database, known, file)) };
    const other = listing.named(file.name);
    if (other) return { kind: "other file", batch: other };
    const id = idOf(file.hash, (id) => listing.withId(id) !== undefined);
    return { kind: "ours", batch: take(begin(database, worker, { ...file, id })) };
  }

  function holderOf({ holder }: Batch): Holder | undefined {
    return holder && worker.isAlive(holder) ? holder : undefined;
  }

  /** This process works on it from now on. */
  function take(batch: Batch): Batch {
    const holder = holderNow(worker);
    database
      .prepare("UPDATE batches SET holder = ? WHERE number = ?")
      .run(JSON.stringify(holder), batch.number);
    return { ...batch, holder };
  }
}

/** A batch that is not planned yet. */
function begin(database: Database, worker: Worker, file: BatchFile & { id: string }): Batch {
  const { profile, environment, baseUrl, keyId } = worker.owner;
  const { id, name, fileName, hash, columns, method } = file;
  const at = nowIn(worker);
  makeAccount(database, worker.owner, at);
  const row = database
    .prepare(insert)
    .get(
      ...[id, profile, environment, baseUrl, keyId],
      ...[name, fileName, hash, JSON.stringify(columns), method],
      ...[worker.user, at],
    );
  return batchOf(row ?? {});
}

/** What was claimed and never planned binds nobody: what is said now counts. */
function renewed(database: Database, { number }: Batch, file: BatchFile): Batch {
  const { name, fileName, columns, method } = file;
  const row = database
    .prepare(
      "UPDATE batches SET name = ?, file_name = ?, columns = ?, method = ? WHERE number = ? RETURNING *",
    )
    .get(name, fileName, JSON.stringify(columns), method, number);
  return batchOf(row ?? {});
}

const insert = `
  INSERT INTO batches (id, profile, environment, account,
    name, file_name, file_hash, columns, method, user, created_at)
  VALUES (?, ?, ?, ${accountInSql}, ?, ?, ?, ?, ?, ?, ?) RETURNING *`;

/** Letters and digits that nobody mixes up when reading them aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Longer only where two files would share it. */
function idOf(fileHash: string, isTaken: (id: string) => boolean): string {
  const letters = [...Buffer.from(fileHash, "hex")].map((byte) => alphabet[byte % 32]).join("");
  for (let length = 6; ; length += 1) {
    const id = `B${letters.slice(0, length)}`;
    if (!isTaken(id)) return id;
  }
}
