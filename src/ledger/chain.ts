import { hash } from "node:crypto";
import type { Database } from "./database.ts";

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

/** Writes history: each event's hash covers the one before, so that a change of the past shows. */
export function openChain(database: Database) {
  const last = database.prepare("SELECT hash FROM events ORDER BY number DESC LIMIT 1");
  const add = database.prepare(
    `INSERT INTO events (operation, at, event, data, hash)
     SELECT CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2, value ->> 3, value ->> 4
     FROM json_each(?) ORDER BY key`,
  );
  const from = database.prepare(
    "SELECT number, operation, at, event, data, hash FROM events WHERE number > ? ORDER BY number LIMIT 1000",
  );
  const intended = (name: string) =>
    `(SELECT json_extract(data, '$.${name}') FROM events WHERE operation = o.number AND event = 'intent')`;
  const lastTold = (name: string) =>
    `(SELECT json_extract(data, '$.${name}') FROM events WHERE operation = o.number
       AND event != 'intent' AND json_extract(data, '$.${name}') IS NOT NULL ORDER BY number DESC LIMIT 1)`;
  const astray = database.prepare(`
    SELECT id FROM operations o WHERE
      state IS NOT coalesce(${lastTold("state")}, 'INTENT')
      OR remote_id IS NOT ${lastTold("remoteId")}
      OR status IS NOT ${lastTold("status")}
      OR CAST(amount_paisa AS TEXT) IS NOT ${intended("amountPaisa")}
      OR ${["id", "kind", "reference", "fingerprint", "target", "asked", "user", "command"]
        .map((name) => `${name} IS NOT ${intended(name)}`)
        .join(" OR ")}
    UNION ALL
    SELECT 'event ' || number FROM events WHERE operation NOT IN (SELECT number FROM operations)
    LIMIT 100`);
  /** Inside one transaction nobody else can have added an event. */
  let tip = { transaction: -1, hash: beginning };
  return {
    /** Inside a transaction, or two processes could both follow the same event. */
    append(events: Event[]): void {
      const transaction = database.transactionCount();
      const isOwn = tip.transaction === transaction;
      let before = isOwn ? tip.hash : String(last.get()?.hash ?? beginning);
      const linked = events.map((event) => {
        before = hashOf(event, before);
        return [String(event.operation), event.at, event.event, event.data, before];
      });
      add.run(JSON.stringify(linked));
      tip = { transaction, hash: before };
    },

    /**
     * How many events hold; the first that does not follow from the one before it; and the operations
     * that are not as their last event left them.
     */
    verify(): { events: number; brokenAt: number | null; astray: string[] } {
      return { ...walk(), astray: astray.all().map(({ id }) => String(id)) };
    },
  };

  function walk(): { events: number; brokenAt: number | null } {
    let before = beginning;
    let events = 0;
    for (let after = 0n; ; ) {
      const rows = from.all(after);
      if (rows.length === 0) return { events, brokenAt: null };
      for (const row of rows) {
        const number = BigInt(row.number ?? 0);
        const event = {
          operation: BigInt(row.operation ?? 0),
          at: String(row.at),
          event: String(row.event),
          data: String(row.data),
        };
        if (number !== after + 1n || hashOf(event, before) !== row.hash)
          return { events, brokenAt: Number(after) + 1 };
        before = String(row.hash);
        after = number;
        events += 1;
      }
    }
  }
}

function hashOf({ operation, at, event, data }: Event, before: string): string {
  return hash("sha256", JSON.stringify([before, String(operation), at, event, data]));
}
