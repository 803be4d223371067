import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { serverIntegrityOf } from "../../src/ledger/postgres/integrity.ts";
import type { ServerWorker } from "../../src/ledger/postgres/processes.ts";
import { eventColumns } from "../../src/ledger/sql/transaction.ts";
import { type Cut, startCutProxy } from "../support/cut-proxy.ts";
import { until } from "../support/helpers.ts";
import { serverTest, startCluster } from "../support/postgres.ts";
import { type LedgerDatabase, ledgerDatabase, ledgerOf } from "./server-ledger.ts";
import { claim, claimed, payout, record, sealer } from "./small-ledger.ts";

/** A ledger behind a proxy, and a process that uses it. */
async function behindProxy(given: Partial<ServerWorker> = {}) {
  const database = await ledgerDatabase();
  const proxy = await startCutProxy(database.cluster);
  const login = database.login({ host: proxy.folder, port: 5432 });
  const opened = await database.open({ login, ...given });
  return { ...database, ...opened, proxy };
}

/** The references of all intents, in the order of their events. */
async function intents({ run }: Pick<LedgerDatabase, "run">): Promise<unknown[]> {
  const rows = await run(
    "SELECT data::json->>'reference' AS reference FROM events WHERE event = 'intent' ORDER BY number",
  );
  return rows.map(({ reference }) => reference);
}

serverTest.for<Cut>(["before", "half", "late", "unanswered", "after"])(
  "I1: an intent whose COMMIT is cut (%s) is recorded once, and known to be",
  async (cut) => {
    const { proxy, ledger, ...database } = await behindProxy();
    await claim(ledger, payout("A"));
    const cuts = [cut];
    proxy.onCommit = () => cuts.pop();
    expect(await claim(ledger, payout("B"))).toMatchObject({ kind: "new" });
    expect(await claim(ledger, payout("C"))).toMatchObject({ kind: "new" });
    expect(cuts).toEqual([]);
    expect(await intents(database)).toEqual(["A", "B", "C"]);
    expect(proxy.connections()).toBe(2);
  },
);

serverTest.for<Cut>(["before", "half", "late", "unanswered", "after"])(
  "a callback whose COMMIT is cut (%s) is stored and counted once, and so is its check",
  async (cut) => {
    const { proxy, ledger, ...database } = await behindProxy();
    const { callbacks } = ledger;
    await claim(ledger, payout("A"));
    const request = { method: "POST", target: "/", headers: {}, body: Buffer.from("{}") };
    let cuts: Cut[] = [];
    proxy.onCommit = () => cuts.pop();
    const isCut = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      cuts = [cut];
      const result = await work();
      expect(cuts).toEqual([]);
      return result;
    };
    const keep = () => callbacks.keep(request, "received", true);
    expect(await isCut(keep)).toMatchObject({ count: 1 });
    const kept = await isCut(keep);
    expect(kept).toMatchObject({ count: 2 });
    await isCut(() => callbacks.schedule(kept?.number ?? 0, null));
    const rows = await database.run("SELECT count::int, looks::int FROM callbacks");
    expect(rows).toEqual([{ count: 2, looks: 1 }]);
  },
);

serverTest("an outage after a COMMIT that was cut is waited for as the first one is", async () => {
  let laterMs = 0;
  const now = () => Date.now() + laterMs;
  const { proxy, ledger } = await behindProxy({ now });
  let cuts: Cut[] = ["before"];
  proxy.onCommit = () => cuts.pop();
  await claim(ledger, payout("A"));
  laterMs = 3_600_000;
  cuts = ["before"];
  proxy.isRefusing = true;
  const claiming = claim(ledger, payout("B"));
  await delay(600);
  proxy.isRefusing = false;
  expect(await claiming).toMatchObject({ kind: "new" });
});

serverTest("nothing is sent of a transaction whose beginning no time was left for", async () => {
  const database = await ledgerDatabase();
  let rejected = 0;
  const leftMs = () => {
    if (rejected === 0) return Number.POSITIVE_INFINITY;
    rejected -= 1;
    return 0;
  };
  const { ledger, connection } = await database.open({ leftMs });
  await claimed(ledger, payout("FIRST"));
  const { number: operation } = await claimed(ledger, payout("A"));
  const outcome = { state: "UNCERTAIN", sent: true } as const;
  const claimB = { kind: "claim", intent: payout("B"), onDuplicate: "reject", sealer } as const;
  // Asked once for the time that the lock may take, and twice for BEGIN and for the lock.
  rejected = 5;

  await ledger
    .change([{ kind: "record", operation, outcome, release: true }, claimB])
    .catch(() => {});

  expect(rejected).toBe(0);
  expect((await serverIntegrityOf(connection)).modified).toEqual([]);
});

serverTest("I4: an intent whose COMMIT is cut twice is rejected, and not recorded", async () => {
  const { proxy, ledger, ...database } = await behindProxy();
  proxy.onCommit = () => "before";
  await expect(claim(ledger, payout("A"))).rejects.toMatchObject({ reason: "ledger.unreachable" });
  expect(await intents(database)).toEqual([]);
});

serverTest(
  "I4: an intent whose COMMIT cannot be looked up is rejected, whatever became of it",
  async () => {
    let nowMs = 0;
    const now = () => {
      nowMs += 4_000;
      return nowMs;
    };
    const { proxy, ledger, ...database } = await behindProxy({ now });
    await claim(ledger, payout("A"));
    proxy.onCommit = () => {
      proxy.isRefusing = true;
      return "unanswered";
    };
    const failed = claim(ledger, payout("B"));
    await expect(failed).rejects.toMatchObject({ reason: "ledger.unreachable" });
    expect(await intents(database)).toEqual(["A", "B"]);
  },
);

