import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { errorCode } from "../error-code.ts";
import { Failure } from "../failure.ts";

/** What a column holds. Whole numbers are bigint in both directions, so that no amount is rounded. */
export type Value = string | bigint | null;
export type Row = Record<string, Value>;

export interface Statement {
  /** How many rows it changed. */
  run(...parameters: Value[]): number;
  get(...parameters: Value[]): Row | undefined;
  all(...parameters: Value[]): Row[];
}

/** SQLite, as little of it as lenden needs; everything in it is synchronous. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /**
   * All of it or nothing; takes the write lock first, so that what it reads stays true. Inside
   * another one it becomes part of that.
   */
  transaction<Result>(work: () => Result): Result;
  /** How many were begun: what was read inside one stays true as long as this is the same. */
  transactionCount(): number;
  /**
   * Takes a lock on another file, which is made where it is missing; the operating system keeps it for
   * this process. Gives what lets go of it; undefined where it is taken, or nobody can tell.
   */
  lock(path: string): (() => void) | undefined;
  close(): void;
}

/**
 * Opens a file (made with mode 0600, never through a symbolic link) or `:memory:`. Uses Node's own
 * SQLite from 22.13 on and the optional package `libsql` before; both read each other's files.
 * Fails as `internal` when the file cannot be used.
 */
export async function openDatabase(path: string): Promise<Database> {
  const open = await loadEngine();
  if (path !== ":memory:") makePrivateFile(path);
  try {
    const engine = open(path);
    engine.exec(
      "PRAGMA busy_timeout = 15000; PRAGMA foreign_keys = ON; PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 2000",
    );
    if (path !== ":memory:") await makeDurable(engine);
    return { ...engine, ...transactionsOn(engine), lock: (file) => lock(file, open) };
  } catch (error) {
    throw new Failure("internal", `The file ${path} cannot be opened as a database.`, {
      hint: "Is it a database of lenden, may it be written, and is there room on the disk? Nothing was sent.",
      cause: error,
    });
  }
}

const lockedTurns = 1_000;
const lockedMs = 15;

/**
 * Of two processes that make a file at once, SQLite tells the second that it is locked, and does not
 * wait as it does everywhere else.
 */
async function makeDurable(engine: Engine): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    try {
      return engine.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    } catch (error) {
      if (turn === lockedTurns || !/locked/.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, lockedMs));
    }
  }
}

/** SQLite asks the operating system in the same way on all of them, and within one process too. */
function lock(path: string, open: OpenEngine): (() => void) | undefined {
  makePrivateFile(path);
  const engine = open(path);
  try {
    engine.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return () => engine.close();
  } catch {
    engine.close();
    return undefined;
  }
}

type Transactions = Pick<Database, "transaction" | "transactionCount">;
type Engine = Omit<Database, keyof Transactions | "lock">;
type OpenEngine = (path: string) => Engine;

/** Imported only here, when a database is first needed: both cost start-up time. */
async function loadEngine(): Promise<OpenEngine> {
  const builtIn = await import("node:sqlite").catch(() => undefined);
  if (builtIn) return (path) => nodeEngine(new builtIn.DatabaseSync(path));
  const installed = await import("libsql").catch((cause) => {
    throw new Failure("internal", "This Node has no SQLite, and the package libsql is missing.", {
      hint: "Use Node 22.13 or later, or install lenden without --omit=optional.",
      cause,
    });
  });
  return (path) => libsqlEngine(new installed.default(path));
}

function nodeEngine(database: import("node:sqlite").DatabaseSync): Engine {
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return {
        run: (...parameters) => Number(statement.run(...parameters).changes),
        get: (...parameters) => rowOf(statement.get(...parameters)),
        all: (...parameters) => rowsOf(statement.all(...parameters)),
      };
    },
    close: () => database.close(),
  };
}

function libsqlEngine(database: import("libsql").Database): Engine {
  return {
    exec: (sql) => void database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql).safeIntegers(true);
      return {
        run: (...parameters) => statement.run(...parameters).changes,
        get: (...parameters) => rowOf(statement.get(...parameters)),
        all: (...parameters) => rowsOf(statement.all(...parameters)),
      };
    },
    close: () => void database.close(),
  };
}

function rowsOf(rows: unknown[]): Row[] {
  if (rows.every(isRow)) return rows;
  throw new TypeError(notRow);
}

/** Keeps the columns alone: libsql adds a `_metadata` object to what `get` returns. */
function rowOf(found: unknown): Row | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  const { _metadata, ...row } = { _metadata: undefined, ...found };
  if (isRow(row)) return row;
  throw new TypeError(notRow);
}

const notRow = "a column holds neither text nor a whole number";

function isRow(found: unknown): found is Row {
  if (typeof found !== "object" || found === null) return false;
  return Object.values(found).every(
    (value) => typeof value === "string" || typeof value === "bigint" || value === null,
  );
}

function transactionsOn(engine: Engine): Transactions {
  let isOpen = false;
  let count = 0;
  return {
    transactionCount: () => count,
    transaction: (work) => {
      if (isOpen) return work();
      engine.exec("BEGIN IMMEDIATE");
      isOpen = true;
      count += 1;
      try {
        const result = work();
        engine.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack(engine);
        throw error;
      } finally {
        isOpen = false;
      }
    },
  };
}

/** SQLite may have rolled back by itself (disk full); the first error is the one to report. */
function rollBack(engine: Engine): void {
  try {
    engine.exec("ROLLBACK");
  } catch {}
}

/** SQLite would make it readable to everyone (0644), and would follow a link to another file. */
function makePrivateFile(path: string): void {
  try {
    makeIfMissing(path);
    // Only looked at, never opened and closed: that would drop the locks that SQLite holds on it.
    const found = lstatSync(path);
    if (!found.isFile()) throw new Error("not a regular file");
    if ((found.mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  } catch (cause) {
    throw new Failure("internal", `The file ${path} cannot be used for data.`, {
      hint: "It must be a regular file of yours in a folder that exists, and no symbolic link.",
      cause,
    });
  }
}

/** Of several processes that start at once, one makes it. */
function makeIfMissing(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
