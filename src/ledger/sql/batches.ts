import { Failure } from "../../domain/failure.ts";
import { payeeOf } from "../../domain/mobile.ts";
import { guardScope } from "../account.ts";
import {
  type Batch,
  type BatchClaim,
  type BatchFile,
  type BatchFilter,
  type BatchStore,
  batchModified,
  type FileOfBatch,
  idsOf,
  type KnownBatches,
  type PlannedClaim,
  type PlannedRow,
  type PlanResult,
  planModified,
  type ReadPlan,
  type Traits,
  type WhichBatch,
} from "../batch.ts";
import { assertOwnId, batchOf, foundPlans, knownBatchesOf, planRowOf } from "../batch-results.ts";
import { immutableColumns } from "../chain.ts";
import { changedIn, digestOf } from "../finding.ts";
import type { Holder } from "../operation.ts";
import {
  cancelledEvent,
  changedColumns,
  PageDigests,
  PlanSums,
  planColumns,
  planEvent,
  rowInEvent,
  sealedOrderOf,
  sourceInEvent,
} from "../plan.ts";
import type { Sealer } from "../seal.ts";
import { isTrue, numberIn, type Row, type TextRow, textOrNull } from "../values.ts";
import { loginOf, nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { createBatchResults, rowsOfBatch } from "./batch-results.ts";
import { cancelledAt, isPlanned, newestEvent, plannedBy } from "./conditions.ts";
import type { Dialect, Driver } from "./driver.ts";
import type { RunLimits } from "./limits.ts";
import { knownBatches, plansWithin } from "./plans.ts";
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
  limits: RunLimits;
  /** The columns that `batchOf` reads. */
  columns: string;
}

