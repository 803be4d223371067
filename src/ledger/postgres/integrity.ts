import { type Integrity, type RecordedTable, readIntegrity } from "../integrity.ts";
import { planColumns } from "../plan.ts";
import { wrongReserves } from "../sql/limits.ts";
import { isTrue } from "../values.ts";
import type { Connection, Query, Row, Value } from "./connection.ts";
import { ownerRights, ownerRole, writerRights } from "./schema.ts";

/** The findings of a check of a ledger on a server. */
export interface ServerIntegrity extends Integrity {
  server: ServerFinding[];
}

/** What weakens the protection of a ledger, although nothing in it was changed. */
type ServerFinding =
  /** The login can change everything, also the events. */
  | { kind: "superuser" | "owner"; login: string }
  /** A login may write what lenden never writes: an empty list of columns stands for the whole table. */
  | { kind: "privilege"; login: string; table: string; privilege: string; columns: string[] }
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
      wrongReserves: () => query(wrongReserves),
      callbacks: () => pagesOf(query, "SELECT o.* FROM lenden.callbacks o WHERE true"),
      // Only the owner can change the schema, and whoever is the owner can change the events too.
      schema: () => [],
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
  SELECT o.*, (SELECT json_agg(json_build_object('at', e.at, 'event', e.event, 'data', e.data, 'login', e.login)
      ORDER BY e.number)
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
    return pagesOf(query, "SELECT o.* FROM lenden.batches o WHERE o.row_count IS NOT NULL");
  if (table === "accounts") return pagesOf(query, "SELECT o.* FROM lenden.accounts o WHERE true");
  return (async function* () {
    yield await query("SELECT * FROM lenden.account_keys");
  })();
}

/** What logins may do beyond what lenden needs, and settings that can lose what was confirmed. */
async function auditServer(query: Query): Promise<ServerFinding[]> {
  const [login = {}] = await query(loginInSql);
  const name = login.name ?? "";
  const findings: ServerFinding[] = [];
  if (login.is_superuser === "t") findings.push({ kind: "superuser", login: name });
  else if (login.is_owner === "t") findings.push({ kind: "owner", login: name });
  findings.push(...(await auditPrivileges(query)));
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

/** Of every login that can use the ledger, whoever runs the check. */
async function auditPrivileges(query: Query): Promise<ServerFinding[]> {
  const findings: ServerFinding[] = [];
  for (const { login, table, privilege, columns, sets_limits } of await query(privilegesInSql)) {
    const isOfOwner = table === "limits" && isTrue(sets_limits ?? null);
    const own = isOfOwner ? { insert: ownerRights } : writerRights[table ?? ""];
    const named = { kind: "privilege", login: login ?? "", table: table ?? "" } as const;
    if (privilege === "INSERT" || privilege === "UPDATE") {
      const needed = privilege === "INSERT" ? own?.insert : own?.update;
      const more = (columns?.split(",") ?? []).filter((one) => !needed?.includes(one));
      // Without a list, the login may do it although lenden never does.
      if (more.length > 0) findings.push({ ...named, privilege, columns: needed ? more : [] });
    } else if (privilege !== "DELETE" || !own?.delete)
      findings.push({ ...named, privilege: privilege ?? "", columns: [] });
  }
  return findings;
}

const privilegesInSql = `
  WITH logins AS (
    SELECT r.oid, r.rolname::text AS login, EXISTS (SELECT FROM pg_roles o
        WHERE o.rolname = '${ownerRole}' AND pg_has_role(r.oid, o.oid, 'MEMBER')) AS sets_limits
    FROM pg_roles r
    JOIN pg_namespace n ON n.nspname = 'lenden'
    WHERE (r.rolcanlogin OR r.rolname = current_user) AND NOT r.rolsuper
      AND has_schema_privilege(r.oid, n.oid, 'USAGE') AND NOT pg_has_role(r.oid, n.nspowner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_class c
        WHERE c.relnamespace = n.oid AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
  ), tables AS (
    SELECT oid, relname::text AS "table" FROM pg_class
    WHERE relnamespace = 'lenden'::regnamespace AND relkind IN ('r', 'p')
  )
  SELECT l.login, t."table", p AS privilege, NULL AS columns, l.sets_limits
  FROM logins l CROSS JOIN tables t CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) p
  WHERE has_table_privilege(l.oid, t.oid, p)
  UNION ALL
  SELECT l.login, t."table", p, string_agg(a.attname, ',' ORDER BY a.attnum), l.sets_limits
  FROM logins l CROSS JOIN tables t CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE']) p
  JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE has_column_privilege(l.oid, t.oid, a.attnum, p) GROUP BY 1, 2, 3, 5
  ORDER BY 1, 2, 3`;
