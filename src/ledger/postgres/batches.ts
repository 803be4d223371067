import { guardScope } from "../account.ts";
import {
  type Batch,
  type BatchClaim,
  type BatchFile,
  type BatchResults,
  type BatchStore,
  type FileOfBatch,
  idsOf,
  type KnownBatches,
  type PlannedClaim,
  type PlannedRow,
  type Traits,
  type WhichBatch,
} from "../batch.ts";
import {
  batchOf,
  createBatchResults,
  foundPlans,
  knownBatchesOf,
  planRowOf,
  traitValues,
} from "../batch-results.ts";
import { planColumns, planDigest, rowEvent, rowsDigest } from "../chain.ts";
import { isOfBatch, knownBatches, plansWithin } from "../conditions.ts";
import { holderIn } from "../rows.ts";
import { numberIn, type Row } from "../values.ts";
import { nowIn } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { type Connection, type Query, rowsJson, type Value, type Write } from "./connection.ts";
import { holderColumn } from "./operation-sql.ts";
import { isAliveInSql, leaseEnded, type ServerProcess, type ServerWorker } from "./processes.ts";

/** The batches of one account on a server. */
export function createBatches(
  connection: Connection,
  worker: ServerWorker,
  account: RunAccount,
  own: ServerProcess,
): BatchStore {
  const { read } = connection;
  const parts = { connection, worker, account, own };
  const ownNumber = async () => (account.isAll ? null : (await account.readOnce(read)).number);
  return {
    ...createResults(read),
    ...createLocks(parts),
    ...createPlans(parts),
    known: async (traits) => knownIn(read, await ownNumber(), traits),
    list: async (limit) => (await read(selectList, await ownNumber(), limit)).map(batchOf),
    plansWithin: ({ count, sumPaisa }) => {
      const scope = guardScope(worker.owner);
      const page = plansWithin(planSource, scope, planNames);
      return foundPlans(async (before, limit) => {
        const { number } = await account.readOnce(read);
        return read(page, scope.value(number), number, count, sumPaisa, before, limit);
      });
    },
  };
}

interface Parts {
  connection: Connection;
  worker: ServerWorker;
  account: RunAccount;
  own: ServerProcess;
}

async function knownIn(
  query: Query,
  account: bigint | null,
  traits: Traits,
): Promise<KnownBatches> {
  return knownBatchesOf(await query(selectKnown, account, ...traitValues(traits)));
}

/** Which batch a file is, inside a write, and what decided that. */
async function askWhich(
  { query }: Write,
  account: RunAccount,
  file: BatchFile,
  which: WhichBatch,
): Promise<{ is: FileOfBatch; found: KnownBatches }> {
  const { identity, name } = file;
  const found = await knownIn(query, (await account.read(query)).number, { identity, name });
  return { is: which(file, found), found };
}

