import type { Database } from "../../platform/sqlite/database.ts";
import { readHistory, replay } from "../events.ts";
import { type Connection, type Query, rowsJson } from "../postgres/connection.ts";
import { newestEvent } from "../sql/conditions.ts";
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
  recordedByOthers,
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
 * The operations of a page that the server lacks. It may have those of an earlier run, and payouts that this login
 * recorded on both sides with the same result.
 */
export async function findMissing(query: Query, page: Copy[]): Promise<Copy[]> {
  const asked = page.map(({ row: { id, reference, account }, events }) => {
    return { id, reference, account, events: events.length };
  });
  const found = await query(
    `SELECT a.id AS own, o.id, o.login, o.login = session_user AS is_own, ${sameColumns.map((name) => `o.${name}`)},
       (SELECT ${digestSql(eventColumns, "number")} FROM (
         SELECT * FROM lenden.events WHERE operation = o.number ORDER BY number LIMIT a.events) e) AS history,
       (SELECT json_agg(json_build_object('at', e.at, 'event', e.event, 'data', e.data) ORDER BY e.number)
         FROM lenden.events e WHERE e.operation = o.number AND e.login = session_user) AS own_events
     FROM json_to_recordset($1::json) AS a(id text, reference text, account bigint, events bigint)
     JOIN lenden.operations o ON o.id = a.id OR (o.account = a.account AND o.reference = a.reference)`,
    rowsJson(asked),
  );
  const own = new Map<string | null | undefined, Copy>(page.map((copy) => [copy.row.id, copy]));
  const [conflicts, ofOthers]: [string[], string[]] = [[], []];
  for (const there of found) {
    const { row: here, events } = own.get(there.own) ?? {};
    if (!here || !events) continue;
    const name = `${here.reference ?? here.id} (${there.id} there)`;
    if (!isTrue(there.is_own ?? null)) ofOthers.push(`${name}, of login ${there.login}`);
    else if (there.id === here.id) {
      if (there.history !== digestOf(events, eventColumns)) throw differs(`Operation ${here.id}`);
    } else if (!isSamePayout(here, there)) conflicts.push(`reference ${name}, and ${here.id} here`);
  }
  if (conflicts.length > 0) throw conflict(conflicts.slice(0, 5).join("; "));
  if (ofOthers.length > 0) throw recordedByOthers(ofOthers);
  const existing = new Set<string | null | undefined>(found.map((there) => there.own));
  return page.filter(({ row }) => !existing.has(row.id));
}

/** Payouts that both recorded are the same only if both know that the API has the same one, whatever columns say. */
function isSamePayout(here: TextRow, there: TextRow): boolean {
  if (here.remote_id == null || sameColumns.some((name) => there[name] !== here[name]))
    return false;
  const events = readHistory(there.own_events ?? "[]");
  const recorded = events.length > 0 ? replay(0n, events) : undefined;
  return recorded?.state === here.state && recorded?.remoteId === here.remote_id;
}

const sameColumns = ["amount_paisa", "recipient_key", "method_id", "state", "remote_id"];

/**
 * Found without the lock, which others wait for, and again if they wrote something since.
 *
 * @returns the number of operations of the page that the server did not have
 */
export async function copyOperations(connection: Connection, page: Copy[]): Promise<number> {
  const [newest] = await connection.read(newestEvent);
  const found = await findMissing(connection.read, page);
  if (found.length === 0) return 0;
  return connection.write(async (write) => {
    const isUnchanged = (await write.locked()).number === numberIn(newest?.number);
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
