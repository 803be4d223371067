import { Failure } from "../../domain/failure.ts";
import type { Database, Value } from "../../platform/sqlite/database.ts";
import { guardScope } from "../account.ts";
import {
  type Batch,
  type BatchFile,
  type BatchResults,
  type BatchStore,
  idsOf,
  type KnownBatches,
  type PlannedClaim,
  type PlannedRow,
  type Traits,
} from "../batch.ts";
import {
  batchOf,
  createBatchResults,
  foundPlans,
  knownBatchesOf,
  planRowOf,
  traitValues,
} from "../batch-results.ts";
import { planColumns, planDigest, sentColumns } from "../chain.ts";
import { isOfBatch, knownBatches, plansWithin } from "../conditions.ts";
import type { Holder } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { planRows, recordRow } from "./chain.ts";
import { paged, textPagesOf } from "./operation-rows.ts";

const rowsPerCommit = 20_000;

/** The planned batches of an account, newest first. */
export function listBatches(database: Database, account: RunAccount, limit: number): Batch[] {
  const { isAll } = account;
  return database
    .prepare(
      `SELECT * FROM batches WHERE ${isAll ? "true" : "account = ?"} AND digest IS NOT NULL
       ORDER BY number DESC LIMIT ?`,
    )
    .all(...(isAll ? [] : [account.number()]), BigInt(limit))
    .map(batchOf);
}

/** The batches of one account in SQLite. */
export function createBatches(database: Database, worker: Worker, account: RunAccount): BatchStore {
  const found = findsIn(database, account);
  return {
    ...createResults(database),
    ...createLocks(database, worker, account, found),
    ...createPlans(database, worker, found),
    known: async (traits) => found.known(traits),
    list: async (limit) => listBatches(database, account, limit),
    plansWithin: ({ count, sumPaisa }) => {
      const scope = guardScope(worker.owner);
      const page = database.prepare(plansWithin(planSource, scope, planNames));
      return foundPlans(async (before, limit) => {
        const own = account.number();
        return page.all(scope.value(own), own, BigInt(count), sumPaisa, before, BigInt(limit));
      });
    },
  };
}

type Finds = ReturnType<typeof findsIn>;

function findsIn(database: Database, account: RunAccount) {
  return {
    known: (traits: Traits): KnownBatches => {
      const own = account.isAll ? null : account.number();
      return knownBatchesOf(database.prepare(selectKnown).all(own, ...traitValues(traits)));
    },
    /** As it is now. */
    again: (batch: Batch): Batch => {
      const row = database.prepare("SELECT * FROM batches WHERE number = ?").get(batch.number);
      return row ? batchOf(row) : batch;
    },
    hasId: (id: string): boolean =>
      database
        .prepare("SELECT 1 FROM batches WHERE account = ? AND id = ?")
        .get(account.number(), id) !== undefined,
  };
}

function createLocks(
  database: Database,
  worker: Worker,
  account: RunAccount,
  { known, again, hasId }: Finds,
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
  const claimKnown = (batch: Batch): PlannedClaim => {
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
    const id = idsOf(identity).find((free) => !hasId(free));
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
    holderOf: async (batch) => holderOf(again(batch)),
    claim: async (file, which) =>
      database.transaction(() => {
        const { identity, name } = file;
        const found = known({ identity, name });
        const is = which(file, found);
        if (is.kind === "same") return claimKnown(is.batch);
        const unplanned = found.batches.find((one) => one.identity === identity);
        const by = unplanned && holderOf(unplanned);
        if (unplanned && by) return { kind: "held", batch: unplanned, by };
        if (is.kind === "changed") return { kind: "changed-file", batch: is.batch };
        return { kind: "ours", batch: lock(store(file)) };
      }),
    claimPlanned: async (batch) => database.transaction(() => claimKnown(again(batch))),
    release: async ({ number }) => {
      database
        .prepare(`UPDATE batches SET holder = NULL WHERE number = ? AND ${isHeld}`)
        .run(number, worker.holder.lock);
    },
  };
}