serverTest(
  "a process whose session is ended before any statement of a write continues it once",
  async () => {
    const { proxy, ledger, cluster, name, ...database } = await behindProxy();
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = '${name}' AND usename <> session_user`;
    let statements = 0;
    let end = Number.POSITIVE_INFINITY;
    proxy.onStatement = async () => {
      statements += 1;
      if (statements === end) await cluster.run(terminate);
    };
    await claim(ledger, payout("FIRST"));
    statements = 0;
    const accepted = (remoteId: string) => ({ state: "CONFIRMED", remoteId, sent: true }) as const;
    await record(ledger, await claimed(ledger, payout("WHOLE")), accepted("WHOLE"));
    const steps = statements;
    expect(steps).toBeGreaterThan(5);
    for (end = 1; end <= steps; end += 1) {
      statements = 0;
      const operation = await claimed(ledger, payout(`STEP-${end}`));
      const recorded = await record(ledger, operation, accepted(`STEP-${end}`));
      expect([end, recorded]).toMatchObject([end, { kind: "recorded" }]);
    }
    const all = Array.from({ length: steps }, (_, step) => `STEP-${step + 1}`);
    expect(await intents(database)).toEqual(["FIRST", "WHOLE", ...all]);
  },
);

serverTest("a COMMIT that the server answers with ROLLBACK is a failed write", async () => {
  const { connection, ledger, ...database } = await behindProxy();
  const failing = connection.write(async ({ query }) => {
    await query("SELECT 1 / 0").catch(() => {});
  });
  await expect(failing).rejects.toThrow();
  expect(await database.run("SELECT number FROM events")).toEqual([]);
  expect(await claim(ledger, payout("A"))).toMatchObject({ kind: "new" });
});

serverTest(
  "a statement that fails with its COMMIT is reported and stores nothing, and the connection stays usable",
  async () => {
    const { proxy, ledger, ...database } = await behindProxy();
    await database.run("REVOKE INSERT ON events FROM lenden_writer");
    const rejected = expect(claim(ledger, payout("A"))).rejects;
    await rejected.toMatchObject({ reason: "ledger.access-denied" });
    // The rights as they were: another test may use this database next.
    await database.run(`GRANT INSERT (${Object.keys(eventColumns)}) ON events TO lenden_writer`);
    expect(await database.run("SELECT number FROM operations")).toEqual([]);
    expect(await claim(ledger, payout("A"))).toMatchObject({ kind: "new" });
    expect(proxy.connections()).toBe(1);
  },
);

serverTest(
  "a session that ends while it is idle ends neither the process nor its work",
  async () => {
    const { ledger, proxy } = await behindProxy();
    await claim(ledger, payout("A"));
    proxy.cut();
    await delay(50);
    expect(await ledger.find("A")).toMatchObject({ reference: "A" });
    proxy.cut();
    expect(await ledger.find("A")).toMatchObject({ reference: "A" });
    proxy.cut();
    expect(await claim(ledger, payout("B"))).toMatchObject({ kind: "new" });
  },
);

serverTest("a server that is killed in a write has what it confirmed, and continues", async () => {
  const database = await ledgerOf(await startCluster());
  const { cluster } = database;
  const proxy = await startCutProxy(cluster);
  const login = database.login({ host: proxy.folder, port: 5432 });
  const { ledger } = await database.open({ login });
  await claim(ledger, payout("A"));
  for (const [reference, when] of [
    ["B", /^BEGIN/],
    ["C", /^WITH/],
    ["D", /^COMMIT/],
  ] as const) {
    proxy.onStatement = async (sql) => {
      if (!when.test(sql)) return;
      proxy.onStatement = () => {};
      await cluster.kill();
      await cluster.start();
    };
    expect(await claim(ledger, payout(reference))).toMatchObject({ kind: "new" });
  }
  expect(await intents(database)).toEqual(["A", "B", "C", "D"]);
});

serverTest.for([
  ["its session continues", ["cancel"]],
  ["its session ends without a response", ["terminate", "cancel"]],
] as const)(
  "a record that a standby server did not confirm is a failed write: %s",
  async ([, endings]) => {
    const database = await ledgerOf(await startCluster());
    const { cluster, open, run, name } = database;
    const { ledger } = await open();
    await claim(ledger, payout("A"));
    await cluster.run("ALTER SYSTEM SET synchronous_standby_names = 'elsewhere'");
    await cluster.run("SELECT pg_reload_conf()");
    const failed = expect(claim(ledger, payout("B"))).rejects.toMatchObject({
      reason: "ledger.not-replicated",
    });
    // The second wait is that of the check.
    for (const ending of endings) {
      const sessions = `SELECT pg_${ending}_backend(pid) FROM pg_stat_activity
        WHERE datname = '${name}' AND wait_event = 'SyncRep'`;
      await until(async () => (await cluster.run(sessions)).length > 0);
    }
    await failed;
    await cluster.run("ALTER SYSTEM RESET synchronous_standby_names");
    await cluster.run("SELECT pg_reload_conf()");
    expect(await run("SELECT count(*)::int AS count FROM operations")).toEqual([{ count: 2 }]);
  },
);