function createLocks({
  connection,
  worker,
  account,
  own,
}: Parts): Pick<BatchStore, "claim" | "claimPlanned" | "release" | "holderOf"> {
  /** The process that has a batch, unless this very claim locked it before the connection was lost. */
  const otherHolder = async (write: Write, { holder }: Batch, since: string) => {
    if (!holder || (holder.lock === own.id && holder.since === since)) return undefined;
    return (await own.isAlive(write.query, holder.lock)) ? holder : undefined;
  };
  const claimKnown = async (write: Write, batch: Batch, since: string): Promise<PlannedClaim> => {
    const by = await otherHolder(write, batch, since);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    await write.query(lock, batch.number, own.id, since);
    return { kind: "ours", batch: { ...batch, holder: own.holder(since) } };
  };
  /** Locked from the start. A batch that was claimed and never planned is the file as it is now. */
  const store = async (write: Write, file: BatchFile, since: string): Promise<Batch> => {
    const { profile, environment } = worker.owner;
    const { name, fileName, hash, identity, columns, method } = file;
    const { number } = await account.store(write, since);
    const ids = idsOf(identity);
    const taken = (await write.query(selectIds, number, ids)).map(({ id }) => id);
    const id = ids.find((free) => !taken.includes(free)) ?? null;
    const [row] = await write.query(
      insertBatch,
      ...[id, profile, environment, number, name, fileName, hash, identity],
      ...[JSON.stringify(columns), method, worker.user, since, own.id],
    );
    if (!row) throw new Error("a planned batch was claimed as a new one");
    return { ...batchOf(row), holder: own.holder(since) };
  };
  return {
    holderOf: async ({ number }) => {
      const [row] = await connection.read(selectHolder, number);
      return (row && holderIn(row)) ?? undefined;
    },
    claim: async (file, which) => {
      await own.register();
      const since = nowIn(worker);
      return connection.write(async (write): Promise<BatchClaim> => {
        const { is, found } = await askWhich(write, account, file, which);
        if (is.kind === "same") return claimKnown(write, is.batch, since);
        const unplanned = found.batches.find(({ identity }) => identity === file.identity);
        const by = unplanned && (await otherHolder(write, unplanned, since));
        if (unplanned && by) return { kind: "held", batch: unplanned, by };
        if (is.kind === "changed") return { kind: "changed-file", batch: is.batch };
        return { kind: "ours", batch: await store(write, file, since) };
      });
    },
    claimPlanned: async (batch) => {
      await own.register();
      const since = nowIn(worker);
      return connection.write(async (write) => {
        const [row] = await write.query(selectBatch, batch.number);
        return claimKnown(write, row ? batchOf(row) : batch, since);
      });
    },
    release: async ({ number }) => {
      await connection.write(({ query }) => query(unlock, number, own.id));
    },
  };
}

function createPlans({
  connection,
  worker,
  account,
  own,
}: Parts): Pick<BatchStore, "plan" | "acceptLines" | "isUnaltered" | "cancel"> {
  /** Records a change of a plan, which fails if another process has taken the batch meanwhile. */
  const record = async (write: Write, sql: string, values: Value[], at: string, rows: string) => {
    const [row] = await write.query(`${sql} RETURNING *`, own.id, ...values);
    if (!row) throw leaseEnded();
    write.append(rowEvent("plan", row, at, rows));
  };
  return {
    // The rows are stored before the ledger is locked. If the plan is rejected, none of them is left.
    plan: (batch, rows, checkedUpTo, which) => {
      const { number } = batch;
      let inserted: Inserted;
      let checked: { isChanged: boolean; upTo: bigint };
      return connection.write(
        async (write) => {
          const { rowCount, totalPaisa, digest, allDigest } = inserted;
          const { is } = await askWhich(write, account, batch, which);
          const isChanged =
            checked.isChanged || (await isChangedSince(write.query, number, checked.upTo));
          if (is.kind !== "new" || isChanged) {
            await write.query("ROLLBACK TO SAVEPOINT no_rows");
            return is.kind === "new"
              ? { kind: "changed" }
              : { kind: "changed-file", batch: is.batch };
          }
          const createdAt = nowIn(worker);
          const values = [number, rowCount, totalPaisa, digest, createdAt];
          await record(write, setPlan, values, createdAt, allDigest);
          const plan = { rowCount, totalPaisa, digest };
          return { kind: "planned", batch: { ...batch, createdAt, plan } };
        },
        {
          before: async (query) => {
            // Another process may have taken it while this one waited for a confirmation.
            if ((await query(isOwnUnplanned, number, own.id)).length === 0) throw leaseEnded();
            await query("SAVEPOINT no_rows");
            inserted = await insertRows(query, number, rows());
            // Beside another large plan this takes seconds, so only what is newer is compared under the lock.
            const [newest] = await query("SELECT max(number) AS number FROM lenden.events");
            const upTo = numberIn(newest?.number);
            checked = { upTo, isChanged: await isChangedSince(query, number, checkedUpTo) };
          },
        },
      );
    },

    acceptLines: (batch, lines) => {
      let digests: Digests;
      return connection.write(
        async (write) => {
          const { digest, allDigest } = digests;
          await record(write, setDigest, [batch.number, digest], nowIn(worker), allDigest);
          return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
        },
        {
          before: async (query) => {
            for (let from = 0; from < lines.length; from += linesPerStatement) {
              const some = lines.slice(from, from + linesPerStatement);
              await query(setAccepted, batch.number, some.map(String));
            }
            digests = await digestsOf(query, batch.number);
          },
        },
      );
    },

    isUnaltered: async ({ number, plan }) => {
      const { digest } = await digestsOf(connection.read, number);
      return plan?.digest === digest;
    },

    cancel: (batch) => {
      let digests: Digests;
      return connection.write(
        async (write) => {
          const cancelledAt = nowIn(worker);
          const values = [batch.number, cancelledAt];
          await record(write, setCancelled, values, cancelledAt, digests.allDigest);
          return { ...batch, cancelledAt, holder: null };
        },
        {
          before: async (query) => {
            digests = await digestsOf(query, batch.number);
          },
        },
      );
    },
  };
}

