import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished } from "vitest";
import { phases, states } from "../../src/domain/state.ts";
import { runs } from "../support/helpers.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { plants } from "./plants.ts";
import {
  dayOf,
  type Filled,
  liveDay,
  opening,
  openSharedShop,
  orders,
  recipients,
  type SharedShop,
  unordered,
} from "./shop.ts";

describe("a colleague with psql", () => {
  let shop: SharedShop;
  let filled: Filled;

  beforeAll(() => {
    if (isSkipped) return undefined;
    return opening(async (atEnd) => {
      ({ shop, filled } = await openSharedShop(atEnd));
    });
  });
  beforeEach(() => shop?.reset());

  serverTest("who changes nothing stops nothing that was ordered", async () => {
    const outcomes = await liveDay(shop, filled);
    expect(outcomes.map(({ code }) => code)).toEqual(dayOf(filled).map(([, code]) => code));
    expect(unordered(shop.moved())).toEqual([]);
    expect(shop.moved()).toHaveLength(6);
  });

  serverTest("restores an older dump under a machine that has seen less", async () => {
    const own = await openSharedShop(onTestFinished);
    const cluster = await sharedCluster();
    const { database, ann, ben, moved } = own.shop;
    const dump = join(cluster.folder, "ledger.dump");
    await cluster.program("pg_dump", "--format=custom", `--file=${dump}`, cluster.url(database));
    const order = orders.payout("800", recipients.next);
    expect((await ann(order)).code).toBe(0);
    await cluster.run(`DROP DATABASE ${database} WITH (FORCE)`);
    await cluster.run(`CREATE DATABASE ${database} TEMPLATE template0`);
    await cluster.program("pg_restore", `--dbname=${cluster.url(database)}`, dump);

    const again = await ben(order);

    expect(again.code).toBe(1);
    expect(moved()).toEqual([`payout 800 ${recipients.next}`]);
  });

  serverTest(
    "changes any column that he may change: nothing else is paid, and the check finds it",
    { timeout: 3_600_000 },
    async () => {
      expect(await unexpectedAfter(spread(await changesOf(shop), 12))).toEqual([]);
    },
  );

  serverTest(
    "inserts a copy of any row with any value in any column: nothing else is paid, and the check finds it",
    { timeout: 3_600_000 },
    async () => {
      const insertions = await insertionsOf(shop);
      for (const { sql } of insertions.filter(({ column }) => column === ""))
        expect([sql, await wasDone(shop, sql)]).toEqual([sql, true]);
      const varied = insertions.filter(({ column }) => column !== "");
      expect(await unexpectedAfter(spread(varied, 16, 600))).toEqual([]);
    },
  );

  serverTest("deletes and truncates nothing but callbacks", async () => {
    const { rows: tables } = await shop.colleague.query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'lenden' ORDER BY 1",
    );
    const allowed: string[] = [];
    for (const { name } of tables)
      for (const sql of [`DELETE FROM ${name}`, `TRUNCATE ${name}`])
        if (await wasDone(shop, sql)) allowed.push(sql);
    expect(allowed).toEqual(["DELETE FROM callbacks"]);
    await shop.alter("DELETE FROM callbacks");
    const outcomes = await liveDay(shop, filled);
    expect(outcomes.map(({ code }) => code)).toEqual(dayOf(filled).map(([, code]) => code));
    expect(unordered(shop.moved())).toEqual([]);
  });

  /** What was paid without an order, or not found by the check, after each statement that the server allows. */
  async function unexpectedAfter(statements: Statement[]): Promise<string[]> {
    const unexpected: string[] = [];
    for (const { table, column, sql, isInsert = false } of statements) {
      await shop.reset();
      const done = await shop.colleague.query(sql).catch(() => undefined);
      if (!done?.rowCount) continue; // The server rejects it, or no row has another value.
      const { code } = await shop.ben(["ledger", "check"]);
      await liveDay(shop, filled);
      const moved = unordered(shop.moved());
      if (moved.length > 0) unexpected.push(`${sql}: ${moved}`);
      const [known, name] = [isInsert ? unnoticedCopies : unnoticed, `${table}.${column}`];
      if (code === 0 && !known.has(table) && !known.has(name)) unexpected.push(`${sql}: unnoticed`);
    }
    return unexpected;
  }

  serverTest.each(spread(plants, 8))("plants %s, and nothing else is paid", async (_, plant) => {
    await plant(shop);
    await liveDay(shop, filled);
    expect(unordered(shop.moved())).toEqual([]);
  });
});

/** So many of a list, evenly; in a deep run all of them, or at most so many. */
function spread<One>(all: One[], usual: number, most = all.length): One[] {
  const every = Math.max(1, Math.floor(all.length / runs(usual, Math.min(most, all.length))));
  return all.filter((_, place) => place % every === 0);
}

/** True if the server allows a statement, which is undone. */
async function wasDone({ colleague }: SharedShop, sql: string): Promise<boolean> {
  await colleague.query("BEGIN");
  const done = await colleague.query(sql).catch(() => undefined);
  await colleague.query("ROLLBACK");
  return done !== undefined && done.rowCount !== 0;
}

