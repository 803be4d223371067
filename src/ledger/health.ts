import { statSync } from "node:fs";
import type { Database } from "../sqlite/database.ts";
import { openDatabase } from "../sqlite/open.ts";
import { ledgerFileState, lossOf, rejectWithoutTables } from "./file-state.ts";
import { containsHead, readHead } from "./head.ts";

/** How a ledger is, of whichever account. */
export interface Health {
  /** What SQLite finds wrong with the file; nothing where it is whole. */
  faults: string[];
  /** Operations of which nobody knows yet whether they happened. */
  uncertainCount: number;
  /** Whether the newest event that was stored outside of it is in it. */
  containsHead: boolean;
  /** Whether `ledger check` found modified rows that no user accepted. */
  isModified: boolean;
  /** The size of its file, in bytes. */
  bytes: number;
}

const faultsShown = 3;

/**
 * Looks through a ledger, and changes nothing in it; undefined if there has been none so far.
 *
 * @throws Failure `internal` when it was lost, or is no database at all
 */
export async function checkHealth(path: string, head: string): Promise<Health | undefined> {
  const state = ledgerFileState(path, head);
  const loss = lossOf(state, path);
  if (loss) throw loss;
  if (state.kind === "new") return undefined;
  const database = await openDatabase(path);
  try {
    rejectWithoutTables(database, path);
    const faults = faultsIn(database);
    const { size: bytes } = statSync(path);
    const stored = readHead(head);
    const isModified = stored.kind === "head" && stored.isModified;
    const seen = { faults, isModified, bytes };
    if (faults.length > 0) return { ...seen, uncertainCount: 0, containsHead: true };
    const isContained = stored.kind !== "head" || containsHead(database, stored.head);
    return { ...seen, uncertainCount: countUncertain(), containsHead: isContained };
  } finally {
    database.close();
  }

  function countUncertain(): number {
    const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'operations'").get();
    if (!has) return 0;
    const found = database
      .prepare("SELECT count(*) AS count FROM operations WHERE state IN ('INTENT', 'UNCERTAIN')")
      .get();
    return Number(found?.count ?? 0n);
  }
}

/** What SQLite finds wrong with the file: also an index that lacks rows, which the quick check passes. */
export function faultsIn(database: Database): string[] {
  return database
    .prepare(`PRAGMA integrity_check(${faultsShown})`)
    .all()
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");
}
