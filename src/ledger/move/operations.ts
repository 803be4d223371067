import type { Database } from "../../platform/sqlite/database.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { pagesOf } from "../sqlite/pages.ts";
import { isTrue, numberIn, type TextRow } from "../values.ts";
import {
  conflict,
  differs,
  digestOf,
  digestSql,
  insertRows,
  movedColumns,
  type Numbers,
} from "./rows.ts";

/** An operation and its events, with the numbers of the server. */
interface Copy {
  row: TextRow;
  events: StoredEvent[];
}

type StoredEvent = { at: string; event: string; data: string };

/** Pages of operations by their numbers. What the server does not have yet has no number. */
export function* operationPages(
  file: Database,
  { accounts, batches }: { accounts: Numbers; batches: Numbers },
): Iterable<Copy[]> {
  const sql = "SELECT * FROM operations WHERE number > ? ORDER BY number";
  const eventsOf = file.prepare(
    `SELECT ${eventColumns.join(", ")} FROM events WHERE operation = ? ORDER BY number`,
  );
  for (const page of pagesOf(file, sql)) {
    if (page.length === 0) return;
    yield page.map(({ number, ...stored }) => {
      const row = movedColumns(stored);
      row.account = accounts.get(row.account) ?? null;
      row.batch = batches.get(row.batch) ?? null;
      const events = eventsOf.all(numberIn(number)).map(({ at, event, data }) => {
        const stored = { at: String(at), event: String(event), data: String(data) };
        return event === "intent" ? moveIntent(stored, row) : stored;
      });
      return { row, events };
    });
  }
}

const eventColumns = ["at", "event", "data"];

/** An intent names its account and its batch by numbers. */
function moveIntent(event: StoredEvent, { account, batch }: TextRow): StoredEvent {
  const fields: Record<string, unknown> = JSON.parse(event.data);
  return { ...event, data: JSON.stringify({ ...fields, account, batch }) };
}

/**
 * The operations of a page that the server lacks. It may have those of an earlier run, and payouts that both
 * recorded with the same result.
 */
export async function findMissing(query: Query, page: Copy[]): Promise<Copy[]> {
  const asked = page.map(
    ({ row: { id, reference, account, phase, created_at, ...row }, events }) => {
      const sentAt = Date.parse(row.accepted_at ?? created_at ?? "");
      const since = new Date(sentAt - differingMs).toISOString();
      return { id, reference, account, phase, created_at, since, events: events.length };
    },
  );
  const found = await query(
    `SELECT a.id AS own, o.id, o.login, ${sameColumns.map((name) => `o.${name}`)}, ${countsLess} AS counts_less, (SELECT ${digestSql(eventColumns, "number")} FROM (
       SELECT * FROM lenden.events WHERE operation = o.number ORDER BY number LIMIT a.events) e) AS history
     FROM json_to_recordset($1::json) AS a(id text, reference text, account bigint, phase text, created_at text, since text,
       events bigint)
     JOIN lenden.operations o ON o.id = a.id OR (o.account = a.account AND o.reference = a.reference)`,
    rowsJson(asked),
  );
  const own = new Map<string | null | undefined, Copy>(page.map((copy) => [copy.row.id, copy]));
  const [conflicts, counted]: [string[], string[]] = [[], []];
  for (const there of found) {
    const { row: here, events } = own.get(there.own) ?? {};
    if (!here || !events) continue;
    if (there.id === here.id) {
      if (there.history !== digestOf(events, eventColumns)) throw differs(`Operation ${here.id}`);
    } else if (here.remote_id === null || sameColumns.some((name) => there[name] !== here[name]))
      conflicts.push(`reference ${here.reference} (${here.id} here, ${there.id} there)`);
    else if (isTrue(there.counts_less ?? null))
      counted.push(`reference ${here.reference} (${there.id} there, by login ${there.login})`);
  }
  if (conflicts.length > 0) throw conflict(conflicts.slice(0, 5).join("; "));
  if (counted.length > 0)
    throw conflict(
      `it has payouts of the last day as older, or as not sent: ${counted.slice(0, 5).join("; ")}`,
      "Ask that login about them. A day after they were sent, run the same command again.",
    );
  const existing = new Set<string | null | undefined>(found.map((there) => there.own));
  return page.filter(({ row }) => !existing.has(row.id));
}

/** A payout that two machines sent was requested by one, and is recorded by both, within so much time. */
const differingMs = 10 * 60_000;

/**
 * True if another login recorded a payout `o` there that counts for the last day, as the file has it in `a`, and not as
 * it is there.
 */
const countsLess = `(o.id <> a.id AND o.login <> session_user AND a.phase IN ('live', 'unresolved')
  AND a.created_at > to_char((clock_timestamp() - interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  AND (o.phase NOT IN ('live', 'unresolved') OR o.accepted_at < a.since
    OR (o.created_at < a.since AND NOT EXISTS (SELECT 1 FROM lenden.events e WHERE e.operation = o.number
      AND e.event IN ('resumed', 'reopened') AND e.at >= a.since))))`;

/** Payouts that both recorded are the same only if both know that the API has the same one. */
const sameColumns = ["amount_paisa", "recipient_key", "method_id", "state", "remote_id"];

/**
 * Found without the lock, which others wait for, and again if they wrote something since.
 *
 * @returns the number of operations of the page that the server did not have
 */
export async function copyOperations(connection: Connection, page: Copy[]): Promise<number> {
  const [head] = await connection.read("SELECT number FROM lenden.head");
  const found = await findMissing(connection.read, page);
  if (found.length === 0) return 0;
  return connection.write(async (write) => {
    const isUnchanged = (await write.locked()).number === numberIn(head?.number);
    const missing = isUnchanged ? found : await findMissing(write.query, page);
    const rows = missing.map(({ row, events }) => {
      const number = write.nextOperation();
      for (const event of events) write.pending.append({ operation: number, ...event });
      return { ...row, number: String(number) };
    });
    await insertRows(write.query, "operations", rows);
    return missing.length;
  });
}