/** The batches of one account. */
export function createBatches(
  driver: Driver,
  account: RunAccount,
  recorder: Recorder,
  limits: RunLimits,
): BatchStore {
  const columns = batchColumns(driver.dialect);
  const parts: Parts = { driver, account, recorder, limits, columns };
  const pageOfPlans = plansWithin(columns, driver.dialect.jsonArray, guardScope(recorder.owner));
  return {
    ...createBatchResults(driver, recorder),
    ...createLocks(parts),
    ...createPlans(parts),
    ...createSeals(parts),
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
 * The columns of a batch `b` that `batchOf` reads. Who planned it is the login of its first plan: another login may
 * have claimed the batch before, or sealed it again.
 */
function batchColumns({ holderColumn }: Dialect): string {
  return `b.*, ${holderColumn("b")}, ${plannedBy("b")} AS planned_by, ${cancelledAt("b")} AS cancelled_then`;
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
    isCancelled !== undefined && `${cancelledAt("b")} IS ${isCancelled ? "NOT NULL" : "NULL"}`,
    below !== undefined && `b.number < ${bind(below)}`,
    mayBeOpen && hasMaybeOpenRow(own ? `o.account = ${own}` : isIn("o.account", allAccounts)),
  ];
  const where = [isPlanned("b"), ...conditions.filter((one) => one)].join(" AND ");
  return { values, from: `FROM lenden.batches b WHERE ${where}` };
}

const allAccounts = "SELECT a.number FROM lenden.accounts a";

/**
 * True for a batch `b` that did not send all of its rows, or sent one whose outcome is unknown or that can be sent
 * again: what indexes show without its rows.
 */
const hasMaybeOpenRow = (ofAccount: string) => `(
  (SELECT count(*) FROM lenden.operations o WHERE o.batch = b.number AND o.account = b.account
    AND EXISTS (SELECT 1 FROM lenden.batch_rows r
      WHERE r.batch = b.number AND r.reference = o.reference)) < b.row_count
  OR b.number IN (SELECT o.batch FROM lenden.operations o WHERE ${ofAccount}
    AND o.state <> 'CONFIRMED' AND o.state IN ('INTENT', 'UNCERTAIN', 'NOT_SENT', 'REFUSED')
    AND o.phase IN ('unresolved', 'free') AND o.batch IS NOT NULL))`;

function* knownOf(
  { columns, driver, recorder }: Parts,
  account: bigint | undefined,
  traits: Traits,
): Work<KnownBatches> {
  const { values, bind } = parameters();
  const number = account === undefined ? undefined : bind(account);
  const whose = (batch: string) =>
    number ? `${batch}.account = ${number}` : driver.dialect.isIn(`${batch}.account`, allAccounts);
  const own = { whose, login: loginOf(recorder) };
  return knownBatchesOf(yield* query(knownBatches(columns, own, traits, bind), ...values));
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
  const { driver, account, recorder, limits, columns } = parts;
  const insertBatch = insertBatchSql(driver.dialect);
  const byNumber = `SELECT ${columns} FROM lenden.batches b WHERE b.number = $1`;
  /** The process that has a batch, unless this very claim locked it before the connection was lost. */
  function* otherHolder(write: Write, { holder }: Batch, since: string): Work<Holder | undefined> {
    if (!holder || (holder.lock === write.ownLock() && holder.since === since)) return undefined;
    return (yield* write.isAlive(holder)) ? holder : undefined;
  }
  function* claimKnown(
    write: Write,
    found: Batch,
    since: string,
    purpose: "send" | "cancel",
  ): Work<PlannedClaim> {
    const { batch, plans } = yield* asRecorded(byNumber, found, recorder);
    const by = yield* otherHolder(write, batch, since);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    const isArriving = yield* isOfIncompleteMove(plans);
    if (isArriving && purpose === "send") throw arriving(batch);
    const asking = { ...limits.ask(yield* account.read(), write), nowMs: Date.parse(since) };
    const denial = purpose === "send" ? yield* limits.ofPlanned(batch, asking) : undefined;
    if (denial) return { kind: "denied", batch, denial };
    const holder = write.holder(since);
    write.send({ sql: lock, values: [batch.number, holder.lock, since], rows: 1 });
    return { kind: "ours", batch: { ...batch, holder, ...(isArriving && { isArriving }) } };
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
    // What was claimed before keeps these columns, and guards find batches by them.
    const batch = batchOf(row);
    const changed = changedColumns(immutableColumns(row), { environment });
    if (changed.length > 0) throw batchModified(batch, changed);
    return { ...assertOwnId(batch), holder, login };
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
        if (is.kind === "same") return yield* claimKnown(write, is.batch, since, "send");
        const unplanned = found.batches.find(({ identity }) => identity === file.identity);
        const by = unplanned && (yield* otherHolder(write, unplanned, since));
        if (unplanned && by) return { kind: "held", batch: unplanned, by };
        if (is.kind === "changed") return { kind: "changed-file", batch: is.batch };
        if (unplanned) yield* asRecorded(byNumber, unplanned, recorder);
        return { kind: "ours", batch: yield* store(write, file, since) };
      });
    },
    claimPlanned: (batch, purpose = "send") => {
      const since = nowIn(recorder);
      return driver.write((write) => claimKnown(write, batch, since, purpose));
    },
    release: ({ number }) =>
      driver.write((write) => done(write.send({ sql: unlock, values: [number, write.ownLock()] }))),
  };
}

/** What a batch got from the file that claimed it. */
function claimedColumns({ name, fileName, hash, columns, method }: Batch): TextRow {
  const file = { name, file_name: fileName, file_hash: hash, method };
  return { ...file, columns: JSON.stringify(columns) };
}

/** A batch was not planned: nothing of it is stored. */
class NotPlanned extends Error {
  readonly answer: PlanResult;

  constructor(answer: PlanResult) {
    super("the batch was not planned");
    this.answer = answer;
  }
}

