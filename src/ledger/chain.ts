import { hash } from "node:crypto";
import type { Database, Row } from "../sqlite/database.ts";

/** What happened to an operation; never changed, never deleted. */
export interface Event {
  operation: bigint;
  /** ISO 8601. */
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

const beginning = "0".repeat(64);
const pageSize = 1000;

/** Links events: the hash of each covers the one before, so that a change of the past shows. */
export function openChain(database: Database) {
  const newest = database.prepare("SELECT hash FROM events ORDER BY number DESC LIMIT 1");
  const add = database.prepare(
    `INSERT INTO events (operation, at, event, data, hash)
     SELECT CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2, value ->> 3, value ->> 4
     FROM json_each(?) ORDER BY key`,
  );
  /** Inside one transaction nobody else can have added an event. */
  let tip = { transaction: -1, hash: beginning };
  return {
    /** Inside a transaction, or two processes could both follow the same event. */
    append(events: Event[]): void {
      const transaction = database.transactionCount();
      const isOwn = tip.transaction === transaction;
      let before = isOwn ? tip.hash : String(newest.get()?.hash ?? beginning);
      const linked = events.map((event) => {
        before = hashOf(event, before);
        return [String(event.operation), event.at, event.event, event.data, before];
      });
      add.run(JSON.stringify(linked));
      tip = { transaction, hash: before };
    },

    /** How many events hold, and the first that does not follow from the one before it. */
    walk(): { events: number; brokenAt: number | null } {
      let before = beginning;
      let events = 0;
      for (const row of rowsOf(database)) {
        const place = events + 1;
        if (row.number !== BigInt(place) || row.hash !== hashOf(eventOf(row), before))
          return { events, brokenAt: place };
        before = row.hash;
        events = place;
      }
      return { events, brokenAt: null };
    },
  };
}

/** Page by page: memory does not grow with the history. */
function* rowsOf(database: Database): Iterable<Row> {
  const page = database.prepare(
    `SELECT number, operation, at, event, data, hash FROM events WHERE number > ?
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

function eventOf({ operation, at, event, data }: Row): Event {
  return {
    operation: BigInt(operation ?? 0n),
    at: String(at),
    event: String(event),
    data: String(data),
  };
}

function hashOf({ operation, at, event, data }: Event, before: string): string {
  return hash("sha256", JSON.stringify([before, String(operation), at, event, data]));
}
