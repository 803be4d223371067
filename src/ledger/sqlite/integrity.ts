import { createHash } from "node:crypto";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { type Head, headOf } from "../head.ts";
import { faultsIn } from "../health.ts";
import { type Columns, type ReplayedEvent, replay } from "../replay.ts";
import { rowDigestOf } from "./callbacks.ts";
import {
  type Acceptance,
  createChain,
  digestOfRows,
  immutableColumns,
  lastAcceptance,
} from "./chain.ts";
import { migrate } from "./schema.ts";

/** The findings of a check of a ledger, of all accounts. */
export interface Integrity {
  /** The number of events that follow each other. */
  events: number;
  /** The first event that does not follow from the one before it. */
  brokenAt: number | null;
  /** Rows and schema entries that differ from what the events record. */
  modified: Finding[];
  /** The faults that SQLite finds in the file. */
  damage: string[];
  /** The newest acceptance of the ledger by a user. */
  accepted: Acceptance | null;
  /** The newest event. */
  newest: Head | undefined;
}

/** Reads a whole ledger of the newest schema, and changes nothing in it. */
export async function integrityOf(database: Database): Promise<Integrity> {
  const schema = await auditSchema(database);
  return inSnapshot(database, () => {
    const { events, brokenAt, findings } = verifyEvents(database);
    return {
      events,
      brokenAt,
      modified: [...findings, ...schema],
      damage: faultsIn(database),
      accepted: lastAcceptance(database),
      newest: headOf(database),
    };
  });
}

/** Other processes may write meanwhile. */
function inSnapshot<Result>(database: Database, read: () => Result): Result {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

/** Checks the chain of events, and compares every table with it. */
export function verifyEvents(database: Database) {
  return {
    ...createChain(database).walk(),
    findings: first(auditRows(database), mostFindings),
  };
}

const mostFindings = 100;

function first<Item>(items: Iterable<Item>, most: number): Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length === most) break;
  }
  return taken;
}

