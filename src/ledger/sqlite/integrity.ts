import { createHash } from "node:crypto";
import type { Database } from "../../platform/sqlite/database.ts";
import { openDatabase } from "../../platform/sqlite/open.ts";
import { type Head, headOf } from "../head.ts";
import { faultsIn } from "../health.ts";
import { auditRows, type Finding } from "./audit.ts";
import { openChain } from "./chain.ts";
import { type Acceptance, lastAcceptance } from "./recorded.ts";
import { migrate } from "./schema.ts";

/** What was found in a ledger, of all accounts. */
export interface Integrity {
  /** How many events follow each other. */
  events: number;
  /** The first event that does not follow from the one before it. */
  brokenAt: number | null;
  /** What is not as the events tell. */
  modified: Finding[];
  /** What SQLite finds wrong with the file. */
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

/** How many events follow each other, the first that does not, and what is not as they tell. */
export function verifyEvents(database: Database) {
  return {
    ...openChain(database).walk(),
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

/** What a user accepts who accepts a modified ledger: exactly this, and nothing that is modified later. */
export function findingsDigest({ brokenAt, modified, damage }: Integrity): string {
  return createHash("sha256")
    .update(JSON.stringify([brokenAt, modified, damage]))
    .digest("hex");
}

/** True if the ledger is as its events tell, or as a user accepted it. */
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