/** Who works on what, and until when, is no record: such a change only stops commands, or lets them take over. */
const unnoticed = new Set([
  ...["operations.process", "operations.held_since", "batches.process", "batches.held_since"],
  ...["processes.lease_until", "processes.ended_at", "listeners.process", "listeners.held_since"],
  ...["callbacks.count", "callbacks.looks", "callbacks.due_at"],
]);
/** Nor is what no planned batch has. */
const unnoticedCopies = new Set([
  "processes",
  "listeners",
  "batch_rows.batch",
  "batches.row_count",
]);

interface Statement {
  table: string;
  /** Empty for a copy without another value. */
  column: string;
  sql: string;
  isInsert?: boolean;
}

/** The columns that the server lets him write, by table. */
async function writable({ colleague }: SharedShop, privilege: "INSERT" | "UPDATE") {
  const { rows } = await colleague.query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS table, c.column_name AS column, k.data_type AS type
     FROM information_schema.column_privileges c
       JOIN information_schema.columns k USING (table_schema, table_name, column_name)
     WHERE c.table_schema = 'lenden' AND c.privilege_type = $1 AND c.grantee = 'lenden_writer'
     ORDER BY c.table_name, k.ordinal_position`,
    [privilege],
  );
  return rows;
}

/** Values of a column: plausible ones, and those of rows. */
async function allValues({ colleague }: SharedShop, { table, column, type }: Column) {
  const { rows: stored } = await colleague.query(
    `SELECT DISTINCT quote_nullable("${column}"::text) AS value FROM ${table} LIMIT 4`,
  );
  const ofRows = stored.map(({ value }) => `CAST(${value} AS ${type})`);
  return new Set([...valuesOf(column, type), ...ofRows, "NULL"]);
}
type Column = Record<"table" | "column" | "type", string>;

/** What the server lets him change, with values of each column's type, and those of other rows. */
async function changesOf(shop: SharedShop): Promise<Statement[]> {
  const changes: Statement[] = [];
  for (const one of await writable(shop, "UPDATE")) {
    const { table, column } = one;
    for (const value of await allValues(shop, one)) {
      const sql = `UPDATE ${table} SET "${column}" = ${value}
        WHERE "${column}" IS DISTINCT FROM ${value}`;
      changes.push({ table, column, sql });
    }
  }
  return changes;
}

/** The rows that are copied: one of each kind. */
const copied: Record<string, string> = {
  operations:
    "SELECT DISTINCT ON (kind) 'number = ' || number AS which FROM operations ORDER BY kind, number DESC",
  events:
    "SELECT DISTINCT ON (event) 'number = ' || number AS which FROM events ORDER BY event, number DESC",
  batches: "SELECT 'number = ' || number AS which FROM batches ORDER BY number",
  batch_rows: `SELECT DISTINCT ON (batch) 'batch = ' || batch || ' AND "row" = ' || "row" AS which
    FROM batch_rows ORDER BY batch, "row" DESC`,
};

/** What a copy needs of its own to be no duplicate for the server. */
const freshValues: Record<string, Record<string, string>> = {
  operations: { id: "id || 'X'", reference: "reference || 'X'", number: "number + 1000" },
  events: { number: "(SELECT max(number) + 1 FROM events)" },
  batches: { id: "id || 'X'", identity: "identity || '0'", number: "number + 1000" },
  batch_rows: { row: '"row" + 1' },
  processes: { id: "id || 'X'" },
  accounts: { name: "name || 'X'" },
  account_keys: { key_hash: "key_hash || 'X'" },
  listeners: { account: "account + 1" },
};

/** Copies of rows, each with one value of a column that the server lets him insert. */
async function insertionsOf(shop: SharedShop): Promise<Statement[]> {
  const insertions: Statement[] = [];
  const all = await writable(shop, "INSERT");
  for (const table of new Set(all.map((one) => one.table))) {
    const columns = all.filter((one) => one.table === table);
    const names = columns.map(({ column }) => column);
    const { rows } = await shop.colleague.query(copied[table] ?? "SELECT 'true' AS which");
    for (const { which } of rows) {
      const insert = (column: string, value: string) => {
        const values = names.map((name) =>
          name === column ? value : (freshValues[table]?.[name] ?? `"${name}"`),
        );
        const sql = `INSERT INTO ${table} (${names.map((name) => `"${name}"`)})
          SELECT ${values} FROM (SELECT * FROM ${table} WHERE ${which} LIMIT 1) copied`;
        insertions.push({ table, column, sql, isInsert: true });
      };
      insert("", "");
      for (const one of columns)
        for (const value of await allValues(shop, one)) insert(one.column, value);
    }
  }
  return insertions;
}

function valuesOf(column: string, type: string): string[] {
  const texts = (...all: readonly string[]) => all.map((one) => `'${one}'`);
  // Any other number says the same as 0.
  if (column === "accepted") return ["0", "1"];
  if (type === "bigint") return ["0", `"${column}" + 1`, `"${column}" - 1`];
  if (type.startsWith("timestamp")) return ["'-infinity'", "'infinity'", "clock_timestamp()"];
  if (column === "state") return texts(...states);
  if (column === "phase") return texts(...phases);
  if (column === "status") return texts("Processing", "Completed", "Cancelled");
  if (/_at$|_since$/.test(column))
    return texts("2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z");
  return texts("", "other");
}
