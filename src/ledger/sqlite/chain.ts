import { createHash, hash, randomBytes } from "node:crypto";
import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import type { Head } from "../head.ts";
import { numberIn, paged, pagedText, type TextRow } from "./operation-rows.ts";

/** An event of an operation or of the ledger as a whole. Events are never changed or deleted. */
export interface Event {
  /** Null for an account, a batch plan or an acceptance. */
  operation: bigint | null;
  /** The number of the batch that was planned. */
  batch?: bigint | null;
  /** ISO 8601. */
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

const beginning = "0".repeat(64);

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
    of: (operation: bigint): { at: string; event: string; data: unknown }[] =>
      database
        .prepare("SELECT at, event, data FROM events WHERE operation = ? ORDER BY number")
        .all(operation)
        .map(({ at, event, data }) => ({
          at: String(at),
          event: String(event),
          data: JSON.parse(String(data)),
        })),

    /** Counts the events that follow each other, and finds the first that does not. */
    walk(): { events: number; brokenAt: number | null } {
      let before = beginning;
      let events = 0;
      const names = ["number", "operation", "batch", "at", "event", "data", "commit_id", "hash"];
      const columns = Object.fromEntries(names.map((name) => [name, `e.${name}`]));
      const from = "FROM events e WHERE e.number > ? ORDER BY e.number";
      for (const stored of pagedText(database, columns, { from })) {
        const place = events + 1;
        const hash = hashOf(stored, before);
        if (stored.number !== String(place) || stored.hash !== hash)
          return { events, brokenAt: place };
        before = hash;
        events = place;
      }
      return { events, brokenAt: null };
    },
  };
}

function textOrNull(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** For each database, because several parts of a run may append to it in one transaction. */
const tips = new WeakMap<Database, { transaction: number; commitId: string; hash: string }>();

/**
 * The first form is that of the events that are older than the columns `batch` and `commit_id`. Which
 * form an event has follows from its columns alone, so that none of them can be changed.
 */
function hashOf(
  { operation, batch, at, event, data, commit_id: commitId }: TextRow,
  before: string,
) {
  const isOld = operation !== null && batch === null && commitId === null;
  const covered = isOld
    ? [before, operation, at, event, data]
    : [before, operation, batch, at, event, data, commitId];
  return hash("sha256", JSON.stringify(covered));
}

/**
 * Records an account, a key or a batch plan, inside the transaction that creates it. They do not change later,
 * and the event has the whole row, so that `ledger check` detects a change of any column.
 */
export function recordRow(
  database: Database,
  event: "account" | "key" | "plan",
  row: Row | undefined,
  at: string,
): void {
  if (!row) throw new Error(`the ledger lost the ${event} that it just had`);
  const batch = event === "plan" ? numberIn(row.number) : null;
  const rows = batch === null ? undefined : digestOfRows(database, batch);
  const data = JSON.stringify({ row: immutableColumns(row), rows });
  createChain(database).append({ operation: null, batch, at, event, data });
}

/** All columns of a row as text, but for the process that works on it. */
export function immutableColumns({ holder: _, ...columns }: Row): TextRow {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, textOrNull(value)]),
  );
}

/** Covers every column of every row of a plan. A new column of the table needs a new kind of event. */
export function digestOfRows(database: Database, batch: bigint): string {
  const hash = createHash("sha256");
  const rows = paged(
    database,
    `SELECT row, line, reference, amount_paisa, recipient, method_id, method, name, description,
       cells, fingerprint, accepted, recipient_key
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`,
    { by: "row", values: [batch] },
  );
  for (const row of rows) hash.update(JSON.stringify(Object.values(row).map(textOrNull)));
  return hash.digest("hex");
}

/** A user accepted the ledger as it is, although an earlier one knew more. */
export interface Acceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** The problem: "missing", "empty", "truncated", "replaced" or "modified". */
  state: string;
  /** The digest of the findings in a modified ledger. */
  findings?: string;
  /** The event that it did not contain, if one was stored. */
  stored?: Head;
}

/** Inside a transaction. */
export function recordAcceptance(
  database: Database,
  { at, user, state, findings, stored }: Acceptance,
): void {
  const head = stored && { number: String(stored.number), hash: stored.hash };
  const data = JSON.stringify({ user, state, findings, stored: head });
  createChain(database).append({ operation: null, at, event: "accepted", data });
}

/** The newest acceptance; null in a ledger that never needed one. */
export function lastAcceptance(database: Database): Acceptance | null {
  const row = database
    .prepare(
      "SELECT at, data FROM events WHERE operation IS NULL AND event = 'accepted' ORDER BY number DESC LIMIT 1",
    )
    .get();
  if (!row) return null;
  const { user, state, findings }: Acceptance = JSON.parse(String(row.data));
  return { at: String(row.at), user, state, ...(findings === undefined ? {} : { findings }) };
}
