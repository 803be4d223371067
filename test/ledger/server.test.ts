import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { type Cut, startCutProxy } from "../support/cut-proxy.ts";
import { serverTest, sharedCluster, startCluster } from "../support/postgres.ts";

serverTest("a server that was killed has its rows after a start", async () => {
  const cluster = await startCluster({ hasPort: true });
  await cluster.run("CREATE TABLE a (b int); INSERT INTO a VALUES (1)");
  await cluster.kill();
  await cluster.start({ fsync: "off" });
  expect(await cluster.run("SELECT *, current_setting('fsync') AS fsync FROM a")).toEqual([
    { b: 1, fsync: "off" },
  ]);
});

serverTest.for<[Cut, boolean, boolean]>([
  ["before", false, false],
  ["half", false, false],
  ["late", false, true],
  ["unanswered", false, true],
  ["after", true, true],
])("a connection cut %s COMMIT: answered %s, committed %s", async ([cut, isAnswered, isStored]) => {
  const cluster = await sharedCluster();
  const database = await cluster.create();
  await cluster.run("CREATE TABLE a (b int)", database);
  const proxy = await startCutProxy(cluster);
  const client = new pg.Client({ host: proxy.folder, database, user: "postgres", password: "" });
  client.on("error", () => {});
  await client.connect();
  await client.query("BEGIN");
  await client.query("INSERT INTO a VALUES ($1)", [1]);
  proxy.onCommit = () => cut;
  const answered = await client.query("COMMIT").then(
    ({ command }) => command === "COMMIT",
    () => false,
  );
  await delay(cut === "late" ? 1_000 : 50);
  expect([answered, (await cluster.run("SELECT * FROM a", database)).length]).toEqual([
    isAnswered,
    isStored ? 1 : 0,
  ]);
  await expect(client.query("SELECT 1")).rejects.toThrow();
});
