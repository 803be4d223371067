import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Failure } from "../domain/failure.ts";
import { containerLayerOf, networkFileSystemOf } from "../platform/file-system.ts";
import type { Database } from "../platform/sqlite/database.ts";
import { openDatabase } from "../platform/sqlite/open.ts";
import { type StoredHead, storedHead } from "./head.ts";

/** The state of a ledger's file. */
export type FileState =
  | { kind: "present" }
  /** No ledger, and nothing that only a run with one leaves behind. */
  | { kind: "new" }
  /** No ledger, although these files beside it show that there was one. */
  | { kind: "missing"; traces: string[] }
  /** A file without content. No version of lenden leaves one behind, not even when it is killed. */
  | { kind: "empty" };

/**
 * Finds a ledger without opening it. The ledger is created before any of its traces, so that a
 * trace without a ledger means that one was lost.
 *
 * @param head the file of its stored head, which is such a trace
 */
export function ledgerFileState(path: string, head: string): FileState {
  const size = sizeOf(path);
  if (size !== undefined) return { kind: size === 0 ? "empty" : "present" };
  const traces = [...tracesBeside(path), ...(existsSync(head) ? [head] : [])].slice(0, mostTraces);
  if (traces.length === 0) return { kind: "new" };
  // Another process may have created the ledger between the two checks.
  return sizeOf(path) === undefined ? { kind: "missing", traces } : ledgerFileState(path, head);
}

/** Why nothing can be read from such a ledger or sent; undefined if it can be used. */
export function lossOf(state: FileState, path: string): Failure | undefined {
  if (state.kind === "missing")
    return lost(`${path} is missing, but lenden was used here before (${state.traces[0]} exists)`);
  return state.kind === "empty" ? lost(`${path} is empty`) : undefined;
}

/**
 * A database without tables is as empty as a file without content.
 *
 * @throws Failure `internal`
 */
export function rejectWithoutTables(database: Database, path: string): void {
  if (!hasTables(database)) throw lost(`${path} is empty`);
}

export function hasTables(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
}

function lost(cause: string): Failure {
  return new Failure("ledger.lost", `Cannot open the ledger: ${cause}.`, {
    hint: "To restore a backup, run 'lenden ledger restore <file>'. To start a new ledger, run 'lenden ledger check --accept'. Earlier payouts could then be sent twice.",
  });
}

/**
 * A backup can still be written, to move the ledger elsewhere.
 *
 * @param mounts as in Linux's /proc/self/mountinfo
 * @throws Failure `ledger.network-file-system`
 */
export function rejectNetworkFileSystem(path: string, mounts: string): void {
  const type = networkFileSystemOf(dirname(path), mounts);
  if (type === undefined) return;
  throw new Failure(
    "ledger.network-file-system",
    `Cannot use the ledger ${path}: it is on a network file system (${type}), which can lose or mix up records.`,
    {
      hint: "Run 'lenden ledger backup <file>', set LENDEN_DATA_DIR to a local directory, then run 'lenden ledger restore <file>'. To share a ledger between machines, see 'lenden ledger init --help'.",
    },
  );
}

/** Why production sends nothing with a file: it is lost with its container. Undefined for a file that is kept. */
export function notPersistent(path: string, mounts: string): Failure | undefined {
  const type = containerLayerOf(dirname(path), mounts);
  if (type === undefined) return undefined;
  return new Failure(
    "ledger.not-persistent",
    `The ledger ${path} is on a container's own layer (${type}), and is lost with the container.`,
    {
      hint: "Set LENDEN_DATA_DIR to a directory on a volume or a bind mount, or use PostgreSQL ('lenden ledger init --help'). To keep the operations of this file, run 'lenden ledger backup <file>' before, and 'lenden ledger restore <file>' after.",
    },
  );
}

/** Undefined if there is no file; not zero for a directory or a link, which are rejected later. */
function sizeOf(path: string): number | undefined {
  if (!existsSync(dirname(path))) return undefined;
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === false ? Number.NaN : found?.size;
}

const mostTraces = 3;

/** Files that only a run with a ledger leaves: process locks, the method cache, SQLite's own files, copies. */
function tracesBeside(path: string): string[] {
  const name = basename(path);
  const draft = new RegExp(`^${name}\\.[0-9A-Z]{26}\\.new`); // see createLedger
  return namesIn(dirname(path)).filter(
    (one) =>
      one === "processes" ||
      /^methods-[0-9a-f]{24}\.json$/.test(one) ||
      /^ledger.*(?:backup|\.bak)/.test(one) ||
      (one.startsWith(name) && !draft.test(one)),
  );
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** The health of a ledger, of all accounts. */
export interface Health {
  /** The faults that SQLite finds in the file. */
  faults: string[];
  /** The number of operations whose outcome is unknown. */
  uncertainCount: number;
  /** True if the ledger contains its stored head. */
  containsHead: boolean;
  /** True if `ledger check` found modified rows that no user accepted. */
  isModified: boolean;
  /** The size of its file, in bytes. */
  bytes: number;
}

const faultsShown = 3;

/**
 * Checks a ledger without changing it; undefined if there is none yet.
 *
 * @throws Failure `internal` if it was lost, is not a database, or is on a network file system
 */
export async function checkHealth(
  path: string,
  head: string,
  { mounts, leftMs }: { mounts: string; leftMs(): number },
): Promise<Health | undefined> {
  rejectNetworkFileSystem(path, mounts);
  const state = ledgerFileState(path, head);
  const loss = lossOf(state, path);
  if (loss) throw loss;
  if (state.kind === "new") return undefined;
  const database = await openDatabase(path, leftMs);
  try {
    rejectWithoutTables(database, path);
    const faults = faultsIn(database);
    const { size: bytes } = statSync(path);
    // A damaged file is not read further.
    const { state, isModified } = faults.length > 0 ? noHead : storedHead(database, head);
    const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'operations'").get();
    const count = "SELECT count(*) AS count FROM operations WHERE state IN ('INTENT', 'UNCERTAIN')";
    const counted = faults.length === 0 && has ? database.prepare(count).get() : undefined;
    const uncertainCount = Number(counted?.count ?? 0n);
    return { faults, bytes, isModified, uncertainCount, containsHead: state !== "not-contained" };
  } finally {
    database.close();
  }
}

const noHead: StoredHead = { state: "missing", isModified: false };

/** The faults that SQLite finds in the file, also an index without some rows, which the quick check passes. */
export function faultsIn(database: Database): string[] {
  return database
    .prepare(`PRAGMA integrity_check(${faultsShown})`)
    .all()
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");
}
