import { createHash } from "node:crypto";
import type { Database, Row } from "../sqlite/database.ts";
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

interface Head {
  at: string;
  event: Recorded;
  batch?: bigint;
}

function append(database: Database, head: Head, data: object): void {
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