function createPlans(parts: Parts): Pick<BatchStore, "plan" | "cancel"> {
  const { driver, account, recorder, limits } = parts;
  const { insertAgain, changedSince } = driver.dialect;
  const isChangedSince = function* (number: bigint, upTo: bigint): Work<boolean> {
    return (yield* query(changedSince, number, upTo)).length > 0;
  };

  return {
    plan: async (batch, { rows, sealer, checkedUpTo, which }) => {
      const { number, id } = batch;
      const before = function* (lock: string): Work<Prepared> {
        const sums = yield* insertRows(batch, { lock, insertAgain, sealer }, rows());
        // Beside another large plan this takes seconds, so only what is newer is compared under the lock.
        const [newest] = yield* query(newestEvent);
        const isChanged = yield* isChangedSince(number, checkedUpTo);
        return { sums, isChanged, upTo: numberIn(newest?.number) };
      };
      const work = function* (write: Write, prepared: Prepared): Work<PlanResult> {
        const { sums, upTo } = prepared;
        const { is } = yield* askWhich(parts, batch, which);
        if (is.kind !== "new") throw new NotPlanned({ kind: "changed-file", batch: is.batch });
        if (prepared.isChanged || (yield* isChangedSince(number, upTo)))
          throw new NotPlanned({ kind: "changed" });
        // A writer may have added the event before, because the next number is known.
        const [ended] = yield* query(
          `SELECT ${cancelledAt("b")} AS at FROM lenden.batches b WHERE b.number = $1`,
          number,
        );
        if (ended?.at != null) throw batchModified(batch, ["cancelled_at"]);
        const createdAt = nowIn(recorder);
        const { rowCount, totalPaisa } = sums;
        const asking = limits.ask(yield* account.read(), write);
        const use = yield* limits.ofPlan(number, sealer, asking);
        const { reservedPaisa, denial, rejectsRepeats } = use;
        if (denial) throw new NotPlanned({ kind: "denied", denial });
        if (rejectsRepeats && sums.hasAccepted) throw new NotPlanned({ kind: "repeats" });
        const seal = sums.sealOfPlan(batch, sealer);
        const set = `row_count = $3, total_paisa = $4, reserved_paisa = $5, actor = $6, seal = $7,
          created_at = $8`;
        const row = yield* change(
          ...([write, batch, set, rowCount, totalPaisa, reservedPaisa] as const),
          ...[recorder.actor, seal, createdAt],
        );
        // Nothing but the lock protects a batch before it is planned.
        const changed = changedColumns(immutableColumns(row), claimedColumns(batch));
        if (changed.length > 0) throw batchModified(batch, changed);
        write.append(planEvent(row, createdAt, sums));
        const plan = { rowCount, totalPaisa, seal };
        const { actor } = recorder;
        const planned = { ...batch, createdAt, login: loginOf(recorder), actor, plan };
        return { kind: "planned", plan: sums.readAs(planned, true) };
      };
      try {
        return await driver.writeAfter(before, work);
      } catch (error) {
        if (error instanceof NotPlanned) return error.answer;
        // Another process may have taken it while this one waited for a confirmation.
        throw error instanceof RowsMissing ? taken(id) : error;
      }
    },

    cancel: (batch) =>
      driver.write(function* (write) {
        const cancelledAt = nowIn(recorder);
        const set = "cancelled_at = $3, process = NULL, held_since = NULL";
        yield* change(write, batch, set, cancelledAt);
        write.append(cancelledEvent(batch.number, cancelledAt));
        return { ...batch, cancelledAt, holder: null };
      }),
  };
}

/** Changes a plan, which fails if another process has taken the batch meanwhile. */
function* change(write: Write, { id, number }: Batch, set: string, ...values: Value[]): Work<Row> {
  const sql = `UPDATE lenden.batches SET ${set} WHERE number = $1
    AND process = $2 RETURNING *`;
  const [row] = yield* query(sql, number, write.ownLock(), ...values);
  if (!row) throw taken(id);
  return row;
}

