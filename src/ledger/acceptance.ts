import type { Database } from "../sqlite/database.ts";

/** That a user accepted a new ledger in place of a lost one. */
export interface Acceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** What there was in its place: "missing" or "empty". */
  state: string;
}

/** A table that only such a ledger has: the history's events belong to operations. */
export function recordAcceptance(database: Database, { at, user, state }: Acceptance): void {
  database.exec(
    "CREATE TABLE IF NOT EXISTS accepted_new_ledger (at TEXT NOT NULL, user TEXT NOT NULL, state TEXT NOT NULL) STRICT",
  );
  database.prepare("INSERT INTO accepted_new_ledger VALUES (?, ?, ?)").run(at, user, state);
}

/** The newest acceptance; null in a ledger that never needed one. */
export function lastAcceptance(database: Database): Acceptance | null {
  const table = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'accepted_new_ledger'")
    .get();
  const row =
    table &&
    database.prepare("SELECT * FROM accepted_new_ledger ORDER BY rowid DESC LIMIT 1").get();
  return row ? { at: String(row.at), user: String(row.user), state: String(row.state) } : null;
}
