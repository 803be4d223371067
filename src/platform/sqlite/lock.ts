import type { OpenEngine } from "./engines.ts";
import { makePrivateFile } from "./private-file.ts";

/**
 * Locks a file, which is made where it is missing; nothing is ever written into it. The operating
 * system keeps the lock for this process until it ends, however it ends.
 *
 * @returns what lets go of it; undefined where another process has it
 * @throws the system's or SQLite's error where it cannot be locked at all
 */
export function lockFile(path: string, open: OpenEngine): (() => void) | undefined {
  makePrivateFile(path);
  return asked(path, "BEGIN EXCLUSIVE", open);
}

/** Whether a process keeps a file locked. Many may ask at once, and do not see each other. */
export function isLocked(path: string, open: OpenEngine): boolean {
  const letGo = asked(path, "BEGIN; SELECT count(*) FROM sqlite_schema", open);
  letGo?.();
  return letGo === undefined;
}

/** With a journal in memory: a lock must not need room on the disk. */
function asked(path: string, sql: string, open: OpenEngine): (() => void) | undefined {
  const engine = open(path);
  try {
    engine.exec(`PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; ${sql}`);
    return () => engine.close();
  } catch (error) {
    engine.close();
    if (/locked/.test(String(error))) return undefined;
    throw error;
  }
}
