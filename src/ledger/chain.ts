import { hash } from "node:crypto";
import type { Database, Row } from "../sqlite/database.ts";

/** What happened to an operation, or to the ledger as a whole; never changed, never deleted. */
export interface Event {
  /** Null for what belongs to no operation: an account, a batch plan, an acceptance. */
  operation: bigint | null;
  /** The number of the batch that was planned. */
  batch?: bigint;
  /** ISO 8601. */
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

const beginning = "0".repeat(64);
const pageSize = 1000;

/** Links events: the hash of each covers the one before, so that a change of the past is detected. */
export function openChain(database: Database) {
  const newest = database.prepare("SELECT hash FROM events ORDER BY number DESC LIMIT 1");
  const add = database.prepare(
    `INSERT INTO events (operation, batch, at, event, data, hash)
     SELECT CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER), value ->> 2, value ->> 3,
       value ->> 4, value ->> 5
     FROM json_each(?) ORDER BY key`,
  );
  return {
    /** Inside a transaction, or two processes could both follow the same event. */
    append(events: Event[]): void {
      const transaction = database.transactionCount();
      const own = tips.get(database);
      // Inside one transaction no other process can have added an event.
      let before =
        own?.transaction === transaction ? own.hash : String(newest.get()?.hash ?? beginning);
      const linked = events.map((event) => {
        const { operation, batch = null, at, event: name, data } = event;
        before = hashOf({ ...event, batch, commitId: null }, before);
        return [textOf(operation), textOf(batch), at, name, data, before];
      });
      add.run(JSON.stringify(linked));
      tips.set(database, { transaction, hash: before });
    },

    /** How many events follow each other, and the first that does not follow from the one before it. */
    walk(): { events: number; brokenAt: number | null } {
      let before = beginning;
      let events = 0;
      for (const row of rowsOf(database)) {
        const place = events + 1;
        if (row.number !== BigInt(place) || row.hash !== hashOf(storedIn(row), before))
          return { events, brokenAt: place };
        before = row.hash;
        events = place;
      }
      return { events, brokenAt: null };
    },
  };
}

/** Of a database, not of a chain: several parts of a run may append to it in one transaction. */
const tips = new WeakMap<Database, { transaction: number; hash: string }>();

/** Page by page: memory does not grow with the history. */
function* rowsOf(database: Database): Iterable<Row> {
  const page = database.prepare(
    `SELECT number, operation, batch, at, event, data, commit_id, hash FROM events WHERE number > ?
     ORDER BY number LIMIT ${pageSize}`,
  );
  for (let after = 0n; ; ) {
    const rows = page.all(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last) return;
    after = BigInt(last.number ?? 0n);
  }
}

interface StoredEvent extends Omit<Event, "batch"> {
  batch: bigint | null;
  /** The write that the event was part of; null before writes had one. */
  commitId: string | null;
}

function storedIn({ operation, batch, at, event, data, commit_id }: Row): StoredEvent {
  return {
    operation: typeof operation === "bigint" ? operation : null,
    batch: typeof batch === "bigint" ? batch : null,
    at: String(at),
    event: String(event),
    data: String(data),
    commitId: typeof commit_id === "string" ? commit_id : null,
  };
}

/**
 * The first form is that of the events that are older than the columns `batch` and `commit_id`. Which
 * form an event has follows from its columns alone, so that none of them can be changed.
 */
function hashOf({ operation, batch, at, event, data, commitId }: StoredEvent, before: string) {
  const isOld = operation !== null && batch === null && commitId === null;
  const covered = isOld
    ? [before, textOf(operation), at, event, data]
    : [before, textOf(operation), textOf(batch), at, event, data, commitId];
  return hash("sha256", JSON.stringify(covered));
}

function textOf(number: bigint | null): string | null {
  return number === null ? null : String(number);
}
