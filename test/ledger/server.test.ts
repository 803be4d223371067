import { expect } from "vitest";
import { serverTest, sharedCluster, startCluster } from "../support/postgres.ts";

serverTest("a database can be copied as long as it has no connections", async () => {
  const cluster = await sharedCluster();
  const name = await cluster.create();
  await cluster.run("CREATE TABLE a (b int); INSERT INTO a VALUES (1)", name);
  const copy = await cluster.create(name);
  expect(await cluster.run("SELECT * FROM a", copy)).toEqual([{ b: 1 }]);
});

serverTest("a server that was killed has its rows after a start", async () => {
  const cluster = await startCluster({ hasPort: true });
  await cluster.run("CREATE TABLE a (b int); INSERT INTO a VALUES (1)");
  await cluster.kill();
  await cluster.start({ fsync: "off" });
  expect(await cluster.run("SELECT *, current_setting('fsync') AS fsync FROM a")).toEqual([
    { b: 1, fsync: "off" },
  ]);
});
