import type { Database } from "../sqlite/database.ts";
import { openDatabase } from "../sqlite/open.ts";

/** How a ledger is, of whichever account. */
export interface Health {
  /** What SQLite finds wrong with the file; nothing where it is whole. */
  faults: string[];
  /** Operations of which nobody knows yet whether they happened. */
  uncertainCount: number;
}

const faultsShown = 3;

/**
 * Looks through a ledger that exists, and changes nothing in it.
 *
 * @throws Failure `internal` when it is no database at all
 */
export async function checkHealth(path: string): Promise<Health> {
  const database = await openDatabase(path);
  try {
    const faults = faultsIn(database);
    return { faults, uncertainCount: faults.length > 0 ? 0 : countUncertain() };
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
