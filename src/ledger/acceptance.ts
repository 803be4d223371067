import type { Database } from "../sqlite/database.ts";
import { openChain } from "./chain.ts";
import type { Head } from "./head.ts";

/** That a user accepted the ledger as it is, although an earlier one knew more. */
export interface Acceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** What was wrong: "missing", "empty", "truncated", "replaced" or "modified". */
  state: string;
  /** Of a modified ledger: the digest of what was found in it. */
  findings?: string;
  /** The event that it did not contain, if one was stored. */
  stored?: Head;
}

/** Inside a transaction. */
export function recordAcceptance(
  database: Database,
  { at, user, state, findings, stored }: Acceptance,
): void {
  const data = JSON.stringify({
    user,
    state,
    ...(findings === undefined ? {} : { findings }),
    ...(stored ? { stored: { number: String(stored.number), hash: stored.hash } } : {}),
  });
  openChain(database).append({ operation: null, at, event: "accepted", data });
}

/** The newest acceptance; null in a ledger that never needed one. */
export function lastAcceptance(database: Database): Acceptance | null {
  const row = database
    .prepare(
      `SELECT at, data ->> 'user' AS user, data ->> 'state' AS state, data ->> 'findings' AS findings
       FROM events WHERE operation IS NULL AND event = 'accepted' ORDER BY number DESC LIMIT 1`,
    )
    .get();
  if (!row) return null;
  const { at, user, state, findings } = row;
  const found = findings === null ? {} : { findings: String(findings) };
  return { at: String(at), user: String(user), state: String(state), ...found };
}