function createSeals(parts: Parts): Pick<BatchStore, "readPlan" | "seal"> {
  const { driver, account, recorder, limits } = parts;
  /** Limits judged a plan of this login when it was made. One without a seal was made by anyone. */
  function* judge({ batch, isSealed }: ReadPlan, sealer: Sealer, hasLines: boolean): Work<void> {
    const asking = limits.ask(yield* account.read(), { appendedTo: () => [] });
    const { denial, rejectsRepeats } = yield* limits.ofPlan(batch.number, sealer, asking);
    const isJudged = isSealed && batch.login === loginOf(recorder);
    if (denial && !isJudged) throw new NotPlanned({ kind: "denied", denial });
    if (rejectsRepeats && hasLines) throw new NotPlanned({ kind: "repeats" });
  }
  return {
    readPlan: async (batch, sealer) => {
      const sums = new PlanSums();
      let isSealed = sealer !== undefined;
      const from = { by: "r.row", values: [batch.number] };
      for await (const page of driver.pages(columnsOfPlan, rowsOfBatch, from))
        for (const row of page) {
          sums.add(row);
          // No seal covers what guards and limits find the row by.
          const isOwnKey = row.recipient_key === recipientKeyOf(row);
          isSealed &&= isOwnKey && row.seal === sealer?.sealOf(sealedOrderOf(batch, row));
        }
      // Seals change, rows never do: an event that says so is none of lenden.
      const planned = await driver.read(() => query(planEvents, batch.number));
      const { rows } = sums.digests();
      const isSame =
        planned.length > 0 && planned.every(({ data }) => rowInEvent(String(data))?.rows === rows);
      if (!isSame && !isAccepted(batch, { rows }, ["rows"], recorder)) throw planModified(batch);
      isSealed &&= sealer !== undefined && batch.plan?.seal === sums.sealOfPlan(batch, sealer);
      const { rowCount, totalPaisa } = sums;
      return sums.readAs(
        { ...batch, plan: batch.plan && { ...batch.plan, rowCount, totalPaisa } },
        isSealed,
      );
    },

    seal: async (read, sealer, lines) => {
      const { batch } = read;
      // Nothing but its event says when another person planned it, and that writer chose the time.
      const now = Date.parse(nowIn(recorder)) + mostSkewMs;
      if (!read.isSealed && Date.parse(batch.createdAt) > now)
        throw batchModified(batch, ["created_at"]);
      const before = function* (lock: string): Work<PlanSums> {
        yield* judge(read, sealer, lines.size > 0);
        return yield* sealRows(read, { lock, sealer, lines });
      };
      const work = function* (write: Write, sums: PlanSums): Work<PlanResult> {
        yield* judge(read, sealer, lines.size > 0);
        const seal = sums.sealOfPlan(batch, sealer);
        const row = yield* change(write, batch, "seal = $3", seal);
        const planned = { ...row, ...claimedColumns(batch) };
        write.append(planEvent(planned, nowIn(recorder), sums));
        const plan = batch.plan && { ...batch.plan, seal };
        return { kind: "planned", plan: sums.readAs({ ...batch, plan }, true) };
      };
      try {
        return await driver.writeAfter(before, work);
      } catch (error) {
        if (error instanceof NotPlanned) return error.answer;
        throw error instanceof RowsMissing ? taken(batch.id) : error;
      }
    },
  };
}

/**
 * The batch as its events record it, also if a person accepted another row on this machine.
 *
 * @returns also the events of its plans
 * @throws Failure `ledger.modified`
 */
function* asRecorded(
  byNumber: string,
  { number }: Batch,
  by: Recorder,
): Work<{ batch: Batch; plans: Row[] }> {
  const [[row] = [], events = []] = yield [
    { sql: byNumber, values: [number] },
    { sql: recordedEvents, values: [number] },
  ];
  if (!row) throw new Error("the ledger lost a batch that it just had");
  const batch = batchOf(row);
  const plans = events.filter(({ event }) => event === "plan");
  const plan = plans.at(-1);
  const cancelled = events.find(({ event }) => event === "cancelled");
  const recorded = plan && (rowInEvent(String(plan.data)) ?? {});
  const cancelledAt = textOrNull(cancelled?.at);
  if ((recorded === undefined) !== (batch.plan === null)) throw batchModified(batch, ["plan"]);
  const stored = { ...immutableColumns(row), cancelled_at: textOrNull(row.cancelled_at) };
  const changed = changedColumns(stored, { ...recorded, cancelled_at: cancelledAt });
  if (changed.length > 0 && !isAccepted(batch, stored, changed, by))
    throw batchModified(batch, changed);
  // Another login may have added an event with other columns.
  return { batch: batchOf({ ...row, ...(recorded && immutableColumns(recorded)) }), plans };
}

