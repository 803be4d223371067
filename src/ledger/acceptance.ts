import type { Database } from "../sqlite/database.ts";
import { openChain } from "./chain.ts";

/** That a user accepted the ledger as it is, although an earlier one knew more. */
export interface Acceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** What was wrong: "missing", "empty", … */
  state: string;
}

/** Inside a transaction. */
export function recordAcceptance(database: Database, { at, user, state }: Acceptance): void {
  const data = JSON.stringify({ user, state });
  openChain(database).append([{ operation: null, at, event: "accepted", data }]);
}

/** The newest acceptance; null in a ledger that never needed one. */
export function lastAcceptance(database: Database): Acceptance | null {
  const row = database
    .prepare(
      `SELECT at, data ->> 'user' AS user, data ->> 'state' AS state FROM events
       WHERE operation IS NULL AND event = 'accepted' ORDER BY number DESC LIMIT 1`,
    )
    .get();
  return row ? { at: String(row.at), user: String(row.user), state: String(row.state) } : null;
}
