import type { Database } from "../../sqlite/database.ts";
import type { Holder } from "../operation.ts";
import { recordPlan } from "../recorded.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import { samePayoutInSql } from "../sqlite/operation-rows.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { Batch, BatchFile } from "./batch.ts";
import { batchOf } from "./from-row.ts";
import type { BatchListing } from "./listing.ts";

/** The answer to a claim of the batch of a file. */
export type BatchClaim =
  /** Ours; `plan` of it is null until it was planned. */
  | { kind: "ours"; batch: Batch }
  | { kind: "held"; batch: Batch; by: Holder }
  /** It was cancelled: nothing of it is sent. */
  | { kind: "cancelled"; batch: Batch }
  /** An unfinished batch with other rows has the name. */
  | { kind: "other rows"; batch: Batch };

interface Claiming {
  account: RunAccount;
  listing: BatchListing;
}

/** Which process works on a batch: one at a time. */
export function openBatchClaims(
  database: Database,
  worker: Worker,
  { account, listing }: Claiming,
) {
  return {
    /** Claims the batch of a file, which becomes a new one if its rows are known of none. */
    claim: (file: BatchFile): BatchClaim => database.transaction(() => claim(file)),

    /** Claims a batch that was planned before. */
    claimPlanned: (batch: Batch): BatchClaim =>
      database.transaction(() => claimKnown(listing.withId(batch.id) ?? batch)),

    /** The process that works on it, if one still does. */
    holderOf,

    /** Ends the claim. */
    letGo: ({ number }: Batch): void => {
      database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
    },

    /**
     * Cancels a batch that this process has claimed, and ends the claim: its rows that were not sent never
     * are, and count for no check of duplicates.
     */
    cancel: (batch: Batch): Batch => {
      const cancelledAt = nowIn(worker);
      database.transaction(() => {
        database
          .prepare("UPDATE batches SET cancelled_at = ?, holder = NULL WHERE number = ?")
          .run(cancelledAt, batch.number);
        recordPlan(database, batch.number, cancelledAt);
      });
      return { ...batch, cancelledAt, holder: null };
    },

    unfinishedNamed,
  };

  function claim(file: BatchFile): BatchClaim {
    const known = listing.withIdentity(file.identity);
    if (known?.plan) return claimKnown(known);
    const by = known && holderOf(known);
    if (known && by) return { kind: "held", batch: known, by };
    const other = unfinishedNamed(file.name);
    if (other) return { kind: "other rows", batch: other };
    if (known) return { kind: "ours", batch: take(renewed(database, known, file)) };
    const id = idOf(file.identity, (id) => listing.withId(id) !== undefined);
    return { kind: "ours", batch: take(begin(database, worker, { ...file, id, account })) };
  }

  function claimKnown(batch: Batch): BatchClaim {
    const by = holderOf(batch);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    return { kind: "ours", batch: take(batch) };
  }

  /**
   * The newest batch by this name, if it is unfinished: not cancelled, and not every row was accepted. Other
   * rows under its name may be the same payouts, corrected, and would be sent a second time.
   */
  function unfinishedNamed(name: string): Batch | undefined {
    const batch = listing.named(name);
    if (!batch || batch.cancelledAt !== null) return undefined;
    return database.prepare(hasOpenRow).get(batch.number) && batch;
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

const hasOpenRow = `
  SELECT 1 FROM batch_rows r JOIN batches b ON b.number = r.batch
    LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference
      AND ${samePayoutInSql} AND o.state = 'CONFIRMED' AND o.status IS NOT 'Cancelled'
  WHERE r.batch = ? AND o.number IS NULL LIMIT 1`;

/** A batch that is not planned yet. */
function begin(
  database: Database,
  worker: Worker,
  file: BatchFile & { id: string; account: RunAccount },
): Batch {
  const { profile, environment } = worker.owner;
  const { id, name, fileName, hash, identity, columns, method } = file;
  const at = nowIn(worker);
  const account = file.account.store(at).number;
  const row = database
    .prepare(insert)
    .get(
      ...[id, profile, environment, account],
      ...[name, fileName, hash, identity, JSON.stringify(columns), method],
      ...[worker.user, at],
    );
  return batchOf(row ?? {});
}

/** A batch that was claimed and never planned: the file as it is now counts. */
function renewed(database: Database, { number }: Batch, file: BatchFile): Batch {
  const { name, fileName, hash, columns, method } = file;
  const row = database
    .prepare(
      "UPDATE batches SET name = ?, file_name = ?, file_hash = ?, columns = ?, method = ? WHERE number = ? RETURNING *",
    )
    .get(name, fileName, hash, JSON.stringify(columns), method, number);
  return batchOf(row ?? {});
}

const insert = `
  INSERT INTO batches (id, profile, environment, account,
    name, file_name, file_hash, identity, columns, method, user, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`;

/** Letters and digits that are not mistaken for each other when read aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Longer only if two batches would share it. */
function idOf(identity: string, isTaken: (id: string) => boolean): string {
  const letters = [...Buffer.from(identity, "hex")].map((byte) => alphabet[byte % 32]).join("");
  for (let length = 6; ; length += 1) {
    const id = `B${letters.slice(0, length)}`;
    if (!isTaken(id)) return id;
  }
}