export function isIntact({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && modified.length === 0 && damage.length === 0;
}

/** The digest of the findings that a user accepts. A later modification has another digest. */
export function findingsDigest({ brokenAt, modified, damage }: Integrity): string {
  return createHash("sha256")
    .update(JSON.stringify([brokenAt, modified, damage]))
    .digest("hex");
}

/** True if the ledger is as its events record, or as a user accepted it. */
export function isAccepted(integrity: Integrity): boolean {
  return isIntact(integrity) || integrity.accepted?.findings === findingsDigest(integrity);
}

/** False if there may be more to find: after a broken event, or after as many findings as are kept. */
export function isComplete({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && damage.length === 0 && modified.length < mostFindings;
}

/**
 * Compares tables, indexes, triggers and views with those that the migrations create: a trigger could
 * change what is written, and a dropped index could let a reference be used twice.
 */
async function auditSchema(database: Database): Promise<Finding[]> {
  const fresh = await openDatabase(":memory:");
  try {
    migrate(fresh);
    const expected = schemaOf(fresh);
    const found = schemaOf(database);
    const names = new Set([...expected.keys(), ...found.keys()]);
    return [...names].flatMap((name) => {
      const [should, is] = [expected.get(name), found.get(name)];
      const { kind } = is ?? should ?? { kind: "table" };
      const problem = !should ? "added" : !is ? "missing" : "changed";
      return should?.sql === is?.sql && should?.kind === is?.kind
        ? []
        : [{ kind, name, problem, columns: [], now: is ? [is.sql] : [] }];
    });
  } finally {
    fresh.close();
  }
}

interface SchemaEntry {
  kind: Finding["kind"];
  sql: string;
}

function schemaOf(database: Database): Map<string, SchemaEntry> {
  const rows = database
    // SQLite keeps its own statistics in tables that only it can create.
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'",
    )
    .all();
  return new Map(
    rows.map(({ type, name, tbl_name: table, sql }) => [
      String(name),
      { kind: kindOf(String(type)), sql: `${table} ${plain(String(sql))}` },
    ]),
  );
}

function kindOf(type: string): Finding["kind"] {
  const kinds = ["table", "index", "trigger", "view"] as const;
  return kinds.find((kind) => kind === type) ?? "table";
}

/** SQLite rewrites the text of a table that it alters, and its versions differ in spaces and quotes. */
function plain(sql: string): string {
  return sql
    .replace(/["\s]+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1")
    .trim();
}

/** A part of the ledger that differs from what the events record. */
export interface Finding {
  kind:
    | "operation"
    | "account"
    | "key"
    | "batch"
    | "callback"
    | "table"
    | "index"
    | "trigger"
    | "view";
  /** The ID, or the number if there is no ID. */
  name: string;
  problem: "changed" | "missing" | "added";
  /** The columns that were changed; `rows` for those of a batch plan. */
  columns: string[];
  /** The current values of these columns, or of the whole added row. */
  now: (string | null)[];
}

/** Compares every table with the events; the events themselves are checked by the chain. */
function* auditRows(database: Database): Iterable<Finding> {
  yield* auditOperations(database);
  yield* auditRecorded(database, { table: "accounts", kind: "account", event: "account" });
  yield* auditRecorded(database, { table: "account_keys", kind: "key", event: "key" });
  yield* auditRecorded(database, {
    ...{ table: "batches", kind: "batch", event: "plan" },
    where: "digest IS NOT NULL",
  });
  yield* auditCallbacks(database);
}

const pageSize = 500;
/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);

function* auditOperations(database: Database): Iterable<Finding> {
  for (const { storedValue, events, allColumns } of operationsIn(database)) {
    const name = storedValue("id") ?? "";
    const replayed = replay(events);
    if (!replayed) {
      yield {
        kind: "operation",
        name,
        problem: "added",
        columns: [],
        now: Object.values(allColumns()),
      };
      continue;
    }
    const changed = differences(replayed.columns, storedValue).filter(
      (column) => !replayed.mayDiffer(column, allColumns()),
    );
    const now = changed.map((column) => storedValue(column) ?? null);
    if (changed.length > 0)
      yield { kind: "operation", name, problem: "changed", columns: changed, now };
  }
  const lost = database.prepare(
    `SELECT DISTINCT operation FROM events
     WHERE operation IS NOT NULL AND operation NOT IN (SELECT number FROM operations) LIMIT ${pageSize}`,
  );
  for (const { operation } of lost.all())
    yield { kind: "operation", name: String(operation), problem: "missing", columns: [], now: [] };
}

interface OperationWithEvents {
  /** The value of a column as text; undefined if there is no such column. */
  storedValue(name: string): string | null | undefined;
  allColumns(): Columns;
  events: ReplayedEvent[];
}

/** A page is one text, because a value that is handed over by SQLite costs more than to parse it. */
function* operationsIn(database: Database): Iterable<OperationWithEvents> {
  const names = database
    .prepare("SELECT name FROM pragma_table_info('operations') WHERE name != 'holder'")
    .all()
    .map(({ name }) => String(name));
  const values = names.map((name) => `CAST("${name}" AS TEXT)`);
  const places = new Map(names.map((name, place) => [name, place]));
  const page = database.prepare(`
    SELECT json_group_array(json_array(json_array(${values}),
      (SELECT json_group_array(json_array(at, event, data))
        FROM (SELECT at, event, data FROM events WHERE operation = o.number ORDER BY number)))) AS page
    FROM (SELECT * FROM operations WHERE number > ? ORDER BY number LIMIT ${pageSize}) o`);
  for (let after = lowest; ; ) {
    const found: [(string | null)[], [string, string, string][]][] = JSON.parse(
      String(page.get(after)?.page),
    );
    for (const [row, events] of found)
      yield {
        storedValue: (name) => row[places.get(name) ?? -1],
        allColumns: () =>
          Object.fromEntries(names.map((name, place) => [name, row[place] ?? null])),
        events: events.map(([at, event, data]) => ({ at, event, data })),
      };
    const last = found.at(-1)?.[0];
    if (!last) return;
    after = BigInt(last[places.get("number") ?? -1] ?? 0);
  }
}

interface RecordedTable {
  table: "accounts" | "account_keys" | "batches";
  kind: "account" | "key" | "batch";
  event: string;
  where?: string;
}

/** Compares rows that never change with the newest event that has each as a whole. */
function* auditRecorded(
  database: Database,
  { table, kind, event, where = "true" }: RecordedTable,
): Iterable<Finding> {
  const told = new Map<string, { row: Columns; rows: string | undefined }>();
  const events = database.prepare(
    "SELECT data FROM events WHERE operation IS NULL AND event = ? ORDER BY number",
  );
  for (const { data } of events.all(event)) {
    const recorded = recordedIn(String(data));
    if (recorded) told.set(keyOf(recorded.row), recorded);
  }
  for (const found of database.prepare(`SELECT * FROM ${table} WHERE ${where}`).all()) {
    const row = immutableColumns(found);
    const name = nameOf(row);
    const recorded = told.get(keyOf(row));
    told.delete(keyOf(row));
    if (!recorded) yield { kind, name, problem: "added", columns: [], now: Object.values(row) };
    else {
      const changed = differences(recorded.row, (column) => row[column]);
      const now = changed.map((column) => row[column] ?? null);
      const rows =
        recorded.rows === undefined ? undefined : digestOfRows(database, numberOf(found));
      if (rows !== undefined && rows !== recorded.rows) {
        changed.push("rows");
        now.push(rows);
      }
      if (changed.length > 0) yield { kind, name, problem: "changed", columns: changed, now };
    }
  }
  for (const { row } of told.values())
    yield { kind, name: nameOf(row), problem: "missing", columns: [], now: [] };
}

function recordedIn(data: string): { row: Columns; rows: string | undefined } | undefined {
  try {
    const { row, rows }: { row?: unknown; rows?: unknown } = JSON.parse(data);
    if (typeof row !== "object" || row === null) return undefined;
    const columns = Object.entries(row).map(([name, value]) => [
      name,
      value === null ? null : String(value),
    ]);
    return {
      row: Object.fromEntries(columns),
      rows: rows === undefined ? undefined : String(rows),
    };
  } catch {
    return undefined; // The chain reports an event that was changed.
  }
}

function nameOf({ id, number, key_hash: key }: Columns): string {
  return key ?? id ?? number ?? "";
}

/** Two accounts may have a batch of one ID. */
function keyOf({ number, environment, key_hash: key }: Columns): string {
  return number ?? `${environment} ${key}`;
}

function* auditCallbacks(database: Database): Iterable<Finding> {
  const all = `SELECT * FROM callbacks WHERE number > ? ORDER BY number LIMIT ${pageSize}`;
  for (const row of pagesOf(database, all)) {
    const now = rowDigestOf(row);
    const name = String(row.number);
    if (row.row_digest !== now)
      yield { kind: "callback", name, problem: "changed", columns: [], now: [now] };
  }
}

/** Memory does not grow with the ledger. */
function* pagesOf(database: Database, sql: string): Iterable<Row> {
  const page = database.prepare(sql);
  for (let after = lowest; ; ) {
    const rows = page.all(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last) return;
    after = numberOf(last);
  }
}

function numberOf({ number }: Row): bigint {
  return typeof number === "bigint" ? number : 0n;
}

/** The columns whose values differ; a column that the event does not know is not compared. */
function differences(
  told: Columns,
  storedValue: (name: string) => string | null | undefined,
): string[] {
  const different: string[] = [];
  for (const name in told) {
    const value = storedValue(name);
    if (value !== undefined && value !== told[name]) different.push(name);
  }
  return different;
}
