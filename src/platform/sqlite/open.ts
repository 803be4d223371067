import { chmodSync, closeSync, lstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { isWritable } from "../files.ts";
import type { Database, Engine } from "./database.ts";
import { loadEngine, type OpenEngine } from "./engines.ts";

/**
 * Opens `:memory:` or a file, which is created with mode 0600, and never through a symbolic link. Node 22.13 and
 * later use Node's own SQLite, earlier ones the optional package `libsql`; both read each other's files. A file
 * that this process may not write, or whose disk is full, is opened read-only.
 *
 * @param leftMs how long a lock of another process may still be waited for; at most 15 seconds
 * @throws Failure `internal` if the file cannot be used, `ledger.locked` if it stays locked
 */
export async function openDatabase(path: string, leftMs: LeftMs = unlimited): Promise<Database> {
  const open = await loadEngine();
  let restoreMode = (): void => {};
  if (path !== ":memory:") {
    if (isReadOnly(path)) return opened(path, () => readOnly(path, open, leftMs));
    restoreMode = makePrivateFile(path);
  }
  return opened(path, async () => {
    const engine = open(path);
    try {
      engine.exec(`${waitFor(leftMs)}; ${settings}; PRAGMA wal_autocheckpoint = 2000`);
      if (path !== ":memory:") await makeDurable(engine, leftMs);
    } catch (error) {
      engine.close();
      if (/not a database/.test(String(error))) restoreMode();
      if (!hasNoRoom(path, error)) throw error;
      return readOnly(path, open, leftMs, "there is no room on its disk");
    }
    return { ...engine, ...transactionsOn(engine, path, leftMs), ...locksWith(open) };
  });
}

/**
 * Writes a consistent copy while other processes may write. Only SQLite reads the file: to copy it in another
 * way would drop the locks that this process has on it.
 *
 * @param path a file that does not exist
 */
export function writeCopy(database: Database, path: string): void {
  makePrivateFile(path);
  database.prepare("VACUUM INTO ?").run(path);
}

/** True for a file with content beside which SQLite can create no log. */
function hasNoRoom(path: string, error: unknown): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 && /disk is full|disk I\/O error|unable to open/.test(String(error));
}

/**
 * Opens a file of which no other process knows yet. Without a log: libsql closes a connection only when
 * its statements are collected, and a log that is still open must not follow a renamed file.
 */
export async function openUnshared(path: string): Promise<Database> {
  const open = await loadEngine();
  return opened(path, () => {
    const engine = open(path);
    engine.exec(`${settings}; PRAGMA journal_mode = MEMORY`);
    return { ...engine, ...transactionsOn(engine, path, unlimited), ...locksWith(open) };
  });
}

/**
 * Opens a database for temporary tables, which may be larger than the memory. SQLite keeps them in files without a
 * name, which end with the process.
 */
export async function openTemporary(): Promise<Database> {
  const database = await openDatabase(":memory:");
  database.exec("PRAGMA temp_store = FILE; PRAGMA temp.cache_size = -8000");
  return database;
}

/** Opens a file that no process writes, such as a backup: without its log and without locks. */
export async function openUnchanging(path: string): Promise<Database> {
  const open = await loadEngine();
  return opened(path, () => unchanging(path, open));
}

const settings = "PRAGMA foreign_keys = ON; PRAGMA cache_size = -8000";

/** How long a lock of another process may still be waited for, in milliseconds; never negative. */
type LeftMs = () => number;

const unlimited: LeftMs = () => Number.POSITIVE_INFINITY;
const longestWaitMs = 15_000;

/** Makes SQLite wait for a lock, but not longer than is left. */
function waitFor(leftMs: LeftMs): string {
  return `PRAGMA busy_timeout = ${Math.ceil(Math.min(longestWaitMs, leftMs()))}`;
}

function isLockedError(error: unknown): boolean {
  return /locked/.test(String(error));
}

function locked(path: string, cause: unknown): Failure {
  return new Failure("ledger.locked", `Cannot use ${path}: another process has locked it.`, {
    hint: "Wait until that process ends, then run the same command again.",
    cause,
  });
}

async function opened(path: string, open: () => Database | Promise<Database>): Promise<Database> {
  try {
    return await open();
  } catch (error) {
    if (isLockedError(error)) throw locked(path, error);
    throw new Failure("ledger.unreadable", `Cannot open ${path} as a database.`, {
      hint: "Check its permissions and the free space on its disk. If the file is damaged, restore a backup with 'lenden ledger restore <file>'.",
      cause: error,
    });
  }
}

/** True for an existing file that this process cannot change, or cannot add a log to. */
function isReadOnly(path: string): boolean {
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile && !(isWritable(path) && isWritable(dirname(path)));
}

/** With the log of a process that writes it, if there is one that can be read. */
function readOnly(
  path: string,
  open: OpenEngine,
  leftMs: LeftMs,
  why = "it is read-only",
): Database {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const engine = open(path);
  try {
    engine.exec(`${waitFor(leftMs)}; ${settings}; PRAGMA query_only = ON`);
    engine.prepare("SELECT count(*) FROM sqlite_schema").all();
    return reading(path, engine, { open, why });
  } catch (error) {
    engine.close();
    if (isLockedError(error)) throw error;
    return { ...unchanging(path, open, why), readOnly: { lacksLog: (log?.size ?? 0) > 0 } };
  }
}