/** True if a plan was moved here from a ledger file whose payouts are not all here yet: its rows look unsent. */
function* isOfIncompleteMove(plans: Row[]): Work<boolean> {
  const moved = plans.filter(({ data }) => sourceInEvent(String(data)) !== undefined);
  if (moved.length === 0) return false;
  const complete = yield* query(importedFiles);
  const isSame = (plan: Row, file: Row) =>
    file.login === plan.login &&
    sourceInEvent(String(file.data)) === sourceInEvent(String(plan.data));
  return !moved.every((plan) => complete.some((file) => isSame(plan, file)));
}

function arriving({ id, login }: Batch): Failure {
  return new Failure(
    "ledger.not-moved",
    `Batch ${id} is from a ledger file whose move is not complete.`,
    {
      hint: `On the machine with that file, run 'lenden ledger move <url>' again with login ${login}. If the file is lost, find out which rows were paid, and run 'lenden payout batch cancel ${id}'.`,
      operation: id,
    },
  );
}

/** True if a person accepted on this machine that these columns have their values. */
function isAccepted(
  { id: name }: Batch,
  stored: TextRow,
  columns: string[],
  { acceptedRows = [] }: Recorder,
): boolean {
  const finding = changedIn({ kind: "batch", name }, stored, columns);
  return finding !== undefined && acceptedRows.includes(digestOf(finding));
}

interface Prepared {
  sums: PlanSums;
  /** Something happened that concerns a row, up to this event. */
  isChanged: boolean;
  upTo: bigint;
}

/** A whole number of pages. */
const rowsPerStatement = 5_000;

/** Some thousands at a time, each only while the batch belongs to this process. */
function* insertRows(
  batch: Batch,
  { lock, insertAgain, sealer }: { lock: string; insertAgain: string; sealer: Sealer },
  rows: Iterable<PlannedRow>,
): Work<PlanSums> {
  const { number } = batch;
  const sums = new PlanSums();
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
    row.seal = sealer.sealOf(sealedOrderOf(batch, row));
    sums.add(row);
    waiting.push(row);
    if (waiting.length === rowsPerStatement) yield insert();
  }
  yield insert();
  const [found] = yield* query(countRows, number);
  // The same identity has as many rows as a run that was interrupted.
  if (Number(found?.count) !== sums.rowCount) throw foreignRows(batch);
  return sums;
}

function recipientKeyOf({ recipient }: Row): string {
  return payeeOf(String(recipient));
}

/** Clocks of machines that share a ledger differ by less. */
const mostSkewMs = 60_000;

/** Seals the rows of a plan that are still the same as when they were read, some thousands at a time. */
function* sealRows(
  { batch, pages, accepted }: ReadPlan,
  { lock, sealer, lines }: { lock: string; sealer: Sealer; lines: ReadonlySet<number> },
): Work<PlanSums> {
  const guard: Statement = { sql: isOwnPlanned, values: [batch.number, lock], rows: 1 };
  const [sums, digests] = [new PlanSums(), new PageDigests()];
  for (let after = lowest; ; ) {
    const rows = yield* query(rowsAfter, batch.number, after);
    const changed: Row[] = [];
    for (const row of rows) {
      digests.add(row);
      const isAccepted = accepted.has(Number(row.row)) || lines.has(Number(row.line));
      const [flag, seal] = [isAccepted ? 1n : 0n, sealer.sealOf(sealedOrderOf(batch, row))];
      sums.add({ ...row, accepted: flag, seal });
      if (row.recipient_key !== recipientKeyOf(row)) throw planModified(batch);
      if (isTrue(row.accepted) !== isAccepted || row.seal !== seal)
        changed.push({ row: numberIn(row.row), accepted: flag, seal });
    }
    const isLast = rows.length < rowsPerStatement;
    if (isLast) digests.end();
    const isSame = digests.pages.every((digest, place) => digest === pages[place]);
    if (!isSame || (isLast && digests.pages.length !== pages.length)) throw planModified(batch);
    const given = { columns: sealedTypes, rows: changed };
    const update = { sql: setSealed, values: [batch.number], given, rows: changed.length };
    yield changed.length > 0 ? [guard, update] : [guard];
    if (isLast) return sums;
    after = numberIn(rows.at(-1)?.row);
  }
}

