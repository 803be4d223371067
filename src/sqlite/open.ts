import { Failure } from "../failure.ts";
import type { Database, Engine } from "./database.ts";
import { loadEngine } from "./engines.ts";
import { isLocked, lockFile } from "./lock.ts";
import { makePrivateFile } from "./private-file.ts";

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
    return {
      ...engine,
      ...transactionsOn(engine),
      lock: (file) => lockFile(file, open),
      isLocked: (file) => isLocked(file, open),
    };
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

function transactionsOn(engine: Engine): Pick<Database, "transaction" | "transactionCount"> {
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
