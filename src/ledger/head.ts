import { hash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure } from "../domain/failure.ts";
import type { Database, Row } from "../platform/sqlite/database.ts";
import {
  type Accepted,
  type Head,
  type PositionFolders,
  positionFile,
  readHead,
  writeHead,
} from "./position.ts";
import type { ServerIdentity } from "./server-identity.ts";

/**
 * The head that is stored outside the ledger, compared with the ledger. Not contained: the ledger was
 * truncated, rolled back or replaced since the head was stored. On another server: it contains the head, and is
 * where it was not before. An unreadable file is torn or not from lenden, and proves nothing.
 */
export type StoredHead = {
  /** True if `ledger check` found modified rows that no user accepted. */
  isModified: boolean;
  accepted?: Accepted | undefined;
  server?: ServerIdentity;
  isUsed?: boolean;
} & (
  | { state: "contained" | "not-contained" | "other-server"; head: Head }
  | { state: "missing" | "unreadable"; head?: undefined }
);

/** The ledger file of a data directory. */
export function ledgerPath(folder: string): string {
  return join(folder, "ledger.db");
}

/** The file of a ledger's head. Several ledgers may share a directory. */
export function headPath(folders: PositionFolders, ledger: string): string {
  return serverHeadPath(folders, join(realFolder(dirname(ledger)), basename(ledger)));
}

/**
 * A file beside a restored ledger, until a person accepts the ledger. It is not in the config directory: a run with
 * another one, or one that cannot be written, must not send either.
 */
export function restoredPath(ledger: string): string {
  return `${ledger}.restored`;
}

/** @throws SQLite's error if the ledger cannot be read */
export function storedHead(database: Database, path: string): StoredHead {
  const read = readHead(path);
  const [main] = database
    .prepare("SELECT file FROM pragma_database_list WHERE name = 'main'")
    .all();
  if (existsSync(restoredPath(String(main?.file)))) {
    const number = (headOf(database)?.number ?? 0n) + 1n;
    return { state: "not-contained", head: { number, hash: "restored" }, isModified: false };
  }
  if (typeof read === "string") return { state: read, isModified: false };
  const event = database.prepare("SELECT hash FROM events WHERE number = ?").get(read.head.number);
  return { ...read, state: event?.hash === read.head.hash ? "contained" : "not-contained" };
}

/** The head of a ledger on a server. */
export function serverHeadPath(folders: PositionFolders, ledger: string): string {
  return positionFile(folders, `ledger-head-${hash("sha256", ledger).slice(0, 24)}.json`);
}

/** The newest event of a ledger; undefined if it has none. */
export function headOf(database: Database): Head | undefined {
  return headIn(database.prepare(selectHead).get());
}

export const selectHead = "SELECT number, hash FROM events ORDER BY number DESC LIMIT 1";

export function headIn(row: Row | undefined): Head | undefined {
  return row && { number: BigInt(row.number ?? 0n), hash: String(row.hash) };
}

/**
 * Stores the head of a ledger after its commits, at most once a second. The file never loses what it
 * proves: a ledger that does not contain it leaves it as it is, until a person accepts the ledger.
 */
export function createHeadKeeper(database: Database, path: string, now: () => number) {
  // The first event of a run is stored at once: a kill may follow.
  let storedAtMs = Number.NEGATIVE_INFINITY;
  const store = (): void => {
    try {
      const head = headOf(database);
      const stored = storedHead(database, path);
      const isOlder = (stored.head?.number ?? 0n) < (head?.number ?? 0n);
      if (!head || stored.state === "not-contained" || !isOlder) return;
      storedAtMs = now();
      writeHead(path, head, stored);
    } catch {
      // The next run stores it: the ledger may be ahead of its head.
    }
  };
  return {
    store,
    committed: (): void => {
      if (Math.abs(now() - storedAtMs) >= storedEveryMs) store();
    },
    /** Why nothing may be sent: the ledger does not contain its head, or `ledger check` found it modified. */
    unaccepted: (): Failure | undefined => {
      const { state, isModified } = storedHead(database, path);
      if (state === "not-contained") return notContained();
      return isModified ? modified() : undefined;
    },
    /** What a person accepted on this machine. */
    accepted: (): Accepted | undefined => {
      const read = readHead(path);
      return typeof read === "string" ? undefined : read.accepted;
    },
    /** Why a truncated ledger would not be detected now. */
    warning: (): string | undefined => {
      const { state } = storedHead(database, path);
      const isLost = state === "unreadable" || (state === "missing" && headOf(database));
      return isLost
        ? `${path} is ${state}, so lenden cannot check if the ledger was truncated or replaced. If you did not delete that file, run 'lenden ledger audit'.`
        : undefined;
    },
  };
}

/** The head is stored at most so often, in milliseconds. */
export const storedEveryMs = 1_000;

/** A database that calls `committed` after each commit. */
export function withCommitCallback(database: Database, committed: () => void): Database {
  let depth = 0;
  return {
    ...database,
    transaction: (work) => {
      depth += 1;
      try {
        return database.transaction(work);
      } finally {
        depth -= 1;
        if (depth === 0) committed();
      }
    },
  };
}

function notContained(): Failure {
  return new Failure(
    "ledger.truncated",
    "The ledger was truncated, rolled back or replaced since lenden last wrote it.",
    {
      hint: "To restore a backup, run 'lenden ledger restore <file>'. To use the ledger as it is, run 'lenden ledger check --accept'. Payouts that it does not have could then be sent twice.",
    },
  );
}

export function modified(): Failure {
  return new Failure(
    "ledger.modified",
    "The ledger was modified: 'lenden ledger check' shows what.",
    {
      hint: "To restore a backup, run 'lenden ledger restore <file>'. To use the ledger as it is, run 'lenden ledger check --accept'. Payouts could then be sent twice.",
    },
  );
}

/** A directory has one real path, whichever links lead to it. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