/** A writer can add rows to a batch before it is planned. They stay there. */
function foreignRows({ id }: Batch): Failure {
  return new Failure(
    "batch.plan-modified",
    `Rows were added to batch ${id} in the ledger before it was planned.`,
    { hint: "To send the file as another batch, add --name <name>.", operation: id },
  );
}

/** The lock of this process ended or was removed while it ran, so another one could take the batch. */
function taken(id: string): Failure {
  return new Failure("operation.locked", `Another lenden process took batch ${id}.`, {
    hint: `To see its rows, run 'lenden payout batch status ${id}'.`,
    operation: id,
  });
}

const numbers = new Set(["row", "line", "amount_paisa", "accepted"]);
const rowTypes: ColumnTypes = Object.fromEntries(
  planColumns.map((name) => [name, numbers.has(name) ? "number" : "text"]),
);
const sealedTypes: ColumnTypes = { row: "number", accepted: "number", seal: "text" };

/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);
const columnsOfPlan = Object.fromEntries(planColumns.map((name) => [name, `r."${name}"`]));
const rowsAfter = `SELECT ${Object.values(columnsOfPlan)} ${rowsOfBatch} AND r."row" > $2
  ORDER BY r."row" LIMIT ${rowsPerStatement}`;

const selectIds = `SELECT b.id FROM given CROSS JOIN lenden.batches b
  WHERE b.account = $1 AND b.id = given.id`;

const insertBatchSql = ({ storesLogin }: Dialect) => `
  INSERT INTO lenden.batches AS b (id, profile, environment, account, name, file_name, file_hash,
    identity, columns, method, "user", created_at, held_since, process${storesLogin ? ", login" : ""})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13${storesLogin ? ", $14" : ""})
  ON CONFLICT (account, identity) DO UPDATE SET name = excluded.name, file_name = excluded.file_name,
    file_hash = excluded.file_hash, columns = excluded.columns, method = excluded.method,
    held_since = excluded.held_since, process = excluded.process
    WHERE b.row_count IS NULL
  RETURNING *`;

const countRows = "SELECT count(*) AS count FROM lenden.batch_rows WHERE batch = $1";

const setSealed = `UPDATE lenden.batch_rows AS r SET accepted = given.accepted, seal = given.seal
  FROM given WHERE r.batch = $1 AND r."row" = given.row`;

const importedFiles = `SELECT e.data, e.login FROM lenden.events e
  WHERE e.operation IS NULL AND e.event = 'imported'`;
const recordedEvents = `SELECT e.event, e.at, e.data, e.login FROM lenden.events e
  WHERE e.batch = $1 AND e.event IN ('plan', 'cancelled') ORDER BY e.number`;
const planEvents = "SELECT e.data FROM lenden.events e WHERE e.batch = $1 AND e.event = 'plan'";

const lock = "UPDATE lenden.batches SET process = $2, held_since = $3 WHERE number = $1";
const unlock =
  "UPDATE lenden.batches SET process = NULL, held_since = NULL WHERE number = $1 AND process = $2";

const isOwn = "SELECT 1 FROM lenden.batches WHERE number = $1 AND process = $2";
const isOwnUnplanned = `${isOwn} AND row_count IS NULL`;
const isOwnPlanned = `${isOwn} AND row_count IS NOT NULL`;