function unchanging(path: string, open: OpenEngine, why = "it is read-only"): Database {
  const engine = openImmutable(path, open);
  engine.exec(settings);
  return reading(path, engine, { open, why });
}

function openImmutable(path: string, open: OpenEngine): Engine {
  const url = new URL("file:///");
  url.pathname = path.replaceAll("%", "%25");
  url.search = "immutable=1";
  try {
    return open(url.href);
  } catch {
    // Node before 22.15 opens no URL. A copy that lenden wrote has no log, so it is read without one.
    return open(path);
  }
}

function reading(
  path: string,
  engine: Engine,
  { open, why }: { open: OpenEngine; why: string },
): Database {
  return {
    ...engine,
    ...locksWith(open),
    readOnly: { lacksLog: false },
    transactionCount: () => 0,
    snapshot: (work) => snapshotOn(engine, work),
    transaction: () => {
      throw new Failure("ledger.not-written", `Cannot write ${path}: ${why}.`, {
        hint: "Make the file and its directory writable, with room on the disk, then run the same command again.",
      });
    },
  };
}

function locksWith(open: OpenEngine): Pick<Database, "lock" | "isLocked"> {
  return { lock: (file) => lockFile(file, open), isLocked: (file) => isLocked(file, open) };
}

const lockedMs = 15;

/**
 * If two processes create a file at once, SQLite reports to the second one that it is locked. SQLite does not
 * wait here, as it does everywhere else.
 */
async function makeDurable(engine: Engine, leftMs: LeftMs): Promise<void> {
  const untilMs = performance.now() + longestWaitMs;
  const ownLeftMs: LeftMs = () => Math.max(0, Math.min(untilMs - performance.now(), leftMs()));
  for (;;) {
    try {
      return engine.exec(
        `${waitFor(ownLeftMs)}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`,
      );
    } catch (error) {
      const isOver = ownLeftMs() <= 0;
      if (isOver || !isLockedError(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, lockedMs));
    }
  }
}

function transactionsOn(
  engine: Engine,
  path: string,
  leftMs: LeftMs,
): Pick<Database, "transaction" | "snapshot" | "transactionCount"> {
  let isOpen = false;
  let count = 0;
  let waiting = "";
  const begin = (): void => {
    const now = waitFor(leftMs);
    if (now !== waiting) engine.exec(now);
    waiting = now;
    try {
      engine.exec("BEGIN IMMEDIATE");
    } catch (error) {
      throw isLockedError(error) ? locked(path, error) : error;
    }
  };
  return {
    transactionCount: () => count,
    snapshot: (work) => (isOpen ? work() : snapshotOn(engine, work)),
    transaction: (work) => {
      if (isOpen) return work();
      begin();
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

function snapshotOn<Result>(engine: Engine, work: () => Result): Result {
  engine.exec("BEGIN");
  try {
    const result = work();
    engine.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(engine);
    throw error;
  }
}

/** SQLite may have rolled back by itself (disk full); the first error is the one to report. */
function rollBack(engine: Engine): void {
  try {
    engine.exec("ROLLBACK");
  } catch {}
}

/**
 * Locks a file, and creates it if it is missing. Nothing is written into it. The operating system keeps the lock
 * until this process ends, however it ends.
 *
 * @returns a function that releases the lock; undefined if another process has it
 * @throws the system's or SQLite's error if the file cannot be locked
 */
function lockFile(path: string, open: OpenEngine): (() => void) | undefined {
  makePrivateFile(path);
  return tryLock(path, "BEGIN EXCLUSIVE", open);
}

/** True if a process keeps a file locked. Several processes can check at the same time. */
function isLocked(path: string, open: OpenEngine): boolean {
  const release = tryLock(path, "BEGIN; SELECT count(*) FROM sqlite_schema", open);
  release?.();
  return release === undefined;
}

/** With a journal in memory: a lock must not need room on the disk. */
function tryLock(path: string, sql: string, open: OpenEngine): (() => void) | undefined {
  const engine = open(path);
  try {
    engine.exec(`PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; ${sql}`);
    return () => engine.close();
  } catch (error) {
    engine.close();
    if (isLockedError(error)) return undefined;
    throw error;
  }
}

/**
 * SQLite would make the file readable to all users (0644), and would follow a link to another file.
 *
 * @returns a function that restores the mode of a file that turns out to be another program's
 */
function makePrivateFile(path: string): () => void {
  try {
    makeIfMissing(path);
    // The file is not opened and closed here: that would drop the locks of SQLite.
    const found = lstatSync(path);
    if (!found.isFile()) throw new Error("not a regular file");
    const mode = found.mode & 0o777;
    if (mode === 0o600) return () => {};
    chmodSync(path, 0o600);
    return () => chmodSync(path, mode);
  } catch (cause) {
    if (errorCode(cause) !== undefined)
      throw new Failure("file.unusable", `Cannot write ${path}: ${systemReason(cause)}.`, {
        hint: "Use a directory that exists, that you can write, and that has room.",
        cause,
      });
    throw new Failure("file.unusable", `Cannot use ${path} to store data.`, {
      hint: "Use a regular file that you own, not a symbolic link.",
      cause,
    });
  }
}

/** If several processes start at once, one of them creates the file. */
function makeIfMissing(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
