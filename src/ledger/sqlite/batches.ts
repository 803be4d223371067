import type { Database, Value } from "../../platform/sqlite/database.ts";
import {
  type Batch,
  type BatchClaim,
  type BatchFile,
  type BatchResults,
  type BatchStore,
  idsOf,
  type PlannedRow,
} from "../batch.ts";
import { batchOf, createBatchResults, planRowOf } from "../batch-results.ts";
import { planColumns, planDigest, sentColumns } from "../chain.ts";
import { isOfBatch, isSamePayout } from "../conditions.ts";
import type { Holder } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { planRows, recordRow } from "./chain.ts";
import { paged, textPagesOf } from "./operation-rows.ts";

const rowsPerCommit = 20_000;

/** The planned batches of an account, newest first. */
export function listBatches(database: Database, account: RunAccount, limit: number): Batch[] {
  return database
    .prepare(`${selectOf(account)} AND ${isPlanned} ORDER BY number DESC LIMIT ?`)
    .all(...whose(account), BigInt(limit))
    .map(batchOf);
}

function selectOf({ isAll }: RunAccount): string {
  return `SELECT * FROM batches WHERE ${isAll ? "true" : "account = ?"}`;
}

function whose(account: RunAccount): Value[] {
  return account.isAll ? [] : [account.number()];
}

/** The batches of one account in SQLite. */
export function createBatches(database: Database, worker: Worker, account: RunAccount): BatchStore {
  const found = findsIn(database, account);
  const { one, withId, named, unfinishedNamed } = found;
  return {
    ...createResults(database),
    ...createLocks(database, worker, account, found),
    ...createPlans(database, worker, found),
    withIdentity: async (identity) => one("identity = ?", identity),
    ofFile: async (hash, ownName) =>
      one(
        `file_hash = ? AND name = coalesce(?, file_name) AND ${isPlanned} ORDER BY ${newest}`,
        hash,
        ownName ?? null,
      ),
    newestOfFile: async (hash) => one(`file_hash = ? AND ${isPlanned} ORDER BY ${newest}`, hash),
    find: async (name) => withId(name.toUpperCase()) ?? named(name),
    list: async (limit) => listBatches(database, account, limit),
    unfinishedNamed: async (name) => unfinishedNamed(name),
  };
}

type Finds = ReturnType<typeof findsIn>;

function findsIn(database: Database, account: RunAccount) {
  const one = (condition: string, ...values: Value[]): Batch | undefined => {
    const row = database
      .prepare(`${selectOf(account)} AND ${condition}`)
      .get(...whose(account), ...values);
    return row && batchOf(row);
  };
  const named = (name: string) =>
    one(`? IN (name, file_name) AND ${isPlanned} ORDER BY name = ? DESC, ${newest}`, name, name);
  return {
    one,
    named,
    withId: (id: string) => one("id = ?", id),
    unfinishedNamed: (name: string): Batch | undefined => {
      const batch = named(name);
      if (!batch || batch.cancelledAt !== null) return undefined;
      return database.prepare(hasOpenRow).get(batch.number) && batch;
    },
  };
}

function createLocks(
  database: Database,
  worker: Worker,
  account: RunAccount,
  { one, withId, unfinishedNamed }: Finds,
): Pick<BatchStore, "claim" | "claimPlanned" | "release" | "holderOf"> {
  const holderOf = ({ holder }: Batch): Holder | undefined =>
    holder && worker.isAlive(holder) ? holder : undefined;
  const lock = (batch: Batch): Batch => {
    const holder = holderNow(worker);
    database
      .prepare("UPDATE batches SET holder = ? WHERE number = ?")
      .run(JSON.stringify(holder), batch.number);
    return { ...batch, holder };
  };
  const claimKnown = (batch: Batch): BatchClaim => {
    const by = holderOf(batch);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    return { kind: "ours", batch: lock(batch) };
  };
  /** A batch that was claimed and never planned is the file as it is now. */
  const store = (file: BatchFile): Batch => {
    const { profile, environment } = worker.owner;
    const { name, fileName, hash, identity, columns, method } = file;
    const at = nowIn(worker);
    const id = idsOf(identity).find((free) => withId(free) === undefined);
    const row = database
      .prepare(insertBatch)
      .get(
        ...[id ?? null, profile, environment, account.store(at).number],
        ...[name, fileName, hash, identity, JSON.stringify(columns), method],
        ...[worker.user, at],
      );
    if (!row) throw new Error("a planned batch was claimed as a new one");
    return batchOf(row);
  };
  return {
    holderOf: async (batch) => holderOf(batch),
    claim: async (file) =>
      database.transaction(() => {
        const known = one("identity = ?", file.identity);
        if (known?.plan) return claimKnown(known);
        const by = known && holderOf(known);
        if (known && by) return { kind: "held", batch: known, by };
        const other = unfinishedNamed(file.name);
        if (other) return { kind: "other-rows", batch: other };
        return { kind: "ours", batch: lock(store(file)) };
      }),
    claimPlanned: async (batch) =>
      database.transaction(() => claimKnown(withId(batch.id) ?? batch)),
    release: async ({ number }) => {
      database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
    },
  };
}

