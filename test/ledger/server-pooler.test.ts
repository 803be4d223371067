import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { until } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { openMerchant, payoutOf } from "../support/merchant.ts";
import { expectPaidOnce, payeesOf, sendOf } from "../support/payees.ts";
import { asServer, poolerTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";

poolerTest(
  "pays once behind a pooler that gives each transaction another session, also after a failed statement",
  async () => {
    const cluster = await sharedCluster();
    const { database } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant();
    const pooled = (login: string) =>
      cluster.url(database, login).replace(`:${cluster.port}/`, ":6432/");
    await startPooler(cluster.folder, cluster.port);
    const [ann, bo] = [machine(merchant, pooled("ann")), machine(merchant, pooled("bo"))];
    await until(async () => (await lenden(["ledger", "processes"], { env: ann })).code === 0);
    const payees = payeesOf("POOL", 40);
    const runs = [ann, bo].map((env) => built(sendOf(payees), { env }));
    const codes = (await Promise.all(runs)).map(({ code }) => code);
    expect(codes).toContain(0);
    expect([0, 7]).toContain(codes.find((code) => code !== 0) ?? 0);
    await expectPaidOnce({ ...merchant, env: ann }, payees);
    expect((await lenden(payoutOf("A"), { env: ann })).code).toBe(0);
    const same = await lenden([...payoutOf("A"), "--json"], { env: bo });
    expect(JSON.parse(same.stdout)).toMatchObject({ existing: true });
    await cluster.run("REVOKE INSERT ON lenden.events FROM lenden_writer", database);
    expect((await lenden(payoutOf("B"), { env: ann })).code).toBe(4);
    await cluster.run("GRANT INSERT ON lenden.events TO lenden_writer", database);
    expect((await lenden(payoutOf("B"), { env: ann })).code).toBe(0);
  },
);

async function startPooler(folder: string, port: number): Promise<void> {
  const settings = join(folder, "pooler.ini");
  const users = join(folder, "pooler.txt");
  writeFileSync(users, '"ann" ""\n"bo" ""\n');
  writeFileSync(
    settings,
    `[databases]
* = host=${folder} port=${port}
[pgbouncer]
pool_mode = transaction
default_pool_size = 3
unix_socket_dir = ${folder}
listen_port = 6432
auth_type = trust
auth_file = ${users}
`,
  );
  const [command = "", ...args] = asServer(["/usr/sbin/pgbouncer", "-q", settings]);
  const pooler = spawn(command, args, { stdio: "ignore", cwd: folder });
  onTestFinished(() => void pooler.kill("SIGKILL"));
}
