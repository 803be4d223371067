import { Failure } from "../../domain/failure.ts";
import { guardScope } from "../account.ts";
import {
  type Batch,
  type BatchClaim,
  type BatchFile,
  type BatchFilter,
  type BatchStore,
  type FileOfBatch,
  idsOf,
  type KnownBatches,
  type PlannedClaim,
  type PlannedRow,
  type PlanResult,
  planModified,
  type Traits,
  type WhichBatch,
} from "../batch.ts";
import { batchOf, foundPlans, knownBatchesOf, planRowOf } from "../batch-results.ts";
import { planColumns, planDigest, rowEvent, rowsDigest } from "../chain.ts";
import { knownBatches, plansWithin } from "../conditions.ts";
import type { Holder } from "../operation.ts";
import { numberIn, type Row } from "../values.ts";
import { loginOf, nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { createBatchResults, rowsOfBatch } from "./batch-results.ts";
import type { Dialect, Driver } from "./driver.ts";
import type { Write } from "./transaction.ts";
import {
  type ColumnTypes,
  done,
  parameters,
  query,
  RowsMissing,
  type Statement,
  type Value,
  type Work,
} from "./work.ts";

interface Parts {
  driver: Driver;
  account: RunAccount;
  recorder: Recorder;
  /** The columns that `batchOf` reads. */
  columns: string;
}

/** The batches of one account. */
export function createBatches(driver: Driver, account: RunAccount, recorder: Recorder): BatchStore {
  const columns = batchColumns(driver.dialect);
  const parts: Parts = { driver, account, recorder, columns };
  const pageOfPlans = plansWithin(columns, driver.dialect.jsonArray, guardScope(recorder.owner));
  return {
    ...createBatchResults(driver),
    ...createLocks(parts),
    ...createPlans(parts),
    known: (traits) =>
      driver.read(function* () {
        const { number } = yield* account.readOnce();
        return yield* knownOf(parts, account.isAll ? undefined : number, traits);
      }),
    list: (limit, filter) => listBatches(driver, account, limit, filter),
    count: (filter, most) =>
      driver.read(function* () {
        const { values, from } = yield* selectedBatches(driver.dialect, account, filter);
        const sql = `SELECT count(*) AS count FROM (
          SELECT 1 ${from} LIMIT $${values.length + 1}) found`;
        const [row] = yield* query(sql, ...values, most);
        return Number(numberIn(row?.count));
      }),
    plansWithin: ({ count, sumPaisa }) =>
      foundPlans((before, limit) =>
        driver.read(function* () {
          const { number } = yield* account.readOnce();
          const scope = guardScope(recorder.owner).value(number);
          return yield* query(pageOfPlans, scope, number, count, sumPaisa, before, limit);
        }),
      ),
  };
}

/**
 * The columns of a batch `b` that `batchOf` reads. Who planned it is the login of its newest plan: another login may
 * have claimed the batch before.
 */
function batchColumns({ holderColumn }: Dialect): string {
  return `b.*, ${holderColumn("b")}, (SELECT e.login FROM lenden.events e
    WHERE e.batch = b.number AND e.event = 'plan' ORDER BY e.number DESC LIMIT 1) AS planned_by`;
}

/** The planned batches of an account, or of all of them, newest first. */
export function listBatches(
  { dialect, read }: Pick<Driver, "dialect" | "read">,
  account: RunAccount,
  limit: number,
  filter: BatchFilter = {},
): Promise<Batch[]> {
  return read(function* () {
    const { values, from } = yield* selectedBatches(dialect, account, filter);
    const sql = `SELECT ${batchColumns(dialect)} ${from}
      ORDER BY b.number DESC LIMIT $${values.length + 1}`;
    return (yield* query(sql, ...values, limit)).map(batchOf);
  });
}

/** FROM and WHERE of the batches that a filter selects. */
function* selectedBatches(
  { isIn }: Dialect,
  account: RunAccount,
  { since, until, isCancelled, mayBeOpen, below }: BatchFilter,
): Work<{ values: Value[]; from: string }> {
  const { number } = yield* account.readOnce();
  const { values, bind } = parameters();
  const own = account.isAll ? undefined : bind(number);
  const conditions = [
    own && `b.account = ${own}`,
    since && `b.created_at >= ${bind(since)}`,
    until && `b.created_at <= ${bind(until)}`,
    isCancelled !== undefined && `b.cancelled_at IS ${isCancelled ? "NOT NULL" : "NULL"}`,
    below !== undefined && `b.number < ${bind(below)}`,
    mayBeOpen && hasMaybeOpenRow(own ? `o.account = ${own}` : isIn("o.account", allAccounts)),
  ];
  const where = ["b.digest IS NOT NULL", ...conditions.filter((one) => one)].join(" AND ");
  return { values, from: `FROM lenden.batches b WHERE ${where}` };
}

const allAccounts = "SELECT a.number FROM lenden.accounts a";

/**
 * True for a batch `b` that did not send all of its rows, or sent one whose outcome is unknown or that can be sent
 * again: what indexes show without its rows.
 */
const hasMaybeOpenRow = (ofAccount: string) => `(
  (SELECT count(*) FROM lenden.operations o WHERE o.batch = b.number) < b.row_count
  OR b.number IN (SELECT o.batch FROM lenden.operations o WHERE ${ofAccount}
    AND o.state <> 'CONFIRMED' AND o.state IN ('INTENT', 'UNCERTAIN', 'NOT_SENT', 'REFUSED')
    AND o.phase IN ('unresolved', 'free') AND o.batch IS NOT NULL))`;

function* knownOf(
  { columns, driver }: Parts,
  account: bigint | undefined,
  traits: Traits,
): Work<KnownBatches> {
  const { values, bind } = parameters();
  const own = account === undefined ? undefined : bind(account);
  const whose = (batch: string) =>
    own ? `${batch}.account = ${own}` : driver.dialect.isIn(`${batch}.account`, allAccounts);
  return knownBatchesOf(yield* query(knownBatches(columns, whose, traits, bind), ...values));
}

/** Which batch a file is, inside a write, and what decided that. */
function* askWhich(
  parts: Parts,
  file: BatchFile,
  which: WhichBatch,
): Work<{ is: FileOfBatch; found: KnownBatches }> {
  const { identity, name } = file;
  const { number } = yield* parts.account.read();
  const found = yield* knownOf(parts, number, { identity, name });
  return { is: which(file, found), found };
}

function createLocks(
  parts: Parts,
): Pick<BatchStore, "claim" | "claimPlanned" | "release" | "holderOf"> {
  const { driver, account, recorder, columns } = parts;
  const insertBatch = insertBatchSql(driver.dialect);
  const byNumber = `SELECT ${columns} FROM lenden.batches b WHERE b.number = $1`;
  /** The process that has a batch, unless this very claim locked it before the connection was lost. */
  function* otherHolder(write: Write, { holder }: Batch, since: string): Work<Holder | undefined> {
    if (!holder || (holder.lock === write.ownLock() && holder.since === since)) return undefined;
    return (yield* write.isAlive(holder)) ? holder : undefined;
  }
  function* claimKnown(write: Write, batch: Batch, since: string): Work<PlannedClaim> {
    const by = yield* otherHolder(write, batch, since);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    const holder = write.holder(since);
    write.send({ sql: lock, values: [batch.number, holder.lock, since], rows: 1 });
    return { kind: "ours", batch: { ...batch, holder } };
  }
  /** Locked from the start. A batch that was claimed and never planned is the file as it is now. */
  function* store(write: Write, file: BatchFile, since: string): Work<Batch> {
    const { profile, environment } = recorder.owner;
    const { name, fileName, hash, identity, columns, method } = file;
    const { number } = yield* account.store(write, since);
    const ids = idsOf(identity);
    const given = { columns: { id: "text" }, rows: ids.map((id) => ({ id })) } as const;
    const [taken = []] = yield [{ sql: selectIds, values: [number], given }];
    const free = ids.find((id) => !taken.some((one) => one.id === id)) ?? null;
    const holder = write.holder(since);
    const login = loginOf(recorder);
    const [row] = yield* query(
      insertBatch,
      ...[free, profile, environment, number, name, fileName, hash, identity],
      ...[JSON.stringify(columns), method, recorder.user, since, holder.lock],
      ...(driver.dialect.storesLogin ? [login] : []),
    );
    if (!row) throw new Error("a planned batch was claimed as a new one");
    return { ...batchOf(row), holder, login };
  }
  return {
    holderOf: ({ number }) =>
      driver.snapshot(function* ({ isAlive }) {
        const [row] = yield* query(byNumber, number);
        const holder = row && batchOf(row).holder;
        return holder && (yield* isAlive(holder)) ? holder : undefined;
      }),
    claim: (file, which) => {
      const since = nowIn(recorder);
      return driver.write(function* (write): Work<BatchClaim> {
        const { is, found } = yield* askWhich(parts, file, which);
        if (is.kind === "same") return yield* claimKnown(write, is.batch, since);
        const unplanned = found.batches.find(({ identity }) => identity === file.identity);
        const by = unplanned && (yield* otherHolder(write, unplanned, since));
        if (unplanned && by) return { kind: "held", batch: unplanned, by };
        if (is.kind === "changed") return { kind: "changed-file", batch: is.batch };
        return { kind: "ours", batch: yield* store(write, file, since) };
      });
    },
    claimPlanned: (batch) => {
      const since = nowIn(recorder);
      return driver.write(function* (write) {
        const [row] = yield* query(byNumber, batch.number);
        return yield* claimKnown(write, row ? batchOf(row) : batch, since);
      });
    },
    release: ({ number }) =>
      driver.write((write) => done(write.send({ sql: unlock, values: [number, write.ownLock()] }))),
  };
}

/** A batch was not planned: nothing of it is stored. */
class NotPlanned extends Error {
  readonly answer: PlanResult;

  constructor(answer: PlanResult) {
    super("the batch was not planned");
    this.answer = answer;
  }
}

function createPlans(
  parts: Parts,
): Pick<BatchStore, "plan" | "acceptLines" | "isUnaltered" | "cancel"> {
  const { driver, recorder } = parts;
  const { insertAgain, changedSince } = driver.dialect;
  /** Records a change of a plan, which fails if another process has taken the batch meanwhile. */
  function* record(write: Write, { id, number }: Batch, change: Change): Work<void> {
    const { set, values, at, rows } = change;
    const sql = `UPDATE lenden.batches SET ${set} WHERE number = $1
      AND process = $2 AND cancelled_at IS NULL RETURNING *`;
    const [row] = yield* query(sql, number, write.ownLock(), ...values);
    if (!row) throw taken(id);
    write.append(rowEvent("plan", row, at, rows));
  }
  const isChangedSince = function* (number: bigint, upTo: bigint): Work<boolean> {
    return (yield* query(changedSince, number, upTo)).length > 0;
  };

  return {
    plan: async (batch, rows, checkedUpTo, which) => {
      const { number, id } = batch;
      const before = function* (lock: string): Work<Prepared> {
        const inserted = yield* insertRows(batch, { lock, insertAgain }, rows());
        // Beside another large plan this takes seconds, so only what is newer is compared under the lock.
        const [newest] = yield* query("SELECT max(number) AS number FROM lenden.events");
        const isChanged = yield* isChangedSince(number, checkedUpTo);
        return { ...inserted, isChanged, upTo: numberIn(newest?.number) };
      };
      const work = function* (write: Write, prepared: Prepared): Work<PlanResult> {
        const { rowCount, totalPaisa, digest, allDigest: rows, upTo } = prepared;
        const { is } = yield* askWhich(parts, batch, which);
        if (is.kind !== "new") throw new NotPlanned({ kind: "changed-file", batch: is.batch });
        if (prepared.isChanged || (yield* isChangedSince(number, upTo)))
          throw new NotPlanned({ kind: "changed" });
        const at = nowIn(recorder);
        const set = "row_count = $3, total_paisa = $4, digest = $5, created_at = $6";
        const values = [rowCount, totalPaisa, digest, at];
        yield* record(write, batch, { set, values, at, rows });
        const plan = { rowCount, totalPaisa, digest };
        return {
          kind: "planned",
          batch: { ...batch, createdAt: at, login: loginOf(recorder), plan },
        };
      };
      try {
        return await driver.writeAfter(before, work);
      } catch (error) {
        if (error instanceof NotPlanned) return error.answer;
        // Another process may have taken it while this one waited for a confirmation.
        throw error instanceof RowsMissing ? taken(id) : error;
      }
    },

    acceptLines: async (batch, lines) => {
      const { digest, allDigest, accepted } = await digestsOf(driver, batch, lines);
      const given = { columns: acceptedTypes, rows: accepted };
      const rows = accepted.length;
      return driver.write(function* (write) {
        write.send({ sql: setAccepted, values: [batch.number], given, rows });
        const change = { set: "digest = $3", values: [digest], at: nowIn(recorder) };
        yield* record(write, batch, { ...change, rows: allDigest });
        return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
      });
    },

    isUnaltered: async (batch) => (await readDigests(driver, batch)).before === batch.plan?.digest,

    cancel: async (batch) => {
      const { allDigest: rows } = await digestsOf(driver, batch);
      return driver.write(function* (write) {
        const at = nowIn(recorder);
        const set = "cancelled_at = $3, process = NULL, held_since = NULL";
        yield* record(write, batch, { set, values: [at], at, rows });
        return { ...batch, cancelledAt: at, holder: null };
      });
    },
  };
}

interface Change {
  /** Parameters begin with $3. */
  set: string;
  values: Value[];
  /** ISO 8601. */
  at: string;
  /** The digest of all columns of all rows. */
  rows: string;
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

interface Prepared extends Inserted {
  /** Something happened that concerns a row, up to this event. */
  isChanged: boolean;
  upTo: bigint;
}

const rowsPerStatement = 5_000;

/** Some thousands at a time, each only while the batch belongs to this process. */
function* insertRows(
  { number }: Batch,
  { lock, insertAgain }: { lock: string; insertAgain: string },
  rows: Iterable<PlannedRow>,
): Work<Inserted> {
  const digests = createDigests();
  let [rowCount, totalPaisa] = [0, 0n];
  let waiting: Row[] = [];
  const guard: Statement = { sql: isOwnUnplanned, values: [number, lock], rows: 1 };
  const sql = `${insertAgain} INTO lenden.batch_rows (batch, ${planColumns.map((name) => `"${name}"`)})
    SELECT CAST($1 AS bigint), ${planColumns.map((name) => `given.${name}`)} FROM given`;
  const insert = (): Statement[] => {
    const given = { columns: rowTypes, rows: waiting };
    waiting = [];
    return [guard, { sql, values: [number], given }];
  };
  for (const planned of rows) {
    const row = planRowOf(planned);
    digests.add(row);
    rowCount += 1;
    totalPaisa += planned.amountPaisa;
    waiting.push(row);
    if (waiting.length === rowsPerStatement) yield insert();
  }
  yield insert();
  const [found] = yield* query(countRows, number);
  // The same identity has as many rows as a run that was interrupted.
  if (Number(found?.count) !== rowCount) throw new Error("the batch has rows of another plan");
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

/**
 * The digests of a plan, and the rows on some lines, which count as accepted.
 *
 * @throws Failure `batch.plan-modified`: the new digests would hide that from a check
 */
async function digestsOf(driver: Driver, batch: Batch, lines: number[] = []) {
  const { before, ...digests } = await readDigests(driver, batch, new Set(lines));
  if (before !== batch.plan?.digest) throw planModified(batch);
  return digests;
}

/** Page by page. `before`: the digest of the plan as it is stored. */
async function readDigests(driver: Driver, { number }: Batch, lines?: Set<number>) {
  const [before, digests] = [planDigest(), createDigests()];
  const accepted: Row[] = [];
  const columns = Object.fromEntries(planColumns.map((name) => [name, `r."${name}"`]));
  for await (const page of driver.pages(columns, rowsOfBatch, { by: "r.row", values: [number] }))
    for (const row of page) {
      const isAccepted = lines?.has(Number(row.line)) === true;
      if (isAccepted) accepted.push({ row: numberIn(row.row) });
      before.add(row);
      digests.add(isAccepted ? { ...row, accepted: 1n } : row);
    }
  return { before: before.value(), ...digests.values(), accepted };
}

/** The lock of this process ended or was removed while it ran, so another one could take the batch. */
function taken(id: string): Failure {
  return new Failure("operation.locked", `Another lenden process took batch ${id}.`, {
    hint: `To see its rows, run 'lenden payout batch status ${id}'.`,
    operation: id,
  });
}

const rowTypes: ColumnTypes = Object.fromEntries(
  planColumns.map((name) => [
    name,
    ["row", "line", "amount_paisa", "accepted"].includes(name) ? "number" : "text",
  ]),
);
const acceptedTypes: ColumnTypes = { row: "number" };

const selectIds = `SELECT b.id FROM given CROSS JOIN lenden.batches b
  WHERE b.account = $1 AND b.id = given.id`;

const insertBatchSql = ({ storesLogin }: Dialect) => `
  INSERT INTO lenden.batches AS b (id, profile, environment, account, name, file_name, file_hash,
    identity, columns, method, "user", created_at, held_since, process${storesLogin ? ", login" : ""})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13${storesLogin ? ", $14" : ""})
  ON CONFLICT (account, identity) DO UPDATE SET name = excluded.name, file_name = excluded.file_name,
    file_hash = excluded.file_hash, columns = excluded.columns, method = excluded.method,
    held_since = excluded.held_since, process = excluded.process
    WHERE b.digest IS NULL
  RETURNING *`;

const countRows = "SELECT count(*) AS count FROM lenden.batch_rows WHERE batch = $1";

const setAccepted = `UPDATE lenden.batch_rows AS r SET accepted = 1
  FROM given WHERE r.batch = $1 AND r."row" = given.row`;

const lock = "UPDATE lenden.batches SET process = $2, held_since = $3 WHERE number = $1";
const unlock =
  "UPDATE lenden.batches SET process = NULL, held_since = NULL WHERE number = $1 AND process = $2";

const isOwnUnplanned =
  "SELECT 1 FROM lenden.batches WHERE number = $1 AND process = $2 AND digest IS NULL";