function createPlans(
  database: Database,
  worker: Worker,
  { unfinishedNamed }: Finds,
): Pick<BatchStore, "plan" | "acceptLines" | "isUnaltered" | "cancel"> {
  return {
    plan: async (batch, rows, checkedUpTo) => {
      const { number } = batch;
      // An interrupted run may have left rows; nothing of them was sent.
      deleteRows(database, number);
      const sum = insertRows(database, number, rows());
      const digest = digestOf(database, number);
      const createdAt = nowIn(worker);
      return database.transaction(() => {
        const other = unfinishedNamed(batch.name);
        if (other) return { kind: "other-rows", batch: other };
        if (database.prepare(changedSince).get(number, checkedUpTo)) return { kind: "changed" };
        const row = database
          .prepare(
            "UPDATE batches SET row_count = ?, total_paisa = ?, digest = ?, created_at = ? WHERE number = ? RETURNING *",
          )
          .get(BigInt(sum.rowCount), sum.totalPaisa, digest, createdAt, number);
        recordRow(database, "plan", row, createdAt);
        return { kind: "planned", batch: { ...batch, createdAt, plan: { ...sum, digest } } };
      });
    },

    acceptLines: async (batch, lines) =>
      database.transaction(() => {
        database
          .prepare(
            "UPDATE batch_rows SET accepted = 1 WHERE batch = ? AND line IN (SELECT value FROM json_each(?))",
          )
          .run(batch.number, JSON.stringify(lines));
        const digest = digestOf(database, batch.number);
        const row = database
          .prepare("UPDATE batches SET digest = ? WHERE number = ? RETURNING *")
          .get(digest, batch.number);
        recordRow(database, "plan", row, nowIn(worker));
        return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
      }),

    isUnaltered: async ({ number, plan }) => plan?.digest === digestOf(database, number),

    cancel: async (batch) => {
      const cancelledAt = nowIn(worker);
      database.transaction(() => {
        const row = database
          .prepare(
            "UPDATE batches SET cancelled_at = ?, holder = NULL WHERE number = ? RETURNING *",
          )
          .get(cancelledAt, batch.number);
        recordRow(database, "plan", row, cancelledAt);
      });
      return { ...batch, cancelledAt, holder: null };
    },
  };
}

function deleteRows(database: Database, number: bigint): void {
  const clear = database.prepare(
    `DELETE FROM batch_rows WHERE batch = ? AND row IN
       (SELECT row FROM batch_rows WHERE batch = ? LIMIT ${rowsPerCommit})`,
  );
  while (database.transaction(() => clear.run(number, number)) > 0);
}

/** Some thousands in one commit, so that other processes need not wait for all of them. */
function insertRows(database: Database, number: bigint, rows: Iterable<PlannedRow>) {
  const insert = database.prepare(insertRow);
  const waiting = rows[Symbol.iterator]();
  const sum = { rowCount: 0, totalPaisa: 0n };
  const insertSome = (): boolean => {
    for (let some = 0; some < rowsPerCommit; some += 1) {
      const next = waiting.next();
      if (next.done) return false;
      const row = planRowOf(next.value);
      insert.run(number, ...planColumns.map((name) => row[name] ?? null));
      sum.rowCount += 1;
      sum.totalPaisa += next.value.amountPaisa;
    }
    return true;
  };
  while (database.transaction(insertSome));
  return sum;
}

const isPlanned = "digest IS NOT NULL";
const newest = "number DESC LIMIT 1";

const hasOpenRow = `
  SELECT 1 FROM batch_rows r JOIN batches b ON b.number = r.batch
    LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference
      AND ${isSamePayout} AND o.state = 'CONFIRMED' AND o.status IS NOT 'Cancelled'
  WHERE r.batch = ? AND o.number IS NULL LIMIT 1`;

/**
 * A change after an event that concerns a row of a batch, by a payout or a plan of any account. One SELECT per
 * index: with OR, SQLite would compare all rows of two plans with each other.
 */
const changedSince = ["operations o ON o.number = e.operation", "batch_rows o ON o.batch = e.batch"]
  .flatMap((changed) =>
    [
      "r.reference = o.reference",
      "r.recipient_key = o.recipient_key AND r.amount_paisa = o.amount_paisa",
    ].map(
      (isSame) => `
        SELECT 1 FROM events e CROSS JOIN ${changed} CROSS JOIN batch_rows r ON ${isSame}
        WHERE e.number > ?2 AND e.batch IS NOT ?1 AND r.batch = ?1`,
    ),
  )
  .join(" UNION ALL ")
  .concat(" LIMIT 1");

const insertBatch = `
  INSERT INTO batches (id, profile, environment, account,
    name, file_name, file_hash, identity, columns, method, user, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account, identity) DO UPDATE SET name = excluded.name, file_name = excluded.file_name,
    file_hash = excluded.file_hash, columns = excluded.columns, method = excluded.method
    WHERE batches.digest IS NULL
  RETURNING *`;

const insertRow = `
  INSERT INTO batch_rows (batch, ${planColumns}) VALUES (?, ${planColumns.map(() => "?")})`;

/** The digest of what is sent of every row of a plan. */
export function digestOf(database: Database, number: bigint): string {
  const digest = planDigest();
  for (const row of paged(database, ...planRows(number, sentColumns))) digest.add(row);
  return digest.value();
}

const rows = "FROM batch_rows r WHERE r.batch = ?1";
const joined = `FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON ${isOfBatch} WHERE r.batch = ?1`;

function createResults(database: Database): BatchResults {
  return createBatchResults({
    ...{ rows, joined, second: "?2" },
    read: async (sql, ...values) => database.prepare(sql).all(...values),
    pages: (columns, where, batch) => {
      const from = `${where} AND r.row > ? ORDER BY r.row`;
      return textPagesOf(database, columns, { from, by: "row", values: [batch] });
    },
  });
}
