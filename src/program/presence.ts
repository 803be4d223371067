import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ulid } from "ulid";
import { errorCode } from "../error-code.ts";
import { Failure } from "../failure.ts";
import { makeFolder } from "../make-folder.ts";
import type { Database } from "../sqlite/database.ts";

/**
 * How processes that share a ledger tell whether another one of them still runs: each keeps a file
 * locked, and the operating system lets go of it when the process is gone, however it ended. Numbers
 * and names of processes tell nothing across containers, where the same ledger may be.
 */
export interface Presence {
  /**
   * The name of this process's own lock, taken when it is first asked for.
   *
   * @throws Failure `internal` where it cannot be taken, or somebody took its file away
   */
  own(): string;
  /**
   * What is done on the strength of the lock needs it to be there still; where none was taken, nothing
   * is.
   *
   * @throws Failure `internal` where somebody took its file away
   */
  assertSeen(): void;
  /** Whether its process may still run: of what cannot be looked at nobody can tell that it is gone. */
  isAlive(lock: string): boolean;
  /** Never fails: what was done is done, and a file that stays is taken away by a later run. */
  end(): void;
}

interface PresenceOptions {
  /** Of the files; it is made where it is missing. */
  folder: string;
  now: () => number;
  /** The lock that this process has already, in another thread, which lets go of it. */
  taken?: string | undefined;
}

interface Lock {
  name: string;
  /** Which file it was: another one of its name shows nobody anything. */
  inode: number | undefined;
  letGo(): void;
}

const isName = /^[0-9A-Z]+$/;
/** Younger than that, another process may have made a file and not have locked it yet. */
const settledMs = 60 * 60_000;
/** A look at the file costs little, and not nothing: a batch asks for each row. */
const seenForMs = 50;
/** So many a run: others wait for the ledger meanwhile. */
const mostTakenAway = 100;

export function openPresence(
  { lock, isLocked }: Pick<Database, "lock" | "isLocked">,
  { folder, now, taken }: PresenceOptions,
): Presence {
  const gone = new Set<string>();
  const pathOf = (name: string): string => join(folder, name);
  let own: Lock | undefined =
    taken === undefined ? undefined : { name: taken, inode: found(taken)?.ino, letGo: () => {} };
  let seenAtMs = Number.NEGATIVE_INFINITY;

  function take(): Lock {
    try {
      makeFolder(folder, 0o700);
      takeOldAway();
      const name = ulid(now());
      const letGo = lock(pathOf(name));
      if (letGo) return { name, inode: found(name)?.ino, letGo };
      throw new Error("another process has locked a file of a new name");
    } catch (cause) {
      throw notTaken(folder, cause);
    }
  }

  function takeOldAway(): void {
    const old = readdirSync(folder).filter((name) => isName.test(name) && isSettled(name));
    for (const name of old.slice(0, mostTakenAway)) if (!mayBeAlive(name)) takeAway(name);
  }

  function isSettled(name: string): boolean {
    const changedMs = found(name)?.mtimeMs;
    return changedMs !== undefined && changedMs < now() - settledMs;
  }

  /** Undefined only where there is certainly none. */
  function found(name: string) {
    try {
      return lstatSync(pathOf(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  function mayBeAlive(name: string): boolean {
    try {
      const file = found(name);
      return file !== undefined && (!file.isFile() || isLocked(pathOf(name)));
    } catch {
      return true;
    }
  }

  function assertSeen(): void {
    const nowMs = now();
    if (!own || Math.abs(nowMs - seenAtMs) < seenForMs) return;
    const inode = found(own.name)?.ino;
    if (inode === undefined || inode !== own.inode) throw takenAway(pathOf(own.name));
    seenAtMs = nowMs;
  }

  function takeAway(name: string): void {
    try {
      rmSync(pathOf(name), { force: true });
    } catch {}
  }

  return {
    own: () => {
      own ??= take();
      assertSeen();
      return own.name;
    },
    assertSeen,
    isAlive: (name) => {
      if (name === own?.name) return true;
      if (gone.has(name)) return false;
      // Of a name that lenden does not make nothing can be told.
      if (!isName.test(name) || mayBeAlive(name)) return true;
      takeAway(name);
      gone.add(name);
      return false;
    },
    end: () => {
      if (!own || taken !== undefined) return;
      own.letGo();
      takeAway(own.name);
      own = undefined;
    },
  };
}

function notTaken(folder: string, cause: unknown): Failure {
  const code = errorCode(cause);
  return new Failure(
    "internal",
    `In ${folder} no file can be locked${code === undefined ? "" : ` (${code})`}; nothing was sent.`,
    {
      hint: "Other processes would not see that this one works. Is there room on the disk, may the folder be written, and can its file system lock files?",
      cause,
    },
  );
}

function takenAway(path: string): Failure {
  return new Failure(
    "internal",
    `Somebody took away ${path}, which shows others that this process works.`,
    {
      hint: "Nothing further is sent. Leave the files of that folder alone, and run the same command again.",
    },
  );
}

/** Of a ledger that no other process can see. */
export const alone: Presence = {
  own: () => "ALONE",
  assertSeen: () => {},
  isAlive: () => true,
  end: () => {},
};
