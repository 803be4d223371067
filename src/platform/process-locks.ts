import { existsSync, lstatSync, readdirSync, rmSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { ulid } from "ulid";
import { errorCode, systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { isOwnFile, makeDirectory } from "./files.ts";
import { userNumber } from "./host.ts";
import type { Database } from "./sqlite/database.ts";

/**
 * Shows processes that share a ledger whether another one still runs. Each keeps a file locked, and the operating
 * system releases that lock when the process ends, however it ends. Process IDs say nothing
 * across containers, which may share a ledger.
 */
export interface ProcessLock {
  /**
   * The name of this process's lock, which is taken at the first call.
   *
   * @throws Failure `internal` if it cannot be taken, or if its file or the ledger was removed
   */
  take(): string;
  /** @throws Failure `internal` if the file of the lock, if there is one, or the ledger was removed */
  assertHeld(): void;
  /** False only for a lock that is certainly free: its process has ended. */
  isAlive(lock: string): boolean;
  /** Never throws: a later run removes a file that stays. */
  release(): void;
}

interface LockOptions {
  /** The locks are in a directory beside it. */
  ledger: string;
  now: () => number;
}

type Locking = Pick<Database, "lock" | "isLocked">;

/** For a ledger in memory, which no other process can see. */
export const alone: ProcessLock = {
  take: () => "ALONE",
  assertHeld: () => {},
  isAlive: () => true,
  release: () => {},
};

export function createProcessLock(locking: Locking, { ledger, now }: LockOptions): ProcessLock {
  const directory = lockDirectory(ledger);
  const assertLedger = watchFile(ledger, now, () => replaced(ledger));
  const ended = new Set<string>();
  let own: { name: string; unlock: () => void; assertHeld: () => void } | undefined;

  return {
    take: () => {
      assertLedger();
      own ??= takeLock(directory, locking, now);
      own.assertHeld();
      return own.name;
    },
    assertHeld: () => {
      assertLedger();
      own?.assertHeld();
    },
    isAlive: (name) => {
      if (name === own?.name) return true;
      if (ended.has(name)) return false;
      if (!isLockName(name) || mayBeHeld(join(directory, name), locking)) return true;
      remove(join(directory, name));
      ended.add(name);
      return false;
    },
    release: () => {
      own?.unlock();
      if (own) remove(join(directory, own.name));
      own = undefined;
    },
  };
}

/** True if a process may work on the ledger, this one included. */
export function isInUse(ledger: string, locking: Locking): boolean {
  const directory = lockDirectory(ledger);
  const names = existsSync(directory) ? readdirSync(directory).filter(isLockName) : [];
  return names.some((name) => mayBeHeld(join(directory, name), locking));
}

function lockDirectory(ledger: string): string {
  return join(dirname(ledger), "processes");
}

/** A ULID. A file of any other name is not a lock. */
function isLockName(name: string): boolean {
  return /^[0-9A-HJKMNP-TV-Z]{26}$/.test(name);
}

function takeLock(directory: string, locking: Locking, now: () => number) {
  try {
    makeDirectory(directory, 0o700);
    removeAbandoned(directory, locking, now());
    const name = ulid(now());
    const path = join(directory, name);
    const unlock = locking.lock(path);
    if (!unlock) throw new Error("another process has locked a file of a new name");
    return { name, unlock, assertHeld: watchFile(path, now, () => removed(path)) };
  } catch (cause) {
    throw notLocked(directory, cause);
  }
}

/** Another process may have created a younger file, and not have locked it yet. */
const minAbandonedMs = 60 * 60_000;
/** Other processes wait for the ledger meanwhile. */
const maxRemovedPerRun = 100;

function removeAbandoned(directory: string, locking: Locking, nowMs: number): void {
  readdirSync(directory)
    .filter(isLockName)
    .map((name) => join(directory, name))
    .filter((path) => (statusOf(path)?.mtimeMs ?? nowMs) < nowMs - minAbandonedMs)
    .slice(0, maxRemovedPerRun)
    .filter((path) => !mayBeHeld(path, locking))
    .forEach(remove);
}

function mayBeHeld(path: string, { isLocked }: Locking): boolean {
  try {
    const found = statusOf(path);
    return found !== undefined && (!found.isFile() || isLocked(path));
  } catch {
    return true;
  }
}

function remove(path: string): void {
  try {
    if (isOwnFile(path, userNumber())) rmSync(path, { force: true });
  } catch {}
}

/** Undefined only if the file certainly does not exist. */
function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** A check of a file has a cost, and a batch checks before each row. */
const trustedMs = 50;

/**
 * Watches a file that this process has open and that others find by its name: after it was removed or
 * replaced, they do not see what this process does.
 *
 * @returns throws `lost` if the file of this name is not the one that it was
 */
function watchFile(path: string, now: () => number, lost: () => Failure): () => void {
  const first = statusOf(path)?.ino;
  let checkedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = now();
    if (Math.abs(nowMs - checkedMs) < trustedMs) return;
    if (first === undefined || statusOf(path)?.ino !== first) throw lost();
    checkedMs = nowMs;
  };
}

function notLocked(directory: string, cause: unknown): Failure {
  const message = `Cannot lock a file in ${directory}: ${systemReason(cause)}.`;
  return new Failure("ledger.no-lock", message, {
    hint: "Check the free space on the disk, the permissions of the directory, and that its file system supports file locks.",
    cause,
  });
}

function removed(path: string): Failure {
  return new Failure(
    "lock.removed",
    `The lock file ${path} was removed while this process was running.`,
    {
      hint: "Run the same command again, and do not remove files from that directory.",
    },
  );
}

/** No later run would find what is recorded from now on. */
function replaced(path: string): Failure {
  return new Failure("ledger.replaced", `${path} was removed or replaced while it was in use.`, {
    hint: "Restore the file before you send anything: without the ledger, payouts could be sent twice.",
  });
}
