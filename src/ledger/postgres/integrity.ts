import { planColumns } from "../chain.ts";
import { type Finding, type Integrity, type RecordedTable, readIntegrity } from "../integrity.ts";
import type { Connection, Query, Row, Value } from "./connection.ts";
import { grants } from "./schema.ts";

/** The findings of a check of a ledger on a server. */
export interface ServerIntegrity extends Integrity {
  server: ServerFinding[];
}

/** What weakens the protection of a ledger, although nothing in it was changed. */
type ServerFinding =
  /** The login can change everything, also the events. */
  | { kind: "superuser" | "owner"; login: string }
  /** The login may change rows that lenden never changes. */
  | { kind: "privilege"; table: string; privilege: string; columns: string[] }
  /** A crash of the server can lose what it confirmed, or text cannot be stored. */
  | { kind: "setting"; name: string; value: string };

/** Reads a whole ledger in one snapshot, and changes nothing in it. */
export function serverIntegrityOf(
  connection: Pick<Connection, "snapshot">,
): Promise<ServerIntegrity> {
  return connection.snapshot(async (query) => {
    const integrity = await readIntegrity({
      events: () => pagesOf(query, "SELECT o.* FROM lenden.events o WHERE true"),
      operations: () => pagesOf(query, operationsWithHistory),
      lostOperations: async (most) =>
        (await query(lostInSql, most)).map(({ operation }) => operation ?? ""),
      rows: (table) => rowsOf(query, table),
      planRows: (batch) => pagesOf(query, planRowsInSql, "row", batch),
      callbacks: () => pagesOf(query, "SELECT o.* FROM lenden.callbacks o WHERE true"),
      // Only the owner can change the schema, and whoever is the owner can change the events too.
      schema: () => auditHead(query),
      damage: () => [],
    });
    return { ...integrity, server: await auditServer(query) };
  });
}

const rowsPerPage = 1_000;

/**
 * The rows `o` that a query selects, by a number and page by page.
 *
 * @param sql ends with a condition
 */
async function* pagesOf(
  query: Query,
  sql: string,
  by = "number",
  ...values: Value[]
): AsyncIterable<Row[]> {
  const page = `${sql} AND o.${by} > $${values.length + 1} ORDER BY o.${by} LIMIT ${rowsPerPage}`;
  // Numbers may have been changed to any value.
  for (let after: Value = -(2n ** 63n); ; ) {
    const rows = await query(page, ...values, after);
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1)?.[by] ?? null;
  }
}

const operationsWithHistory = `
  SELECT o.*, (SELECT json_agg(json_build_object('at', e.at, 'event', e.event, 'data', e.data) ORDER BY e.number)
    FROM lenden.events e WHERE e.operation = o.number) AS history
  FROM lenden.operations o WHERE true`;

const lostInSql = `
  SELECT DISTINCT e.operation FROM lenden.events e
  WHERE e.operation IS NOT NULL
    AND NOT EXISTS (SELECT FROM lenden.operations o WHERE o.number = e.operation)
  ORDER BY 1 LIMIT $1`;

const planRowsInSql = `
  SELECT ${planColumns.map((name) => `o."${name}"`).join(", ")} FROM lenden.batch_rows o
  WHERE o.batch = $1`;

function rowsOf(query: Query, table: RecordedTable): AsyncIterable<Row[]> {
  if (table === "batches")
    return pagesOf(query, "SELECT o.* FROM lenden.batches o WHERE o.digest IS NOT NULL");
  if (table === "accounts") return pagesOf(query, "SELECT o.* FROM lenden.accounts o WHERE true");
  return (async function* () {
    yield await query("SELECT * FROM lenden.account_keys");
  })();
}

/** The head decides the number and the hash of the next event, and the number of the next operation. */
async function auditHead(query: Query): Promise<Finding[]> {
  const [head = {}] = await query(headInSql);
  const [newest = {}] = await query(newestInSql);
  const columns = Object.keys(newest).filter((name) => head[name] !== newest[name]);
  if (columns.length === 0) return [];
  const now = columns.map((name) => head[name] ?? null);
  return [{ kind: "table", name: "head", problem: "changed", columns, now }];
}

