import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished } from "vitest";
import { errorOf } from "../support/lenden.ts";
import { isSkipped, serverTest, sharedCluster } from "../support/postgres.ts";
import { openSharedShop, orders, plant, recipients, type SharedShop, toColleague } from "./shop.ts";

const { payout } = orders;

describe("a colleague with psql", () => {
  let shop: SharedShop;

  beforeAll(async () => {
    if (isSkipped) return;
    const closing: (() => Promise<void>)[] = [];
    ({ shop } = await openSharedShop((close) => closing.push(close)));
    return async () => {
      for (const close of closing.toReversed()) await close();
    };
  });
  beforeEach(() => shop?.reset());

  serverTest("plants a payout of unknown outcome, and resolve does not send it", async () => {
    await plant(shop, "UNKNOWN-1", toColleague("PLANTED-1", 49_000));
    expect((await shop.ben(["ledger", "check"])).code).toBe(0);

    const resolved = await shop.annBuilt(["ledger", "resolve", "PLANTED-1", "--yes", "--json"]);

    expect([resolved.code, errorOf(resolved)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
    expect(shop.moved()).toEqual([]);
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
    const order = payout("800", recipients.next);
    expect((await ann(order)).code).toBe(0);
    await cluster.run(`DROP DATABASE ${database} WITH (FORCE)`);
    await cluster.run(`CREATE DATABASE ${database} TEMPLATE template0`);
    await cluster.program("pg_restore", `--dbname=${cluster.url(database)}`, dump);

    const again = await ben(order);

    expect(again.code).toBe(1);
    expect(moved()).toEqual([`payout 800 ${recipients.next}`]);
  });
});
