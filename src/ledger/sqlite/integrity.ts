import type { Database, Value } from "../../platform/sqlite/database.ts";
import { type Finding, missing, objectKinds } from "../finding.ts";
import { faultsIn } from "../health.ts";
import { type Integrity, type RecordedTable, readIntegrity } from "../integrity.ts";
import { planColumns } from "../plan.ts";
import { wrongReserves } from "../sql/limits.ts";
import { operationsWithHistory, pagesOf, textPagesOf } from "./pages.ts";
import { schema } from "./schema.ts";
import { statementsOn } from "./statements.ts";

/** Reads a whole ledger of the newest schema, and changes nothing in it. */
export async function integrityOf(database: Database): Promise<Integrity> {
  // One snapshot, because other processes may write meanwhile.
  database.exec("BEGIN");
  try {
    return await readIntegrity({
      events: () =>
        textPagesOf(database, eventColumns, "FROM events o WHERE true", {
          by: "o.number",
          values: [],
        }),
      operations: () => operationsWithHistory(database),
      lostOperations: (most) =>
        database
          .prepare(lostInSql)
          .all(BigInt(most))
          .map(({ operation }) => String(operation)),
      rows: (table) => [database.prepare(`SELECT * FROM ${plannedOf(table)}`).all()],
      planRows: (batch) => pagesOf(database, planRowsInSql, { by: "row", values: [batch] }),
      callbacks: () =>
        pagesOf(database, "SELECT * FROM callbacks WHERE number > ? ORDER BY number"),
      wrongReserves: () => statementsOn(database)([{ sql: wrongReserves, values: [] }])[0] ?? [],
      schema: () => auditSchema(database),
      damage: () => faultsIn(database),
    });
  } finally {
    database.exec("COMMIT");
  }
}

const eventColumns = Object.fromEntries(
  ["number", "operation", "batch", "at", "event", "data", "commit_id", "hash"].map((name) => [
    name,
    `o.${name}`,
  ]),
);

function plannedOf(table: RecordedTable): string {
  return table === "batches" ? "batches WHERE row_count IS NOT NULL" : table;
}

const planRowsInSql = `
  SELECT ${planColumns} FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row`;

const lostInSql = `
  SELECT DISTINCT operation FROM events WHERE operation IS NOT NULL
    AND operation NOT IN (SELECT number FROM operations) LIMIT ?`;

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
    findings.push(
      missing({ kind: kindOf(/TABLE|INDEX|TRIGGER/.exec(sql)?.[0].toLowerCase()), name }),
    );
  return findings;
}

function statements(): string[] {
  return schema
    .split(/;(?! END)/)
    .map(plain)
    .filter((sql) => sql !== "");
}

function nameIn(statement: string): string {
  return /(?:TABLE|INDEX|TRIGGER) (\w+)/.exec(statement)?.[1] ?? "";
}

function kindOf(type: Value | undefined): Finding["kind"] {
  return objectKinds.find((kind) => kind === type) ?? "table";
}

/** SQLite rewrites the text of a table that it alters, and its versions differ in spaces and quotes. */
function plain(sql: string): string {
  return sql
    .replace(/^\s*--.*$/gm, "")
    .replace(/["\s]+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1")
    .trim();
}
