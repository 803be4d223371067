import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ulid } from "ulid";
import { makeFolder } from "../make-folder.ts";
import type { Database } from "../sqlite/database.ts";

/**
 * How processes that share a ledger tell whether another one of them still runs: each keeps a file
 * locked, and the operating system lets go of it when the process is gone, however it ended. Numbers
 * and names of processes tell nothing across containers, where the same ledger may be.
 */
export interface Presence {
  /** The name of this process's own lock, taken when it is first asked for. */
  own(): string;
  isAlive(lock: string): boolean;
  end(): void;
}

interface Lock {
  name: string;
  letGo(): void;
}

const isName = /^[0-9A-Z]+$/;
/** Younger than that, another process may have made a file and not have locked it yet. */
const settledMs = 60 * 60_000;

/** @param folder of the files; it is made where it is missing */
export function openPresence(database: Database, folder: string, now: () => number): Presence {
  const gone = new Set<string>();
  let own: Lock | undefined;
  const pathOf = (name: string): string => join(folder, name);

  function take(): Lock {
    makeFolder(folder, 0o700);
    for (const left of readdirSync(folder)) if (isSettled(left)) isGone(left);
    const name = ulid(now());
    const letGo = database.lock(pathOf(name));
    if (letGo) return { name, letGo };
    throw new Error("a lock of a new name is taken");
  }

  function isSettled(name: string): boolean {
    const found = statSync(pathOf(name), { throwIfNoEntry: false });
    return isName.test(name) && found !== undefined && found.mtimeMs < now() - settledMs;
  }

  /** What nobody keeps locked was left by a process that was killed, and is taken away. */
  function isGone(name: string): boolean {
    if (!existsSync(pathOf(name))) return true;
    const letGo = database.lock(pathOf(name));
    if (!letGo) return false;
    letGo();
    rmSync(pathOf(name), { force: true });
    return true;
  }

  return {
    own: () => {
      own ??= take();
      return own.name;
    },
    isAlive: (name) => {
      if (name === own?.name) return true;
      if (gone.has(name)) return false;
      // Of a name that lenden does not make nothing can be told: it is respected.
      if (!isName.test(name) || !isGone(name)) return true;
      gone.add(name);
      return false;
    },
    end: () => {
      if (!own) return;
      own.letGo();
      rmSync(pathOf(own.name), { force: true });
      own = undefined;
    },
  };
}

/** Of a ledger that no other process can see. */
export const alone: Presence = { own: () => "ALONE", isAlive: () => true, end: () => {} };