const headInSql = "SELECT number, hash, operation FROM lenden.head";
const newestInSql = `
  SELECT coalesce(e.number, 0) AS number, coalesce(e.hash, repeat('0', 64)) AS hash,
    (SELECT coalesce(max(o.number), 0) FROM lenden.operations o) AS operation
  FROM (VALUES (1)) one LEFT JOIN (
    SELECT number, hash FROM lenden.events ORDER BY number DESC LIMIT 1) e ON true`;

/** What the login may do beyond what lenden needs, and settings that can lose what was confirmed. */
async function auditServer(query: Query): Promise<ServerFinding[]> {
  const [login = {}] = await query(loginInSql);
  const name = login.name ?? "";
  const findings: ServerFinding[] = [];
  if (login.is_superuser === "t") findings.push({ kind: "superuser", login: name });
  else if (login.is_owner === "t") findings.push({ kind: "owner", login: name });
  else findings.push(...(await auditPrivileges(query)));
  for (const { name, value } of await query(settingsInSql, Object.keys(safeSettings)))
    if (name && value && !safeSettings[name]?.includes(value))
      findings.push({ kind: "setting", name, value });
  return findings;
}

const loginInSql = `
  SELECT current_user AS name, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
    EXISTS (SELECT FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid
      WHERE n.nspname = 'lenden' AND (pg_has_role(n.nspowner, 'MEMBER')
        OR pg_has_role(c.relowner, 'MEMBER'))) AS is_owner`;

const safeSettings: Record<string, string[]> = {
  fsync: ["on"],
  full_page_writes: ["on"],
  synchronous_commit: ["on", "remote_apply"],
  server_encoding: ["UTF8"],
};

const settingsInSql =
  "SELECT name, setting AS value FROM pg_settings WHERE name = ANY($1::text[]) ORDER BY name";

async function auditPrivileges(query: Query): Promise<ServerFinding[]> {
  const needed = neededPrivileges();
  const findings: ServerFinding[] = [];
  for (const { table, privilege, columns } of await query(privilegesInSql)) {
    const own = needed.get(`${privilege} ${table}`);
    const more = (columns?.split(",") ?? []).filter((one) => own && !own.includes(one));
    if (!own || (own.length > 0 && more.length > 0))
      findings.push({
        kind: "privilege",
        table: table ?? "",
        privilege: privilege ?? "",
        columns: own ? more : [],
      });
  }
  return findings;
}

/** The columns that lenden has to change, by privilege and table; an empty list stands for all columns. */
function neededPrivileges(): Map<string, string[]> {
  const found = grants.matchAll(/GRANT ([A-Z, ]+?)(?: \(([^)]*)\))? ON ([\w., \n]+?) TO/g);
  return new Map(
    [...found].flatMap(([, privileges = "", columns, names = ""]) =>
      privileges
        .split(", ")
        .flatMap((privilege) =>
          names
            .split(",")
            .map((name): [string, string[]] => [
              `${privilege} ${name.trim().replace("lenden.", "")}`,
              columns?.split(",").map((one) => one.trim()) ?? [],
            ]),
        ),
    ),
  );
}

const privilegesInSql = `
  WITH tables AS (
    SELECT oid, relname::text AS "table" FROM pg_class
    WHERE relnamespace = 'lenden'::regnamespace AND relkind = 'r'
  )
  SELECT t."table", p AS privilege, NULL AS columns
  FROM tables t CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) p
  WHERE has_table_privilege(t.oid, p)
  UNION ALL
  SELECT t."table", 'UPDATE', string_agg(a.attname, ',' ORDER BY a.attnum)
  FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE has_column_privilege(t.oid, a.attnum, 'UPDATE') GROUP BY 1
  ORDER BY 1, 2`;
