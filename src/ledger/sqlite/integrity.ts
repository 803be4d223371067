import { createHash } from "node:crypto";
import type { Database, Value } from "../../platform/sqlite/database.ts";
import { rowDigestOf } from "../callback-rows.ts";
import { type Acceptance, immutableColumns } from "../chain.ts";
import { type Head, headOf } from "../head.ts";
import { faultsIn } from "../health.ts";
import type { Replayed } from "../replay.ts";
import { numberIn, type TextRow } from "../rows.ts";
import { createChain, digestOfRows, lastAcceptance } from "./chain.ts";
import { paged } from "./operation-rows.ts";
import { replayedOperations } from "./replay.ts";
import { schema } from "./schema.ts";

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
export function integrityOf(database: Database): Integrity {
  // One snapshot, because other processes may write meanwhile.
  database.exec("BEGIN");
  try {
    const modified: Finding[] = [];
    for (const finding of auditRows(database)) {
      modified.push(finding);
      if (modified.length === mostFindings) break;
    }
    modified.push(...auditSchema(database));
    return {
      ...createChain(database).walk(),
      modified,
      damage: faultsIn(database),
      accepted: lastAcceptance(database),
      newest: headOf(database),
    };
  } finally {
    database.exec("COMMIT");
  }
}

const mostFindings = 100;

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
 * Compares tables, indexes, triggers and views with those of the schema: a trigger could change what is
 * written, and a dropped index could let a reference be used twice.
 */
function auditSchema(database: Database): Finding[] {
  const expected = new Map(statements().map((sql) => [nameIn(sql), sql]));
  const entries = database
    // SQLite keeps its own statistics in tables that only it can create.
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite_stat%'",
    )
    .all();
  const findings = entries.flatMap(({ type, name, tbl_name: table, sql }): Finding[] => {
    const should = expected.get(String(name));
    expected.delete(String(name));
    const is = plain(String(sql));
    if (should === is) return [];
    const problem = should === undefined ? "added" : "changed";
    const now = [`${table} ${is}`];
    return [{ kind: kindOf(type), name: String(name), problem, columns: [], now }];
  });
  for (const [name, sql] of expected)
    findings.push(missing({ kind: sql.includes(" INDEX ") ? "index" : "table", name }));
  return findings;
}

function statements(): string[] {
  return schema
    .split(";")
    .map(plain)
    .filter((sql) => sql !== "");
}

function nameIn(statement: string): string {
  return /(?:TABLE|INDEX) (\w+)/.exec(statement)?.[1] ?? "";
}

function kindOf(type: Value | undefined): Finding["kind"] {
  const kinds = ["table", "index", "trigger", "view"] as const;
  return kinds.find((kind) => kind === type) ?? "table";
}

/** SQLite rewrites the text of a table that it alters, and its versions differ in spaces and quotes. */
function plain(sql: string): string {
  return sql
    .replace(/^\s*--.*$/gm, "")
    .replace(/["\s]+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1")
    .trim();
}

/** A part of the ledger that differs from what the events record. */
interface Finding {
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
    table: "batches",
    kind: "batch",
    event: "plan",
    where: "digest IS NOT NULL",
  });
  yield* auditCallbacks(database);
}

/** @param recorded the row by its events; undefined if they have none */
function findingIn(
  { kind, name }: Pick<Finding, "kind" | "name">,
  stored: TextRow,
  recorded: Partial<Replayed> | undefined,
): Finding[] {
  if (!recorded?.columns)
    return [{ kind, name, problem: "added", columns: [], now: Object.values(stored) }];
  const columns: string[] = [];
  // A column that the events do not know is not compared.
  for (const column in recorded.columns)
    if (
      stored[column] !== recorded.columns[column] &&
      stored[column] !== undefined &&
      !recorded.mayDiffer?.(column, stored)
    )
      columns.push(column);
  if (columns.length === 0) return [];
  const now = columns.map((column) => stored[column] ?? null);
  return [{ kind, name, problem: "changed", columns, now }];
}

function missing({ kind, name }: Pick<Finding, "kind" | "name">): Finding {
  return { kind, name, problem: "missing", columns: [], now: [] };
}

function* auditOperations(database: Database): Iterable<Finding> {
  for (const { stored, recorded } of replayedOperations(database))
    yield* findingIn({ kind: "operation", name: stored.id ?? "" }, stored, recorded);
  const lost = database.prepare(
    `SELECT DISTINCT operation FROM events WHERE operation IS NOT NULL
       AND operation NOT IN (SELECT number FROM operations) LIMIT ${mostFindings}`,
  );
  for (const { operation } of lost.all())
    yield missing({ kind: "operation", name: String(operation) });
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
  const recorded = new Map<string, TextRow>();
  const events = database.prepare(
    "SELECT data FROM events WHERE operation IS NULL AND event = ? ORDER BY number",
  );
  for (const { data } of events.all(event)) {
    const columns = recordedIn(String(data));
    if (columns) recorded.set(keyOf(columns), columns);
  }
  for (const found of database.prepare(`SELECT * FROM ${table} WHERE ${where}`).all()) {
    const stored = immutableColumns(found);
    const key = keyOf(stored);
    const columns = recorded.get(key);
    recorded.delete(key);
    if (columns?.rows !== undefined) stored.rows = digestOfRows(database, numberIn(found.number));
    yield* findingIn({ kind, name: nameOf(stored) }, stored, columns && { columns });
  }
  for (const columns of recorded.values()) yield missing({ kind, name: nameOf(columns) });
}

/** The columns of a row, and the digest of a plan's rows. */
function recordedIn(data: string): TextRow | undefined {
  try {
    const { row, rows }: { row?: unknown; rows?: unknown } = JSON.parse(data);
    if (typeof row !== "object" || row === null) return undefined;
    const columns = Object.entries({ ...row, ...(rows === undefined ? {} : { rows }) });
    return Object.fromEntries(
      columns.map(([name, value]) => [name, value === null ? null : String(value)]),
    );
  } catch {
    return undefined; // The chain reports an event that was changed.
  }
}

function nameOf({ id, number, key_hash: key }: TextRow): string {
  return key ?? id ?? number ?? "";
}

/** Two accounts may have a batch of one ID. */
function keyOf({ number, environment, key_hash: key }: TextRow): string {
  return number ?? `${environment} ${key}`;
}

function* auditCallbacks(database: Database): Iterable<Finding> {
  const all = "SELECT * FROM callbacks WHERE number > ? ORDER BY number";
  for (const row of paged(database, all)) {
    const now = rowDigestOf(row);
    const name = String(row.number);
    if (row.row_digest !== now)
      yield { kind: "callback", name, problem: "changed", columns: [], now: [now] };
  }
}