function createPlans(
  database: Database,
  worker: Worker,
  { known }: Finds,
): Pick<BatchStore, "plan" | "acceptLines" | "isUnaltered" | "cancel"> {
  /** Records a change of a plan, which fails if another process has taken the batch meanwhile. */
  const record = ({ number, id }: Batch, columns: Record<string, Value>, at: string): void => {
    const set = Object.keys(columns).map((name) => `${name} = ?`);
    const row = database
      .prepare(`UPDATE batches SET ${set} WHERE number = ? AND ${isNotTaken} RETURNING *`)
      .get(...Object.values(columns), number, worker.holder.lock);
    if (!row) throw taken(id);
    recordRow(database, "plan", row, at);
  };
  return {
    plan: async (batch, rows, checkedUpTo, which) => {
      const { number, id } = batch;
      /** Another process may have taken the batch while this one waited for a confirmation. */
      const asOwner = <Result>(work: () => Result): Result =>
        database.transaction(() => {
          if (!database.prepare(isOwnUnplanned).get(number, worker.holder.lock)) throw taken(id);
          return work();
        });
      // An interrupted run may have left rows; nothing of them was sent.
      deleteRows(database, number, asOwner);
      const sum = insertRows(database, number, rows(), asOwner);
      const digest = digestOf(database, number);
      const createdAt = nowIn(worker);
      return database.transaction(() => {
        const { identity, name } = batch;
        const is = which(batch, known({ identity, name }));
        if (is.kind !== "new") return { kind: "changed-file", batch: is.batch };
        if (database.prepare(changedSince).get(number, checkedUpTo)) return { kind: "changed" };
        const { rowCount, totalPaisa } = sum;
        const columns = { row_count: BigInt(rowCount), total_paisa: totalPaisa, digest };
        record(batch, { ...columns, created_at: createdAt }, createdAt);
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
        record(batch, { digest }, nowIn(worker));
        return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
      }),

    isUnaltered: async ({ number, plan }) => plan?.digest === digestOf(database, number),

    cancel: async (batch) => {
      const cancelledAt = nowIn(worker);
      const columns = { cancelled_at: cancelledAt, holder: null };
      database.transaction(() => record(batch, columns, cancelledAt));
      return { ...batch, cancelledAt, holder: null };
    },
  };
}

/** The lock of this process was removed while it ran, so another one could take the batch. */
function taken(id: string): Failure {
  return new Failure("operation.locked", `Another lenden process took batch ${id}.`, {
    hint: `To see its rows, run 'lenden payout batch status ${id}'.`,
    operation: id,
  });
}

/** Works in a transaction in which the batch belongs to this process. */
type AsOwner = <Result>(work: () => Result) => Result;

function deleteRows(database: Database, number: bigint, asOwner: AsOwner): void {
  const clear = database.prepare(
    `DELETE FROM batch_rows WHERE batch = ? AND row IN
       (SELECT row FROM batch_rows WHERE batch = ? LIMIT ${rowsPerCommit})`,
  );
  while (asOwner(() => clear.run(number, number)) > 0);
}

/** Some thousands in one commit, so that other processes need not wait for all of them. */
function insertRows(
  database: Database,
  number: bigint,
  rows: Iterable<PlannedRow>,
  asOwner: AsOwner,
) {
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
  while (asOwner(insertSome));
  return sum;
}

/** The process with this lock has the batch. */
const isHeld = "json_extract(holder, '$.lock') = ?";
/** No other process has taken the batch. */
const isNotTaken = `(holder IS NULL OR ${isHeld})`;
const isOwnUnplanned = `SELECT 1 FROM batches WHERE number = ? AND ${isHeld} AND digest IS NULL`;

const planSource = {
  tables: {
    accounts: "accounts",
    batches: "batches",
    rows: "batch_rows",
    operations: "operations",
  },
  columns: "b.*",
  jsonArray: "json_array",
};
const planNames = { scope: "?1", own: "?2", count: "?3", sum: "?4", before: "?5", limit: "?6" };

const selectKnown = knownBatches(planSource, {
  ...{ account: "?1", id: "?2", hash: "?3", identity: "?4" },
  ...{ count: "?5", sum: "?6", name: "?7" },
});

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
function digestOf(database: Database, number: bigint): string {
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
