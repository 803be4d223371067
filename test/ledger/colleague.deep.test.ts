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
      const unexpected: string[] = [];
      for (const { table, column, sql } of spread(await changesOf(shop), 12)) {
        await shop.reset();
        const changed = await shop.colleague.query(sql).catch(() => undefined);
        if (!changed?.rowCount) continue; // The server rejects it, or no row has another value.
        const { code } = await shop.ben(["ledger", "check"]);
        await liveDay(shop, filled);
        const moved = unordered(shop.moved());
        if (moved.length > 0) unexpected.push(`${sql}: ${moved}`);
        if (code === 0 && !unnoticed.has(`${table}.${column}`))
          unexpected.push(`${sql}: unnoticed`);
      }
      expect(unexpected).toEqual([]);
    },
  );

  serverTest.each(spread(plants, 8))("plants %s, and nothing else is paid", async (_, plant) => {
    await plant(shop);
    await liveDay(shop, filled);
    expect(unordered(shop.moved())).toEqual([]);
  });
});

/** So many of a list, evenly; all of them in a deep run. */
function spread<One>(all: One[], usual: number): One[] {
  const every = Math.floor(all.length / runs(usual, all.length));
  return all.filter((_, place) => place % every === 0);
}

/** Who works on what, and until when, is no record: such a change only stops commands, or lets them take over. */
const unnoticed = new Set([
  ...["operations.process", "operations.held_since", "batches.process", "batches.held_since"],
  ...["processes.lease_until", "processes.ended_at", "listeners.process", "listeners.held_since"],
]);

interface Change {
  table: string;
  column: string;
  sql: string;
}

/** What the server lets him change, with values of each column's type, and those of other rows. */
async function changesOf({ colleague }: SharedShop): Promise<Change[]> {
  const { rows } = await colleague.query(`
    SELECT c.table_name AS table, c.column_name AS column, k.data_type AS type
    FROM information_schema.column_privileges c
      JOIN information_schema.columns k USING (table_schema, table_name, column_name)
    WHERE c.table_schema = 'lenden' AND c.privilege_type = 'UPDATE' AND c.grantee = 'lenden_writer'
    ORDER BY c.table_name, k.ordinal_position`);
  const changes: Change[] = [];
  for (const { table, column, type } of rows) {
    const { rows: stored } = await colleague.query(
      `SELECT DISTINCT quote_nullable("${column}"::text) AS value FROM ${table} LIMIT 4`,
    );
    const ofRows = stored.map(({ value }) => `CAST(${value} AS ${type})`);
    for (const value of new Set([...valuesOf(column, type), ...ofRows, "NULL"])) {
      const sql = `UPDATE ${table} SET "${column}" = ${value}
        WHERE "${column}" IS DISTINCT FROM ${value}`;
      changes.push({ table, column, sql });
    }
  }
  return changes;
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
