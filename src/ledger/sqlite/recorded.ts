import { createHash } from "node:crypto";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import type { Head } from "../head.ts";
import { openChain, textOrNull } from "./chain.ts";

/**
 * Accounts, their keys and batch plans do not change after they were created. The chain has an event with the
 * whole row of each, so that `ledger check` detects a change of any column.
 */
type Recorded = "account" | "key" | "plan";

/** Inside the transaction that creates the account. */
export function recordAccount(database: Database, number: bigint, at: string): void {
  const row = database.prepare("SELECT * FROM accounts WHERE number = ?").get(number);
  if (!row) throw new Error("the ledger lost an account that it just had");
  append(database, { at, event: "account" }, { row: immutableColumns(row) });
}

/** Inside the transaction that stores the key of an account. */
export function recordKey(
  database: Database,
  { environment, keyHash, at }: { environment: string; keyHash: string; at: string },
): void {
  const row = database
    .prepare("SELECT * FROM account_keys WHERE environment = ? AND key_hash = ?")
    .get(environment, keyHash);
  if (!row) throw new Error("the ledger lost a key that it just had");
  append(database, { at, event: "key" }, { row: immutableColumns(row) });
}

/** Inside the transaction that makes the plan count. */
export function recordPlan(database: Database, number: bigint, at: string): void {
  const row = database.prepare("SELECT * FROM batches WHERE number = ?").get(number);
  if (!row) throw new Error("the ledger lost a batch that it just had");
  const rows = digestOfRows(database, number);
  append(database, { at, event: "plan", batch: number }, { row: immutableColumns(row), rows });
}

interface EventHead {
  at: string;
  event: Recorded;
  batch?: bigint;
}

function append(database: Database, head: EventHead, data: object): void {
  openChain(database).append({ operation: null, ...head, data: JSON.stringify(data) });
}

/** All columns of a row as text, but for the process that works on it. */
export function immutableColumns({ holder: _, ...columns }: Row): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, textOrNull(value)]),
  );
}

const rowsPerPage = 500;

/** Covers every column of every row of a plan. A new column of the table needs a new kind of event. */
export function digestOfRows(database: Database, batch: bigint): string {
  const hash = createHash("sha256");
  const page = database.prepare(
    `SELECT row, line, reference, amount_paisa, recipient, method_id, method, name, description,
       cells, fingerprint, accepted, recipient_key
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${rowsPerPage}`,
  );
  for (let after = -(2n ** 63n); ; ) {
    const rows = page.all(batch, after);
    for (const row of rows) hash.update(JSON.stringify(Object.values(row).map(textOrNull)));
    if (rows.length < rowsPerPage) return hash.digest("hex");
    after = BigInt(rows.at(-1)?.row ?? 0n);
  }
}

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
