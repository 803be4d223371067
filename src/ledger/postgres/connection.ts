import { Socket, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import type { ConnectionOptions as TlsOptions } from "node:tls";
import pg from "pg";
import { errorCode, systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { beginning } from "../chain.ts";
import { modified } from "../head.ts";
import type { Head } from "../position.ts";
import {
  completed,
  differencesOf,
  type ServerIdentity,
  unknownServer,
} from "../server-identity.ts";
import { Pending } from "../sql/transaction.ts";
import { RowsMissing, type Statement } from "../sql/work.ts";
import { storable } from "../values.ts";
import { newerVersion, newestVersion } from "../version.ts";
import { writerRole } from "./schema.ts";

/** How to reach the server of a ledger. */
export interface ServerLogin {
  /** The URL without a password, for messages. */
  text: string;
  /** A host name, an IP address, or the directory of a unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  /** Requested only if the server asks for one. */
  password(): Promise<string>;
  /** False on loopback and unix sockets. */
  tls: TlsOptions | false;
}

/** A parameter of a statement. A set of rows is one text of JSON (`rowsJson`). */
export type Value = string | bigint | number | boolean | null | readonly string[];

/** A row with every value as text; a boolean is `t` or `f`. */
export type Row = Record<string, string | null>;

export type Query = (sql: string, ...values: Value[]) => Promise<Row[]>;

/** Runs statements in one round trip, and returns the rows of each. */
export type Run = (statements: Statement[]) => Promise<Row[][]>;

/** A write transaction, which has locked the ledger. */
export type ServerWrite = Pick<
  Transaction,
  "pending" | "nextOperation" | "run" | "query" | "locked"
>;

/** What the server reported when the connection was opened. */
export interface ServerFacts {
  /** PostgreSQL's own number: 150018 is 15.18. */
  serverVersion: number;
  login: string;
  /** False for a login that only reads. */
  mayWrite: boolean;
  isReplica: boolean;
  isReadOnly: boolean;
  /** False if a crash of the server could lose what it confirmed. */
  isDurable: boolean;
  synchronousCommit: string;
  /** The database's clock, milliseconds since 1970, and ours in the middle of the request. */
  serverNowMs: number;
  localNowMs: number;
  told: ServerIdentity;
  /** The value of `also`. */
  also: string | null;
}

/** What a connection needs of the run. */
export interface ConnectionClock {
  now(): number;
  /** How long the server may still be waited for, in milliseconds; never negative. */
  leftMs(): number;
}

interface ConnectionOptions extends ConnectionClock {
  /** One more value of the first statement of each connection, which spares a round trip; $2 is its first parameter. */
  also?: { sql: string; values: Value[] } | undefined;
  /** The stored head of this machine, if there is one, and whether a check found the ledger modified. */
  seen: Head | undefined;
  isModified: boolean;
  /** Where this machine has seen the ledger. */
  server: ServerIdentity;
  /** Called with the newest event after each commit, and when a connection was opened. */
  saw(newest: { head: Head; server: ServerIdentity; isWritten: boolean }): void;
  /** Called once, before the first transaction that may write. What it throws ends the transaction. */
  beforeWriting?: (() => Promise<void>) | undefined;
}

interface WriteOptions {
  /** Work that needs no lock on the ledger, before it is locked. Its statements may take long. */
  before?: (query: Query, run: Run) => Promise<void>;
  /** Writes although a user has to accept the ledger first. */
  isAcceptance?: boolean;
}

interface Session {
  client: pg.Client;
  socket: Socket;
  /** A warning of the server since the last statement. */
  warning: string | undefined;
  /** Why the server ended the session, if it said so between two statements. */
  ending: string | undefined;
  /** How long the server may still be waited for, in milliseconds. */
  leftMs(): number;
  /** When the session must be ready for use, by `performance.now()`. */
  readyMs: number;
}

interface Opened extends Session {
  facts: ServerFacts;
  /** True if its newest transaction has locked the ledger. */
  hasHead: boolean;
}

const connectMs = 10_000;
/** For each address of the host but the last. Node's own 250 ms cut off a long or a mobile line. */
const addressMs = 2_000;
/** A server that does not respond for so long is lost, unless it waits for a lock. */
const silentMs = 8_000;
/** For reads of a whole ledger, and for work on a whole plan, which nothing waits for. */
const longReadMs = 20_000;
const lockMs = 10_000;
/** For what someone else has locked in a table, which no lenden process does: before the server counts as lost. */
const rowLockMs = silentMs - 1_000;
/** A response may arrive so much later than a lock may be waited for. */
const responseMs = 1_000;
/** A lost connection is replaced within this time, counted from the last sign of the server. */
const reconnectMs = 12_000;
/** During an outage that is longer, what needs the server fails at once, with one attempt to connect in this time. */
const outagePauseMs = 5_000;
/** One of those attempts, which others wait for. */
const attemptMs = 4_000;

/**
 * One connection to the server of a ledger, used by one statement or transaction at a time, and opened again
 * after it was lost. Nothing depends on the session, so that a transaction pooler can be between.
 */
export class Connection {
  readonly #login: ServerLogin;
  readonly #options: ConnectionOptions;
  #opened: Opened | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #wasOpen = false;
  /** While the server cannot be reached: when it counts as gone, and since when it does. */
  #outage: { untilMs: number; failed?: { atMs: number; failure: Failure } } | undefined;
  /** The newest event that this process or machine has seen. A server that lacks it is not the same ledger. */
  #seen: Head | undefined;
  #containsSeen = true;
  /** Where the ledger is, by what this process or machine has seen, and where the server in use has it. */
  #server: ServerIdentity;
  #told: ServerIdentity = unknownServer;
  #mayWrite: Promise<void> | undefined;

  constructor(login: ServerLogin, options: ConnectionOptions) {
    this.#login = login;
    this.#options = options;
    this.#seen = options.seen;
    this.#server = options.server;
  }

  /** Why nothing may be written until a user accepts the ledger; undefined if there is no reason. */
  unaccepted(): Failure | undefined {
    if (!this.#containsSeen) return truncated();
    const differences = differencesOf(this.#server, this.#told);
    if (differences.length > 0) return otherServer(differences);
    return this.#options.isModified ? modified() : undefined;
  }

  facts(): Promise<ServerFacts> {
    return this.#alone(async () => (await this.#open()).facts);
  }

  /** Runs one statement. It is repeated once after a lost connection, so it must change nothing twice. */
  read: Query = (sql, ...values) =>
    this.#alone(() => this.#retrying((opened) => readOne(opened, sql, values)));

  /** As `read`, for statements that are sent together. */
  readAll(statements: Statement[]): Promise<Row[][]> {
    if (statements.length === 0) return Promise.resolve([]);
    return this.#alone(() =>
      this.#retrying(async (opened) => {
        const send = (one: Statement) => runCompiled(opened, compiled(one), silentMs);
        return withSettings(opened, () => statements.map(send));
      }),
    );
  }

  /** Reads of one moment: nothing that others commit meanwhile is seen. */
  snapshot<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#alone(() =>
      this.#retrying(async (opened) => {
        await run(opened, beginSql("REPEATABLE READ READ ONLY"));
        const result = await work((sql, ...values) => run(opened, sql, values, longReadMs));
        await run(opened, "COMMIT");
        return result;
      }),
    );
  }

  /**
   * Runs work in a transaction that has locked the ledger: no other process writes meanwhile. If the connection
   * is lost and the transaction was certainly not committed, work runs a second time, so it must keep no state.
   *
   * @throws Failure `ledger.unreachable`, also if it is unknown whether the transaction was committed
   * @throws Failure `ledger.server-busy` if the lock was not free within 10 seconds
   */
  async write<Result>(
    work: (write: ServerWrite) => Promise<Result>,
    options: WriteOptions = {},
  ): Promise<Result> {
    const isAcceptance = options.isAcceptance === true;
    const { beforeWriting } = this.#options;
    if (beforeWriting && !isAcceptance) {
      // First, because a person is not asked in vain.
      this.#requireWritable(await this.facts(), isAcceptance);
      this.#mayWrite ??= beforeWriting();
      await this.#mayWrite.catch((error: unknown) => {
        // The next write asks again: a person may have used the ledger on this machine meanwhile.
        this.#mayWrite = undefined;
        throw error;
      });
    }
    return this.#alone(() =>
      this.#retrying(async (opened) => {
        this.#requireWritable(opened.facts, isAcceptance);
        const transaction = new Transaction(opened, this.#seen, (containsSeen, head) => {
          // Behind a pooler, another server can have taken the place of the one that was asked before.
          this.#containsSeen = containsSeen;
          this.#told = { ...this.#told, head };
          this.#requireAccepted(isAcceptance);
        });
        let result: { value: Result } | undefined;
        try {
          await transaction.begin(options.before);
          result = { value: await work(transaction) };
          await transaction.commit();
        } catch (error) {
          const mayBeCommitted = error instanceof LostConnection && transaction.isCommitting;
          if (!result || !mayBeCommitted) throw error;
          this.#lose(opened, error);
          if (!(await this.#wasCommitted(transaction))) throw error;
        }
        this.#saw(transaction.head, true);
        return result.value;
      }),
    );
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    this.#isClosed = true;
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    // Waiting until the server closes the connection would take a round trip.
    opened.socket.unref();
    void opened.client.end().catch(() => {});
  }

  /** Runs work when all that was asked before has ended. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Runs work, and once more if the connection is lost: it must repeat only what certainly did not happen. */
  async #retrying<Result>(work: (opened: Opened) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const opened = await this.#open();
      try {
        return await work(opened);
      } catch (error) {
        if (error instanceof LostConnection) {
          this.#lose(opened, error);
          if (attempt === 2) throw unreachable(this.#login, error);
          continue;
        }
        await run(opened, "ROLLBACK").catch(() => opened.socket.destroy());
        throw error instanceof LockTimeout ? await this.#busy(opened) : serverFailure(error);
      }
    }
  }

  /** True if a transaction was committed. Once the ledger is locked, that transaction has ended on the server. */
  async #wasCommitted(transaction: Transaction): Promise<boolean> {
    const opened = await this.#open();
    const check = new Transaction(opened, this.#seen, () => {});
    try {
      await check.begin();
      const isCommitted = await transaction.isCommitted(check.query);
      if (!isCommitted) {
        await run(opened, "ROLLBACK");
        return false;
      }
      // A standby server may lack the commit. This COMMIT waits for the standby, and warns if the wait was cancelled.
      await check.commit();
      return true;
    } catch (error) {
      opened.socket.destroy();
      const isUnknown = error instanceof LostConnection || error instanceof LockTimeout;
      throw isUnknown ? unreachable(this.#login, error) : error;
    }
  }

  /**
   * Of the sessions that use the head, the one that waits for nothing has locked it. What is locked after that is locked
   * by a session that does not use the head, as every lenden process does.
   */
  async #busy(opened: Opened): Promise<Failure> {
    const usesHead = "l.relation = 'lenden.head'::regclass";
    const isOther = `l.relation IN (SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'lenden'::regnamespace)
      AND l.mode <> 'AccessShareLock'
      AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND ${usesHead})`;
    const [row] = await readOne(
      opened,
      `SELECT a.pid, a.usename, to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS') AS since
       FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
       WHERE ${opened.hasHead ? isOther : `${usesHead} AND l.mode = 'RowShareLock'`}
         AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = l.pid AND NOT w.granted) LIMIT 1`,
      [],
    ).catch(() => []);
    // Since when is shown to the same login alone.
    const since = row?.since == null ? "" : ` since ${row.since} UTC`;
    return busy(row ? ` by login ${row.usename} (server process ${row.pid})${since}` : "");
  }

  /** @throws Failure if nothing may be written there */
  #requireWritable(facts: ServerFacts, isAcceptance: boolean): void {
    if (!facts.mayWrite) throw onlyReads(facts);
    if (facts.isReplica) throw unusable("server-replica", "the server is a replica");
    if (facts.isReadOnly) throw readOnly();
    if (!facts.isDurable) throw unusable("server-not-durable", "the server runs with fsync=off");
    this.#requireAccepted(isAcceptance);
  }

  #requireAccepted(isAcceptance: boolean): void {
    const failure = isAcceptance ? undefined : this.unaccepted();
    if (failure) throw failure;
  }

  #saw(head: Head, isWritten = false): void {
    this.#seen = head;
    this.#containsSeen = true;
    this.#server = completed(this.#told, this.#server);
    this.#options.saw({ head, server: this.#server, isWritten });
  }

  async #open(): Promise<Opened> {
    if (this.#isClosed) throw new Error("the connection to the ledger is closed");
    if (this.#opened && !this.#opened.socket.destroyed) return this.#opened;
    const { now, leftMs } = this.#options;
    const failed = this.#outage?.failed;
    if (failed && Math.abs(now() - failed.atMs) < outagePauseMs) throw failed.failure;
    for (let pauseMs = 100; ; pauseMs = Math.min(1_000, pauseMs * 2)) {
      try {
        this.#opened = await this.#connect();
        this.#wasOpen = true;
        this.#outage = undefined;
        return this.#opened;
      } catch (error) {
        if (!(error instanceof LostConnection)) throw serverFailure(error);
        const failure = unreachable(this.#login, error);
        // At the start, a server that cannot be reached is reported at once.
        if (!this.#wasOpen) throw failure;
        this.#outage ??= { untilMs: now() + reconnectMs - error.silentMs };
        if (now() + pauseMs > this.#outage.untilMs || pauseMs > leftMs()) {
          this.#outage.failed = { atMs: now(), failure };
          throw failure;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async #connect(): Promise<Opened> {
    const limitMs = this.#outage ? attemptMs : connectMs;
    const session = await connect(this.#login, this.#options.leftMs, limitMs);
    try {
      const facts = await readFacts(session, this.#options, this.#seen);
      this.#containsSeen = facts.containsSeen;
      this.#told = facts.told;
      if (!this.unaccepted()) this.#saw(facts.newest);
      return Object.assign(session, { facts, hasHead: false, readyMs: Number.POSITIVE_INFINITY });
    } catch (error) {
      session.socket.destroy();
      throw error;
    }
  }

  #lose(opened: Opened, { silentMs }: LostConnection): void {
    opened.socket.destroy();
    // A write reports it twice, the second time after another connection was opened.
    if (this.#opened !== opened) return;
    this.#outage ??= { untilMs: this.#options.now() + reconnectMs - silentMs };
  }
}

class Transaction {
  readonly pending = new Pending();
  /** The newest event, with those that were appended once they are sent. */
  head: Head = { number: 0n, hash: beginning };
  isCommitting = false;
  /** The server's own ID of it, for a transaction without events. */
  #serverId: string | null = null;
  readonly #opened: Opened;
  readonly #seen: Head | undefined;
  readonly #found: (containsSeen: boolean, headTable: string | null) => void;
  #operation = 0n;
  /** Until the ledger is locked, what is sent waits behind the lock. */
  #locking: { locked: Promise<unknown>; waitsMs: number } | undefined;

  /**
   * @param found called when the ledger is locked: false if it lacks the newest event that this process or machine
   *   has seen, and the oid of the table with the head. What it throws ends the transaction.
   */
  constructor(
    opened: Opened,
    seen: Head | undefined,
    found: (containsSeen: boolean, headTable: string | null) => void,
  ) {
    this.#opened = opened;
    this.#seen = seen;
    this.#found = found;
  }

  /** Sends what begins and locks. Nothing waits for the responses before the first statements do. */
  async begin(before?: WriteOptions["before"]): Promise<void> {
    const opened = this.#opened;
    // The shorter limit is set once the ledger is locked.
    const lockSql = `WITH locked AS MATERIALIZED (SELECT h.version, h.tableoid AS head_table FROM lenden.head h FOR UPDATE)
      SELECT locked.*, pg_current_xact_id() AS server_id,
        set_config('lock_timeout', '${rowLockMs}', true) FROM locked`;
    const waitsMs = lockWaitMs(opened);
    opened.hasHead = false;
    const begins = run(opened, beginToWrite(opened.facts, waitsMs));
    if (before) {
      await begins;
      const runOne = (one: Compiled) => runCompiled(opened, one, longReadMs);
      await before(
        (sql, ...values) => runOne({ sql, values }),
        (statements) => inOrder(statements.map((one) => runOne(compiled(one)))),
      );
      return this.#lock(lockSql, waitsMs);
    }
    const locked = inOrder<unknown>([begins, this.#lock(lockSql, waitsMs)]);
    locked.catch(() => {}); // Thrown by what waits for it.
    this.#locking = { locked, waitsMs };
  }

  /** Waits until the ledger is locked. Returns the newest event. */
  async locked(): Promise<Head> {
    await this.#locking?.locked;
    this.#locking = undefined;
    return this.head;
  }

  query: Query = async (sql, ...values) => {
    const [rows = []] = await this.#send([{ sql, values }]);
    return rows;
  };

  /** Runs what is pending, and then these statements, in one round trip. */
  run: Run = (statements) => this.#send(statements.map(compiled));

  nextOperation = (): bigint => {
    if (this.#locking)
      throw new Error("the number of an operation is known once the ledger is locked");
    this.#operation += 1n;
    return this.#operation;
  };

  async #send(statements: Compiled[]): Promise<Row[][]> {
    const pending = this.pending.take().map(compiled);
    if (pending.length === 0 && statements.length === 0) return [];
    const locking = this.#locking;
    const limitMs = silentMs + (locking?.waitsMs ?? 0);
    const sent = [...pending, ...statements].map((one) => runCompiled(this.#opened, one, limitMs));
    const answers = inOrder(sent);
    await inOrder<unknown>([...(locking ? [locking.locked] : []), answers]);
    this.#locking = undefined;
    return (await answers).slice(pending.length);
  }

  async commit(): Promise<void> {
    const before = await this.locked();
    const { head, statements } = this.pending.link(before);
    this.head = head;
    // Built first: if this throws, no COMMIT may be sent without the events.
    const last = [...this.pending.take(), ...statements].map(compiled);
    this.isCommitting = true;
    // Reset before all are sent: all responses can arrive at once.
    this.#opened.warning = undefined;
    // Sent together. If a statement fails, PostgreSQL responds to the COMMIT with ROLLBACK, and without an error.
    const stored = last.map((one) => runCompiled(this.#opened, one, silentMs));
    const committed = execute(this.#opened, "COMMIT", []);
    await inOrder<unknown>([...stored, committed]);
    const { command } = await committed;
    if (command !== "COMMIT") throw new Error(`the ledger answered COMMIT with ${command}`);
    if (this.#opened.warning !== undefined) throw notReplicated(this.#opened.warning);
  }

  /** True if it was committed; asked in another transaction, when this one has ended. */
  async isCommitted(query: Query): Promise<boolean> {
    const { number, hash } = this.head;
    const { commitId, hasEvents } = this.pending;
    const inChain =
      "SELECT 1 FROM lenden.events WHERE commit_id = $1 AND number = $2 AND hash = $3";
    const found = hasEvents
      ? await query(inChain, commitId, number, hash)
      : await query("SELECT 1 WHERE pg_xact_status($1::xid8) = 'committed'", this.#serverId);
    return found.length > 0;
  }

  async #lock(sql: string, waitsMs: number): Promise<void> {
    const limitMs = waitsMs + responseMs;
    // A statement sees what was there when it began: one that waits for the lock does not see what it waited for.
    const locks = run(this.#opened, sql, [], limitMs);
    const reads = run(this.#opened, newestSql, [this.#seen?.number ?? 0n], limitMs);
    reads.catch(() => {}); // It fails after what locks.
    const [locked] = await locks;
    if (!locked) throw new Error("the ledger has no head");
    this.#opened.hasHead = true;
    requireKnown(locked);
    const [newest = {}] = await reads;
    this.head = headIn(newest);
    this.#operation = BigInt(newest.operation ?? 0);
    this.#serverId = locked.server_id ?? null;
    this.#found(hasSeen(newest, this.#seen), locked.head_table ?? null);
  }
}

/** Waits for all, and throws the first error in their order: the later ones may follow from it. */
async function inOrder<Result>(all: Promise<Result>[]): Promise<Result[]> {
  const ended = await Promise.allSettled(all);
  return ended.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

/** A statement, as PostgreSQL runs it. */
interface Compiled {
  sql: string;
  values: readonly Value[];
  /** Set if the statement fails by a division by zero unless it changes as many rows as it must. */
  isCounted?: boolean;
}

/**
 * Given rows become a table of one JSON parameter. By the limit PostgreSQL knows how few they are; otherwise it may
 * read a whole table. Only a failed statement makes the server roll back a COMMIT that is already sent: a wrong number
 * of rows divides by zero.
 */
export function compiled({ sql, values, given, rows }: Statement): Compiled {
  const bound: Value[] = [...values];
  let text = sql;
  if (given) {
    const columns = Object.entries(given.columns).map(
      ([name, type]) => `"${name}" ${type === "number" ? "bigint" : "text"}`,
    );
    const table = `json_to_recordset($${bound.push(rowsJson(given.rows))}::json) AS one(${columns})`;
    const from = `FROM (SELECT * FROM ${table} LIMIT ${given.rows.length}) AS given`;
    text = text.replace(/FROM given\b(?!\.)/, () => from);
  }
  if (rows === undefined) return { sql: text, values: bound };
  const returning = /^\s*SELECT/.test(text) ? "" : "RETURNING 1";
  const count = "(SELECT count(*) FROM counted)";
  return {
    sql: `WITH counted AS (${text} ${returning}) SELECT 1 / (${count} = $${bound.push(rows)})::int`,
    values: bound,
    isCounted: true,
  };
}

async function runCompiled(
  opened: Opened,
  { sql, values, isCounted = false }: Compiled,
  limitMs: number,
): Promise<Row[]> {
  try {
    const rows = await run(opened, sql, values, limitMs);
    return isCounted ? [] : rows;
  } catch (error) {
    throw isCounted && isDivisionByZero(error)
      ? new RowsMissing(`the ledger lacks rows of: ${sql}`)
      : error;
  }
}

/** The hash of an event. */
const hashAt = (number: string) =>
  `(SELECT e.hash FROM lenden.events e WHERE e.number = ${number}::bigint)`;

/** The number and the hash of the newest event. */
export const newestEventSql = "SELECT number, hash FROM lenden.events ORDER BY number DESC LIMIT 1";

/** The numbers from which a transaction counts. $1 number of the event that was seen last. */
const newestSql = `
  SELECT e.number, e.hash, ${hashAt("$1")} AS seen, (SELECT max(number) FROM lenden.operations) AS operation
  FROM (VALUES (1)) one LEFT JOIN (${newestEventSql}) e ON true`;

export function headIn({ number, hash }: Row): Head {
  return { number: BigInt(number ?? 0), hash: hash ?? beginning };
}

/** True if the hash of the event that was seen last is still there. */
function hasSeen(row: Row, seen: Head | undefined): boolean {
  return seen === undefined || seen.number === 0n || row.seen === seen.hash;
}

/** @throws Failure if another version of lenden created or updated the ledger */
function requireKnown({ version }: Row): void {
  const found = Number(version);
  if (found > newestVersion) throw newerVersion(found);
  if (found === newestVersion) return;
  throw new Failure("ledger.older-version", "Cannot use the ledger: an older lenden created it.", {
    hint: "Run 'lenden ledger init' with the login that created it.",
  });
}

/** @throws Failure `ledger.server-version` */
export function rejectOldServer({ server_version: version }: Row): void {
  if (Number(version) >= 150_000) return;
  throw new Failure("ledger.server-version", "The server is older than PostgreSQL 15.", {
    hint: "Use PostgreSQL 15 or later.",
  });
}

/** How long a transaction waits for a lock: the rest of the time is for the message that names who has it. */
function lockWaitMs({ leftMs }: Session): number {
  const leftToWaitMs = leftMs();
  return Math.max(1, Math.floor(Math.min(lockMs, leftToWaitMs - Math.min(300, leftToWaitMs / 2))));
}

/**
 * Settings of one transaction, because a pooler gives each transaction another session. Whoever may create functions in
 * a schema of the search path would give lenden its own. A transaction may pause while lenden seals rows. The server may
 * need 0.3 s to compile a statement that runs for less, and the ledger is locked meanwhile.
 */
const ownSettings = [
  "SET LOCAL search_path = pg_catalog",
  "SET LOCAL idle_in_transaction_session_timeout = '30s'",
  "SET LOCAL jit = off",
];

/** Not in the login's default isolation: in a serializable one, whoever waited for the lock would fail. */
function beginSql(isolation: string, settings: string[] = []): string {
  return [`BEGIN ISOLATION LEVEL ${isolation}`, ...ownSettings, ...settings].join("; ");
}

function beginToWrite({ synchronousCommit }: ServerFacts, waitsMs: number): string {
  const isWeak = ["off", "local", "remote_write"].includes(synchronousCommit);
  return beginSql("READ COMMITTED", [
    `SET LOCAL lock_timeout = '${waitsMs / 1_000}s'`,
    ...(isWeak ? ["SET LOCAL synchronous_commit = on"] : []),
  ]);
}

/**
 * Runs statements in a transaction of their own. All are sent together, in one round trip. END is COMMIT, for what changes
 * nothing twice.
 */
async function withSettings(
  session: Session,
  send: () => Promise<Row[]>[],
  limitMs = silentMs,
): Promise<Row[][]> {
  const started = run(session, beginSql("READ COMMITTED"));
  const sent = send();
  await inOrder([started, ...sent, run(session, "END", [], limitMs)]);
  return inOrder(sent);
}

async function readOne(
  session: Session,
  sql: string,
  values: readonly Value[],
  limitMs = silentMs,
): Promise<Row[]> {
  const send = () => [run(session, sql, values, limitMs)];
  const [rows = []] = await withSettings(session, send, limitMs);
  return rows;
}

/** Rows as the one parameter of `json_to_recordset`. */
export function rowsJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === "string") return storable(value);
    return typeof value === "bigint" ? String(value) : value;
  });
}

/** Without an answer of the server: it is unknown what became of the statement. */
class LostConnection extends Error {
  /** How long there was no sign of the server, in milliseconds. */
  readonly silentMs: number;

  constructor(why: string, silentMs = 0) {
    super(why);
    this.silentMs = silentMs;
  }
}

/** The server did not respond within a time, or within what is left of the run's. */
function noResponse(limitMs: number, { leftMs }: Pick<Session, "leftMs">): LostConnection {
  const isOver = leftMs() <= 0;
  const within = isOver
    ? "within the time limit (--timeout)"
    : `in ${Math.ceil(limitMs / 1_000)} s`;
  return new LostConnection(`no response ${within}`, limitMs);
}

/** Sends only these parameters: pg would add those of PGOPTIONS, PGREPLICATION and PGAPPNAME. */
class Client extends pg.Client {
  getStartupConf() {
    return { user: this.user, database: this.database, application_name: "lenden" };
  }
}

/** Also of the first statement, until `readyMs` is changed, because a pooler may have no server. */
async function connect(
  login: ServerLogin,
  leftMs: () => number,
  limitMs: number,
): Promise<Session> {
  setDefaultAutoSelectFamilyAttemptTimeout(addressMs); // pg connects the socket without options
  const socket = new Socket();
  const client = new Client({
    host: login.host,
    port: login.port,
    database: login.database,
    user: login.user,
    password: login.password,
    ssl: login.tls,
    stream: () => socket,
    keepAlive: true,
    // Lets `commit` send the COMMIT before the last statement has its response.
    pipeline: true,
    // Else PGSSLNEGOTIATION would decide.
    sslnegotiation: "postgres",
    types: { getTypeParser: () => (text: string) => text },
  });
  const readyMs = performance.now() + limitMs;
  const session: Session = {
    ...{ client, socket, leftMs, readyMs },
    warning: undefined,
    ending: undefined,
  };
  // Without a listener, an idle connection that is lost would end the process.
  client.on("error", (error) => {
    session.ending ??= reasonOf(error);
    socket.destroy();
  });
  client.on("notice", ({ code, message }) => {
    if (code === "01000") session.warning = message ?? "";
  });
  try {
    await withinTime(session, limitMs, () => client.connect());
    return session;
  } catch (error) {
    socket.destroy();
    throw connectFailure(login, error);
  }
}

/**
 * Works at a server that may have no ledger, on a connection of its own.
 *
 * @param work `query` has a transaction of its own, and `script` runs one that is in its text
 */
export async function atServer<Result>(
  login: ServerLogin,
  leftMs: () => number,
  work: (query: Query, script: (sql: string) => Promise<unknown>) => Promise<Result>,
): Promise<Result> {
  let opened: Session | undefined;
  try {
    const own = await connect(login, leftMs, connectMs);
    own.readyMs = Number.POSITIVE_INFINITY;
    opened = own;
    return await work(
      (sql, ...values) => readOne(own, sql, values, longReadMs),
      (sql) => run(own, sql, [], longReadMs),
    );
  } catch (error) {
    if (error instanceof LockTimeout) throw busy("");
    throw error instanceof LostConnection ? unreachable(login, error) : serverFailure(error);
  } finally {
    opened?.socket.destroy();
  }
}

async function run(
  session: Session,
  sql: string,
  values: readonly Value[] = [],
  limitMs = silentMs,
): Promise<Row[]> {
  return (await execute(session, sql, values, limitMs)).rows;
}

async function execute(
  session: Session,
  sql: string,
  values: readonly Value[],
  limitMs = silentMs,
) {
  const { client } = session;
  try {
    const sent = values.map(parameterOf);
    const found: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await withinTime(
      session,
      limitMs,
      () => (sent.length === 0 ? client.query(sql) : client.query(sql, sent)),
    );
    const last = Array.isArray(found) ? found.at(-1) : found;
    return { rows: last?.rows ?? [], command: last?.command };
  } catch (error) {
    throw statementFailure(error, session);
  }
}

/** Waits for the server. If it is late, it may continue, so nothing else is sent on this connection. */
async function withinTime<Result>(
  session: Session,
  limitMs: number,
  wait: () => Promise<Result>,
): Promise<Result> {
  const ms = Math.min(limitMs, session.leftMs(), session.readyMs - performance.now());
  if (ms <= 0) {
    // What follows in the same transaction must not be sent without this, should there be time again.
    session.socket.destroy();
    throw noResponse(0, session);
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    session.socket.destroy();
  }, ms);
  try {
    return await wait();
  } catch (error) {
    throw isLate ? noResponse(ms, session) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The server rejects a text with NUL, also one that is only searched for. */
function parameterOf(value: Value) {
  if (typeof value === "string") return storable(value);
  if (value !== null && typeof value === "object") return value.map(storable);
  return typeof value === "bigint" ? String(value) : value;
}

/** SQLSTATEs of a session that the server ended. */
const endedSession = /^(?:08|57P0|25P03|25P04)/;

function statementFailure(error: unknown, { ending }: Session): unknown {
  if (error instanceof LostConnection) return error;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === undefined || endedSession.test(code))
    return new LostConnection(ending ?? reasonOf(error));
  if (code === "55P03") return new LockTimeout();
  if (code === "25006") return readOnly();
  if (code === "42501") return accessDenied("the login may not use the ledger", grantHint);
  return error;
}

function isDivisionByZero(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "22012";
}

/** The ledger was locked by another process for too long. */
class LockTimeout extends Error {
  override message = "it is locked";
}

const grantHint = `Ask the database's administrator for 'GRANT ${writerRole} TO <login>'.`;

/** What the administrator of the server has set, or a fault of the server. lenden is not the cause. */
function serverFailure(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = "", constraint = "", message } = error;
  return new Failure(
    "ledger.server-error",
    `The ledger's server rejected a statement: ${message} (SQLSTATE ${code}).`,
    {
      hint:
        serverHints[constraint] ??
        serverHints[code] ??
        "Ask the database's administrator to fix it, then run the same command again.",
      cause: error,
    },
  );
}

const otherTables =
  "The tables are not those of this version of lenden. Use the version that created them.";

/** What to do, by SQLSTATE or constraint. */
const serverHints: Record<string, string> = {
  "42703": otherTables,
  "42P01": otherTables,
  "57014":
    "Ask the database's administrator to raise the statement_timeout of the login, then run the same command again.",
  "0A000":
    "Ask the database's administrator to drop rules that were added to the ledger's tables, then run the same command again.",
  events_pkey:
    "A login added an event without lenden. Run 'lenden ledger check', then run the same command again.",
  "53100": "Make room on the disk of the server, then run the same command again.",
};

function connectFailure(login: ServerLogin, error: unknown): unknown {
  if (error instanceof Failure || error instanceof LostConnection) return error;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code?.startsWith("28"))
    return accessDenied(
      `${login.text} rejected the login`,
      "Check LENDEN_LEDGER_PASSWORD, or the password command of the profile.",
    );
  if (code === "3D000")
    return new Failure("ledger.not-initialized", `${login.text}: there is no such database.`, {
      hint: "Create it, then run 'lenden ledger init <url>'.",
    });
  if (isTlsError(error))
    return new Failure(
      "ledger.tls",
      `Cannot verify the TLS certificate of ${login.text} (${reasonOf(error)}).`,
      {
        hint: "Set the certificate authority with --ledger-ca <file>. For LENDEN_LEDGER_URL, set NODE_EXTRA_CA_CERTS to the file.",
        cause: error,
      },
    );
  return new LostConnection(reasonOf(error));
}

function isTlsError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return (
    /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code) || /does not support SSL/.test(error.message)
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A DatabaseError has a code too: its SQLSTATE.
  const isSystemError = errorCode(error) !== undefined && !(error instanceof pg.DatabaseError);
  return isSystemError ? systemReason(error) : error.message;
}

/** What a server is asked once for each connection; 42P01 and 3F000 if it has no ledger. */
async function readFacts(
  session: Session,
  { now, also = { sql: "NULL", values: [] } }: ConnectionOptions,
  seen: Head | undefined,
) {
  const startMs = now();
  let found: Row[];
  // Sent together, and read after the facts, whose errors say more.
  const telling = readIdentity((sql) => readOne(session, sql, []));
  telling.catch(() => {});
  try {
    found = await readOne(session, factsSql(also.sql), [seen?.number ?? null, ...also.values]);
  } catch (error) {
    if (error instanceof pg.DatabaseError && /^(?:42P01|3F000)$/.test(error.code ?? ""))
      throw new Failure("ledger.not-initialized", "The database has no ledger.", {
        hint: "Create it with 'lenden ledger init <url>'.",
      });
    throw error;
  }
  const [row = {}] = found;
  const localNowMs = (startMs + now()) / 2;
  requireKnown(row);
  rejectOldServer(row);
  return {
    serverVersion: Number(row.server_version),
    login: row.login ?? "",
    mayWrite: row.may_write === "t",
    isReplica: row.is_replica === "t",
    isReadOnly: row.read_only === "on",
    isDurable: row.fsync === "on",
    synchronousCommit: row.synchronous_commit ?? "",
    serverNowMs: Number(row.now_ms),
    localNowMs,
    told: await telling,
    also: row.also ?? null,
    containsSeen: hasSeen(row, seen),
    newest: headIn(row),
  };
}

/**
 * Where the server has the ledger. Some servers and administrators forbid a part of it: an error of one of these
 * statements is no error.
 */
export async function readIdentity(query: Query): Promise<ServerIdentity> {
  const told = async (sql: string): Promise<string | null> => {
    try {
      const [row] = await query(sql);
      return row?.told ?? null;
    } catch (error) {
      if (error instanceof LostConnection) throw error;
      return null;
    }
  };
  const [system = null, database = null, head = null] = await inOrder(
    [
      "SELECT system_identifier AS told FROM pg_control_system()",
      "SELECT oid AS told FROM pg_database WHERE datname = current_database()",
      "SELECT to_regclass('lenden.head')::oid AS told",
    ].map(told),
  );
  return { system, database, head };
}

const factsSql = (also: string) => `
  SELECT current_setting('server_version_num') AS server_version, session_user AS login,
    has_any_column_privilege('lenden.events', 'INSERT') AS may_write, pg_is_in_recovery() AS is_replica, current_setting('transaction_read_only') AS read_only,
    current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
    extract(epoch FROM clock_timestamp()) * 1000 AS now_ms, h.version, e.number, e.hash,
    ${hashAt("$1")} AS seen, ${also} AS also
  FROM lenden.head h LEFT JOIN (${newestEventSql}) e ON true`;

function busy(by: string): Failure {
  return new Failure("ledger.server-busy", `The ledger is locked${by}.`, {
    hint: "Run the command again when that process has ended.",
  });
}

function unreachable({ text }: ServerLogin, cause: unknown): Failure {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new Failure("ledger.unreachable", `Cannot reach the ledger ${text}${why}.`, {
    hint: "Check that the server runs and that this machine can reach it, then run the command again.",
    cause,
  });
}

function accessDenied(why: string, hint: string): Failure {
  return new Failure("ledger.access-denied", `Cannot use the ledger: ${why}.`, { hint });
}

function onlyReads({ login }: ServerFacts): Failure {
  return accessDenied(
    `the login ${login} may only read it, because it is not a member of ${writerRole}`,
    `Ask the database's administrator for 'GRANT ${writerRole} TO ${login}'.`,
  );
}

function unusable(
  reason: "server-replica" | "server-read-only" | "server-not-durable",
  why: string,
): Failure {
  return new Failure(`ledger.${reason}`, `The ledger cannot store operations safely: ${why}.`, {
    hint: "Use the primary server with fsync=on. 'lenden doctor' shows its settings.",
  });
}

function readOnly(): Failure {
  return unusable("server-read-only", "the database is read-only");
}

function notReplicated(warning: string): Failure {
  return new Failure(
    "ledger.not-replicated",
    `The ledger's server stored the record, but its standby server did not: ${warning}.`,
    { hint: "Check its standby server, then run the command again." },
  );
}

function truncated(): Failure {
  return new Failure(
    "ledger.truncated",
    "The ledger lacks operations that this machine has seen.",
    {
      hint: "To use the ledger as it is, run 'lenden ledger check --accept'. Payouts that it does not have could then be sent twice.",
    },
  );
}

const partNames = {
  system: "the server's system identifier",
  database: "the number of its database",
  head: "the number of its table lenden.head",
};

function otherServer(differences: (keyof ServerIdentity)[]): Failure {
  const what = differences.map((part) => partNames[part]).join(", ");
  return new Failure(
    "ledger.other-server",
    `The ledger was restored, recreated or replaced since this machine last saw it: ${what} ${differences.length === 1 ? "differs" : "differ"}.`,
    {
      hint: "Compare the merchant dashboard with 'lenden ledger list'. To use the ledger as it is, run 'lenden ledger check --accept'. Payouts that it does not have could then be sent twice.",
    },
  );
}
