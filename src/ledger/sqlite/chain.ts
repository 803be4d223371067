import { randomBytes } from "node:crypto";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import {
  type Acceptance,
  acceptanceEvent,
  beginning,
  type Event,
  hashOf,
  planColumns,
  rowEvent,
  rowsDigest,
} from "../chain.ts";
import type { HistoryEvent } from "../events.ts";
import { eventOf } from "../rows.ts";
import { numberIn, textOrNull } from "../values.ts";
import { type Pages, paged } from "./operation-rows.ts";

export type Chain = ReturnType<typeof createChain>;

/** Links events: the hash of each covers the one before, so that a change of the past is detected. */
export function createChain(database: Database) {
  const newest = database.prepare("SELECT hash FROM events ORDER BY number DESC LIMIT 1");
  const add = database.prepare(
    `INSERT INTO events (operation, batch, at, event, data, commit_id, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    /** Inside a transaction, or two processes could both follow the same event. */
    append({ operation, batch = null, at, event, data }: Event): void {
      const transaction = database.transactionCount();
      const last = tips.get(database);
      // Inside one transaction no other process can have added an event.
      const own = last?.transaction === transaction ? last : undefined;
      const commitId = own?.commitId ?? randomBytes(12).toString("base64url");
      const before = own?.hash ?? String(newest.get()?.hash ?? beginning);
      const ids = { operation: textOrNull(operation), batch: textOrNull(batch) };
      const hash = hashOf({ ...ids, at, event, data, commit_id: commitId }, before);
      add.run(operation, batch, at, event, data, commitId, hash);
      tips.set(database, { transaction, commitId, hash });
    },

    /** The events of an operation, oldest first. */
    of: (operation: bigint): HistoryEvent[] =>
      database
        .prepare("SELECT at, event, data FROM events WHERE operation = ? ORDER BY number")
        .all(operation)
        .map(eventOf),
  };
}

/** For each database, because several parts of a run may append to it in one transaction. */
const tips = new WeakMap<Database, { transaction: number; commitId: string; hash: string }>();

/** Records an account, a key or a batch plan, inside the transaction that creates it. */
export function recordRow(
  database: Database,
  event: "account" | "key" | "plan",
  row: Row | undefined,
  at: string,
): void {
  if (!row) throw new Error(`the ledger lost the ${event} that it just had`);
  const rows = event === "plan" ? digestOfRows(database, numberIn(row.number)) : undefined;
  createChain(database).append(rowEvent(event, row, at, rows));
}

function digestOfRows(database: Database, batch: bigint): string {
  const digest = rowsDigest();
  for (const row of paged(database, ...planRows(batch, planColumns))) digest.add(row);
  return digest.value();
}

/** The rows of a plan, in its order. */
export function planRows(batch: bigint, columns: string[]): [sql: string, pages: Pages] {
  const sql = `SELECT ${columns} FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`;
  return [sql, { by: "row", values: [batch] }];
}

/** Inside a transaction. */
export function recordAcceptance(database: Database, acceptance: Acceptance): void {
  createChain(database).append(acceptanceEvent(acceptance));
}