async function isChangedSince(query: Query, number: bigint, upTo: bigint): Promise<boolean> {
  return (await query(changedSince, number, upTo)).length > 0;
}

interface Digests {
  /** Of what is sent, and of every column. */
  digest: string;
  allDigest: string;
}

interface Inserted extends Digests {
  rowCount: number;
  totalPaisa: bigint;
}

const rowsPerStatement = 2_000;
/** More, because each statement looks for its lines in all rows of the batch. */
const linesPerStatement = 20_000;

async function insertRows(
  query: Query,
  number: bigint,
  rows: Iterable<PlannedRow>,
): Promise<Inserted> {
  const digests = createDigests();
  let [rowCount, totalPaisa] = [0, 0n];
  let waiting: Row[] = [];
  const insert = async () => {
    await query(insertSql, number, rowsJson(waiting));
    waiting = [];
  };
  for (const planned of rows) {
    const row = planRowOf(planned);
    digests.add(row);
    rowCount += 1;
    totalPaisa += planned.amountPaisa;
    waiting.push(row);
    if (waiting.length === rowsPerStatement) await insert();
  }
  await insert();
  return { rowCount, totalPaisa, ...digests.values() };
}

function createDigests() {
  const [sent, all] = [planDigest(), rowsDigest()];
  return {
    add: (row: Row) => {
      sent.add(row);
      all.add(row);
    },
    values: (): Digests => ({ digest: sent.value(), allDigest: all.value() }),
  };
}

async function digestsOf(query: Query, number: bigint): Promise<Digests> {
  const digests = createDigests();
  const sql = `SELECT ${planColumns.map((name) => `r.${name}`)} ${rows}`;
  for await (const page of rowPages(query, sql, number)) for (const row of page) digests.add(row);
  return digests.values();
}

const selectBatches = `SELECT b.*, ${holderColumn("b")} FROM lenden.batches b`;
const selectBatch = `${selectBatches} WHERE b.number = $1`;
/** The planned batches of an account, or of all of them, newest first. */
const selectList = `${selectBatches} WHERE ($1::bigint IS NULL OR b.account = $1) AND b.digest IS NOT NULL
  ORDER BY b.number DESC LIMIT $2`;

const planSource = {
  tables: {
    accounts: "lenden.accounts",
    batches: "lenden.batches",
    rows: "lenden.batch_rows",
    operations: "lenden.operations",
  },
  columns: `b.*, ${holderColumn("b")}`,
  jsonArray: "json_build_array",
};
const planNames = { scope: "$1", own: "$2", count: "$3", sum: "$4", before: "$5", limit: "$6" };

const selectIds = "SELECT id FROM lenden.batches WHERE account = $1 AND id = ANY ($2::text[])";

/** The process that works on a batch, if it still runs. */
const selectHolder = `SELECT ${holderColumn("b")} FROM lenden.batches b
  JOIN lenden.processes p ON p.id = b.process WHERE b.number = $1 AND ${isAliveInSql}`;

const selectKnown = knownBatches(planSource, {
  ...{ account: "$1", id: "$2", hash: "$3", identity: "$4" },
  ...{ count: "$5", sum: "$6", name: "$7" },
});

/**
 * A change after an event that concerns a row of a batch, by a payout or a plan of any account. The rows were
 * stored just now, and the server has no statistics of them: with OFFSET and the sum, it looks up the rows of
 * each plan, and each change by its reference and by its recipient, whatever it expects.
 */
