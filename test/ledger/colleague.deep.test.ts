import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished } from "vitest";
import { runs } from "../support/helpers.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { plants } from "./plants.ts";
import {
  dayOf,
  type Filled,
  liveDay,
  openSharedShop,
  orders,
  recipients,
  type SharedShop,
  unordered,
} from "./shop.ts";

describe("a colleague with psql", () => {
  let shop: SharedShop;
  let filled: Filled;

  beforeAll(async () => {
    if (isSkipped) return;
    const closing: (() => Promise<void>)[] = [];
    ({ shop, filled } = await openSharedShop((close) => closing.push(close)));
    return async () => {
      for (const close of closing.toReversed()) await close();
    };
  });
  beforeEach(() => shop?.reset());

  serverTest("who changes nothing stops nothing that was ordered", async () => {
    const outcomes = await liveDay(shop, filled);
    expect(outcomes.map(({ code }) => code)).toEqual(dayOf(filled).map(([, code]) => code));
    expect(unordered(shop.moved())).toEqual([]);
    expect(shop.moved()).toHaveLength(6);
  });

  serverTest("restores an older dump under a machine that has seen less", async () => {
    const closing: (() => Promise<void>)[] = [];
    const own = await openSharedShop((close) => closing.push(close));
    onTestFinished(async () => {
      for (const close of closing.toReversed()) await close();
    });
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
