import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished } from "vitest";
import { fileOf } from "../batch/files.ts";
import { type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { runs, until } from "../support/helpers.ts";
import { built, ended, errorOf, lenden, startBuilt } from "../support/lenden.ts";
import { openMerchant, paymentOf, payoutOf } from "../support/merchant.ts";
import { expectPaidOnce, payeesOf, sendOf } from "../support/payees.ts";
import { type Cluster, serverTest, sharedCluster, startCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";

const limit = ["--timeout", "3s"];

/** A merchant whose ledger is behind a proxy. */
async function behindProxy(cluster: Cluster) {
  const { database } = await teamLedger(cluster, "ann");
  const proxy = await startCutProxy(cluster);
  const merchant = await openMerchant();
  const env = machine(merchant, proxy.url(database, "ann"));
  return { cluster, database, proxy, merchant: { ...merchant, env } };
}

async function timed(line: string[], env: Record<string, string>) {
  const startedMs = performance.now();
  const outcome = await built([...line, "--json"], { env });
  const { reason, effect } = errorOf(outcome);
  return { line, code: outcome.code, reason, effect, ms: performance.now() - startedMs, outcome };
}

describe("--timeout limits the wait for a server", () => {
  serverTest("that does not respond: exit 69, and nothing is sent", async () => {
    const { proxy, database, merchant } = await behindProxy(await sharedCluster());
    const { env } = merchant;
    expect(await built(payoutOf("FIRST"), { env })).toMatchObject({ code: 0 });
    const before = await merchant.moneyRequests();
    proxy.isSilent = true;
    const lines = [
      payoutOf("SECOND"),
      paymentOf("a lamp"),
      ["payout", "list"],
      ["ledger", "check"],
      ["ledger", "processes"],
      ["ledger", "init", proxy.url(database)],
    ];
    for (const line of lines) {
      const end = await timed([...line, ...limit], env);
      expect(end).toMatchObject({
        line: [...line, ...limit],
        code: 69,
        reason: "ledger.unreachable",
      });
      // Without the limit it is ten seconds.
      expect(end.ms).toBeLessThan(9_000);
    }
    expect((await timed(payoutOf("SECOND", ...limit), env)).effect).toBe("nothing-sent");
    const { code, ms } = await timed(["doctor", ...limit], env);
    expect([code, ms < 9_000]).toEqual([1, true]);
    expect(await merchant.moneyRequests()).toEqual(before);
    proxy.isSilent = false;
    expect(await built(payoutOf("SECOND"), { env })).toMatchObject({ code: 0 });
  });

  serverTest("whose ledger is locked: exit 7 names the login, and nothing is sent", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant();
    const env = machine(merchant, url("ann"));
    expect(await built(payoutOf("FIRST"), { env })).toMatchObject({ code: 0 });
    const before = await merchant.moneyRequests();
    const other = await cluster.connect(database, { user: "bo" });
    await other.query("BEGIN; SELECT 1 FROM lenden.head FOR UPDATE");
    for (const line of [payoutOf("SECOND"), paymentOf("a lamp")]) {
      const { code, reason, ms, outcome } = await timed([...line, ...limit], env);
      expect([code, reason]).toEqual([7, "ledger.server-busy"]);
      expect(outcome.stderr).toContain("by login bo");
      expect(ms).toBeLessThan(9_000);
    }
    expect(await merchant.moneyRequests()).toEqual(before);
    await other.query("ROLLBACK");
    expect(await built(payoutOf("SECOND"), { env })).toMatchObject({ code: 0 });
  });
});

type Outage = (given: { proxy: CutProxy; cluster: Cluster }) => Promise<() => Promise<void>>;

/** How a server goes away; the returned function brings it back. */
const outages: [string, Outage][] = [
  [
    "is killed",
    async ({ cluster }) => {
      await cluster.kill();
      return () => cluster.start();
    },
  ],
  [
    "stands still with all its processes",
    async ({ cluster: { data } }) => {
      const [main = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      process.kill(Number(main), "SIGSTOP");
      // From now on it starts no further process.
      const children = readFileSync(`/proc/${main}/task/${main}/children`, "utf8").trim();
      const all = [main, ...children.split(" ")].map(Number);
      const signal = (name: NodeJS.Signals) => {
        for (const pid of all) if (existsSync(`/proc/${pid}`)) process.kill(pid, name);
      };
      signal("SIGSTOP");
      onTestFinished(() => signal("SIGCONT"));
      return async () => signal("SIGCONT");
    },
  ],
  [
    "cannot be reached, and no one is told",
    async ({ proxy }) => {
      proxy.isSilent = true;
      return async () => {
        proxy.isSilent = false;
        proxy.cut();
      };
    },
  ],
];

serverTest.for(outages)(
  "a server that %s in the middle of a batch ends it within 25 s, and each row is paid once",
  async ([, goAway]) => {
    const given = await behindProxy(await startCluster());
    const { merchant } = given;
    const payees = payeesOf("GONE", runs(80, 200));
    const sending = startBuilt(sendOf(payees, "--rate", "20", "--json"), merchant.env);
    const end = ended(sending);
    await until(async () => (await merchant.count("payouts")) >= 20);

    const comeBack = await goAway(given);
    const startedMs = performance.now();
    const { code, stderr } = await end;

    // 15 s, and 10 s more if the batch was about to lock the ledger.
    expect(performance.now() - startedMs).toBeLessThan(25_000);
    expect([69, 75]).toContain(code);
    expect(errorOf({ stderr }).effect).toBe(code === 75 ? "outcome-unknown" : "partly-sent");
    expect(stderr).toContain("Cannot reach the ledger");
    const { message } = errorOf({ stderr });
    const [, accepted = ""] = /(\d+) of \d+ rows/.exec(String(message)) ?? [];
    const [, unsent = "0"] = /(\d+) rows were not sent/.exec(String(message)) ?? [];
    const paid = await merchant.count("payouts");
    expect([Number(accepted) > 0, Number(accepted) <= paid]).toEqual([true, true]);
    expect(Number(unsent)).toBeLessThanOrEqual(payees.rows.length - paid);
    await comeBack();
    await until(async () => (await built(["ledger", "check"], { env: merchant.env })).code === 0);
    // Others take over what the process left 90 s after it was last heard of.
    await given.cluster.run(
      "UPDATE lenden.processes SET lease_until = clock_timestamp() - interval '100 s'",
      given.database,
    );
    expect(await built(sendOf(payees), { env: merchant.env })).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
  },
);

serverTest("a batch survives a server that comes back within ten seconds", async () => {
  const given = await behindProxy(await startCluster());
  const { merchant, cluster } = given;
  const payees = payeesOf("BACK", 60);
  const end = ended(startBuilt(sendOf(payees, "--rate", "20"), merchant.env));
  await until(async () => (await merchant.count("payouts")) >= 20);
  await cluster.kill();
  await cluster.start();
  expect(await end).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
});

serverTest("work on a large plan may take longer than the server may be silent", async () => {
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann");
  const merchant = await openMerchant();
  const admin = await cluster.connect(database);
  const waiting = async () => {
    const { rows } = await admin.query(
      "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'lenden.batch_rows'::regclass",
    );
    return rows;
  };
  // Rows of plans can be read, and storing them takes as long as this transaction does.
  await admin.query("BEGIN; LOCK TABLE lenden.batch_rows IN SHARE MODE");
  const file = fileOf("amount,to,method\n5,01712345678,bkash\n");
  const sent = lenden(["payout", "batch", "send", file], { env: machine(merchant, url("ann")) });
  await until(async () => (await waiting()).length > 0);
  const first = await waiting();
  await delay(8_600);
  expect(await waiting()).toEqual(first);
  await admin.query("COMMIT");
  expect(await sent).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});