const changedSince = `
  WITH changed AS MATERIALIZED (
    SELECT o.reference, o.recipient_key, o.amount_paisa
    FROM lenden.events e JOIN lenden.operations o ON o.number = e.operation
    WHERE e.number > $2 AND e.batch IS DISTINCT FROM $1
    UNION
    SELECT o.* FROM (SELECT DISTINCT batch FROM lenden.events WHERE number > $2 AND batch <> $1) e,
      LATERAL (SELECT r.reference, r.recipient_key, r.amount_paisa
        FROM lenden.batch_rows r WHERE r.batch = e.batch OFFSET 0) o)
  SELECT 1 FROM changed c WHERE ${[
    "r.reference = c.reference",
    "r.recipient_key = c.recipient_key AND r.amount_paisa = c.amount_paisa",
  ]
    .map(
      (isSame) =>
        `EXISTS (SELECT FROM lenden.batch_rows r WHERE ${isSame} AND r.batch + 0 = $1 OFFSET 0)`,
    )
    .join(" OR ")} LIMIT 1`;

const insertBatch = `
  INSERT INTO lenden.batches AS b (id, profile, environment, account, name, file_name, file_hash,
    identity, columns, method, "user", created_at, held_since, process)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)
  ON CONFLICT (account, identity) DO UPDATE SET name = excluded.name, file_name = excluded.file_name,
    file_hash = excluded.file_hash, columns = excluded.columns, method = excluded.method,
    held_since = excluded.held_since, process = excluded.process
    WHERE b.digest IS NULL
  RETURNING *`;

const insertSql = `
  INSERT INTO lenden.batch_rows (batch, ${planColumns})
  SELECT $1, ${planColumns} FROM json_to_recordset($2::json) AS r(row bigint, line bigint, reference text,
    amount_paisa bigint, recipient text, method_id text, method text, name text, description text,
    cells text, accepted bigint, recipient_key text)`;

const setAccepted =
  "UPDATE lenden.batch_rows SET accepted = 1 WHERE batch = $1 AND line = ANY ($2::bigint[])";

const lock = "UPDATE lenden.batches SET process = $2, held_since = $3 WHERE number = $1";
const unlock =
  "UPDATE lenden.batches SET process = NULL, held_since = NULL WHERE number = $1 AND process = $2";

const isOwnUnplanned =
  "SELECT 1 FROM lenden.batches WHERE number = $1 AND process = $2 AND digest IS NULL";

/** A batch that no other process has taken. */
const ownBatch = "number = $2 AND (process IS NULL OR process = $1)";
const setPlan = `UPDATE lenden.batches SET row_count = $3, total_paisa = $4, digest = $5, created_at = $6
  WHERE ${ownBatch}`;
const setDigest = `UPDATE lenden.batches SET digest = $3 WHERE ${ownBatch}`;
const setCancelled = `UPDATE lenden.batches SET cancelled_at = $3, process = NULL, held_since = NULL
  WHERE ${ownBatch}`;

const rowsPerPage = 2_000;

/**
 * The rows `r` that a query selects, in their order and page by page, so that memory does not grow with the batch.
 *
 * @param sql ends with a condition; its parameter is the batch
 */
async function* rowPages(query: Query, sql: string, batch: bigint): AsyncIterable<Row[]> {
  const page = `${sql} AND r.row > $2 ORDER BY r.row LIMIT ${rowsPerPage}`;
  for (let after = -1n; ; ) {
    const rows = await query(page, batch, after);
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = numberIn(rows.at(-1)?.row);
  }
}

const rows = "FROM lenden.batch_rows r WHERE r.batch = $1";
const joined = `FROM lenden.batch_rows r JOIN lenden.batches b ON b.number = r.batch
  LEFT JOIN lenden.operations o ON ${isOfBatch} WHERE r.batch = $1`;

function createResults(read: Query): BatchResults {
  return createBatchResults({
    ...{ read, rows, joined, second: "$2" },
    pages: (columns, from, batch) => {
      const selected = Object.entries(columns).map(([name, value]) => `${value} AS ${name}`);
      return rowPages(read, `SELECT ${selected} ${from}`, batch);
    },
  });
}
