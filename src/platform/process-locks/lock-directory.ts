import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ulid } from "ulid";
import { errorCode } from "../../domain/error-code.ts";
import { makeFolder } from "../make-directory.ts";
import { isOwnFile } from "../own-file.ts";
import type { Database } from "../sqlite/database.ts";

/** The folder in which every process of a ledger keeps a file locked. */
export interface LockFolder {
  pathOf(name: string): string;
  /**
   * Makes a file with a new name and locks it; it clears away what dead processes left.
   *
   * @throws where the folder or the file cannot be made, or not be locked
   */
  take(now: () => number): TakenLock;
  /** Whether somebody may hold it: also where it cannot be looked at. */
  mayBeHeld(name: string): boolean;
  /** The locks that some process may hold; of this one too, if it took one. */
  held(): string[];
  /** Never fails: a file that stays is taken away by a later run. */
  remove(name: string): void;
}

export interface TakenLock {
  name: string;
  letGo(): void;
}

/** A ULID, as `take` makes them: of any other name nothing can be told. */
export const isLockName = (name: string): boolean => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(name);

/** Younger than that, another process may have made a file and not have locked it yet. */
const settledMs = 60 * 60_000;
/** So many a run: others wait for the ledger meanwhile. */
const mostTakenAway = 100;

export function openLockFolder(
  folder: string,
  { lock, isLocked }: Pick<Database, "lock" | "isLocked">,
): LockFolder {
  const pathOf = (name: string): string => join(folder, name);

  /** Undefined only where there is certainly none. */
  function found(name: string) {
    try {
      return lstatSync(pathOf(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  function mayBeHeld(name: string): boolean {
    try {
      const file = found(name);
      return file !== undefined && (!file.isFile() || isLocked(pathOf(name)));
    } catch {
      return true;
    }
  }

  function remove(name: string): void {
    try {
      if (isOwnFile(pathOf(name))) rmSync(pathOf(name), { force: true });
    } catch {}
  }

  function removeOld(nowMs: number): void {
    const isOld = (name: string): boolean => {
      const changedMs = found(name)?.mtimeMs;
      return changedMs !== undefined && changedMs < nowMs - settledMs;
    };
    const old = readdirSync(folder).filter((name) => isLockName(name) && isOld(name));
    for (const name of old.slice(0, mostTakenAway)) if (!mayBeHeld(name)) remove(name);
  }

  return {
    pathOf,
    take: (now) => {
      makeFolder(folder, 0o700);
      removeOld(now());
      const name = ulid(now());
      const letGo = lock(pathOf(name));
      if (!letGo) throw new Error("another process has locked a file of a new name");
      return { name, letGo };
    },
    mayBeHeld,
    held: () =>
      existsSync(folder) ? readdirSync(folder).filter(isLockName).filter(mayBeHeld) : [],
    remove,
  };
}
