import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { serverTest, startCluster } from "../support/postgres.ts";
import { ledgerDatabase, ledgerOf } from "./server-ledger.ts";
import { claim, payout } from "./small-ledger.ts";

serverTest(
  "nothing is sent with a server that can lose what it confirmed, or a replica",
  async () => {
    const cluster = await startCluster();
    const database = await ledgerOf(cluster);
    const { ledger, close } = await database.open();
    await claim(ledger, payout("A"));
    await close();

    const copy = join(cluster.folder, "copy");
    const from = ["-h", cluster.folder, "-U", "postgres", "--no-sync", "-c", "fast"];
    await cluster.program("pg_basebackup", "-D", copy, ...from);
    writeFileSync(join(copy, "standby.signal"), "");
    const replica = await startCluster({ data: copy });
    await cluster.kill();
    await cluster.start({ fsync: "off" });

    for (const [reason, { folder: host }] of [
      ["ledger.server-not-durable", cluster],
      ["ledger.server-replica", replica],
    ] as const) {
      const opened = await database.open({ login: database.login({ host }) });
      await expect(claim(opened.ledger, payout("B"))).rejects.toMatchObject({ reason });
      expect(await opened.ledger.find("A")).toMatchObject({ reference: "A" });
    }
  },
);

serverTest("a commit waits for the disk although the database does not ask for it", async () => {
  const { cluster, name, open } = await ledgerDatabase();
  for (const [setting, used] of [
    ["off", "on"],
    ["local", "on"],
    ["remote_apply", "remote_apply"],
  ]) {
    await cluster.run(`ALTER DATABASE ${name} SET synchronous_commit = ${setting}`);
    const { connection } = await open();
    const rows = await connection.write(({ query }) => query("SHOW synchronous_commit"));
    expect(rows).toEqual([{ synchronous_commit: used }]);
  }
  await cluster.run(`ALTER DATABASE ${name} RESET synchronous_commit`);
});
