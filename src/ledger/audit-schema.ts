import type { Database } from "../sqlite/database.ts";
import { openDatabase } from "../sqlite/open.ts";
import type { Finding } from "./audit.ts";
import { migrate } from "./schema.ts";

/**
 * Compares tables, indexes, triggers and views with those that the migrations create: a trigger could
 * change what is written, and a dropped index could let a reference be used twice.
 */
export async function auditSchema(database: Database): Promise<Finding[]> {
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
