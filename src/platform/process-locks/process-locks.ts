import { dirname, join } from "node:path";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import type { Database } from "../sqlite/database.ts";
import { isLockName, openLockFolder, type TakenLock } from "./lock-directory.ts";
import { watchSameFile } from "./same-file.ts";

/**
 * How processes that share a ledger tell whether another one of them still runs: each keeps a file
 * locked, and the operating system lets go of it when the process is gone, however it ended. Numbers
 * and names of processes tell nothing across containers, where the same ledger may be.
 */
export interface Presence {
  /**
   * The name of this process's own lock, taken when it is first asked for.
   *
   * @throws Failure `internal` where it cannot be taken, or somebody took its file away, or the ledger's
   */
  own(): string;
  /**
   * What is done on the strength of the lock needs it to be there still, if one was taken, and the ledger
   * too.
   *
   * @throws Failure `internal` where somebody took either file away
   */
  assertSeen(): void;
  /** Whether its process may still run: of what cannot be looked at nobody can tell that it is gone. */
  isAlive(lock: string): boolean;
  /** Never fails: what was done is done, and a file that stays is taken away by a later run. */
  end(): void;
}

interface PresenceOptions {
  /** The file that they share; the locks lie beside it. */
  ledger: string;
  now: () => number;
}

interface OwnLock extends TakenLock {
  assertSeen(): void;
}

export function openPresence(
  database: Pick<Database, "lock" | "isLocked">,
  { ledger, now }: PresenceOptions,
): Presence {
  const folder = join(dirname(ledger), "processes");
  const locks = openLockFolder(folder, database);
  const assertLedger = watchSameFile(ledger, { now, lost: () => replaced(ledger) });
  const gone = new Set<string>();
  const seen = (lock: TakenLock): OwnLock => {
    const path = locks.pathOf(lock.name);
    return { ...lock, assertSeen: watchSameFile(path, { now, lost: () => takenAway(path) }) };
  };
  let own: OwnLock | undefined;

  function take(): OwnLock {
    try {
      return seen(locks.take(now));
    } catch (cause) {
      throw notTaken(folder, cause);
    }
  }

  return {
    own: () => {
      assertLedger();
      own ??= take();
      own.assertSeen();
      return own.name;
    },
    assertSeen: () => {
      assertLedger();
      own?.assertSeen();
    },
    isAlive: (name) => {
      if (name === own?.name) return true;
      if (gone.has(name)) return false;
      if (!isLockName(name) || locks.mayBeHeld(name)) return true;
      locks.remove(name);
      gone.add(name);
      return false;
    },
    end: () => {
      if (!own) return;
      own.letGo();
      locks.remove(own.name);
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

/** What is written from now on would be in a file that no later run finds. */
function replaced(path: string): Failure {
  return new Failure("internal", `Somebody took away or replaced ${path} while it was in use.`, {
    hint: "Put it back before anything is sent again: what it knows could be paid twice.",
  });
}

/** Of a ledger that no other process can see. */
export const alone: Presence = {
  own: () => "ALONE",
  assertSeen: () => {},
  isAlive: () => true,
  end: () => {},
};
