import { describe, expect, onTestFinished } from "vitest";
import { until } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openMerchant, paymentOf, payoutOf } from "../support/merchant.ts";
import { type Cluster, serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";

/** A merchant whose login at the ledger has settings of its own. */
async function withLogin() {
  const cluster = await sharedCluster();
  const login = "tuned";
  const { database, url } = await teamLedger(cluster, login);
  const merchant = await openMerchant();
  const env = machine(merchant, url(login));
  expect(await lenden(payoutOf("FIRST"), { env })).toMatchObject({ code: 0 });
  const set = async (setting: string) => {
    await cluster.run(`ALTER ROLE ${login} RESET ALL; ALTER ROLE ${login} SET ${setting}`);
  };
  onTestFinished(() => cluster.run(`ALTER ROLE ${login} RESET ALL`).then(() => {}));
  return { cluster, database, merchant, env, set };
}

async function failed(line: string[], env: Record<string, string>) {
  const outcome = await lenden([...line, "--json"], { env });
  const { reason, effect, message, hint } = errorOf(outcome);
  return { code: outcome.code, reason, effect, message, hint };
}

serverTest("a statement_timeout of a login is named, and nothing is sent", async () => {
  const { merchant, env, set } = await withLogin();
  const before = await merchant.moneyRequests();
  await set("statement_timeout = '1ms'");
  const named = {
    code: 1,
    reason: "ledger.server-error",
    message: expect.stringContaining("statement timeout"),
    hint: expect.stringContaining("statement_timeout"),
  };
  for (const line of [payoutOf("SECOND"), paymentOf("a lamp"), ["ledger", "check"]])
    expect(await failed(line, env)).toMatchObject(named);
  expect(await failed(payoutOf("SECOND"), env)).toMatchObject({ effect: "nothing-sent" });
  expect(await merchant.moneyRequests()).toEqual(before);
});

serverTest("a statement_timeout while another process writes is named", async () => {
  const { cluster, database, env, set, merchant } = await withLogin();
  const before = await merchant.moneyRequests();
  await set("statement_timeout = '700ms'");
  const other = await cluster.connect(database);
  await other.query("BEGIN; SELECT 1 FROM lenden.head FOR UPDATE");
  expect(await failed(payoutOf("SECOND"), env)).toMatchObject({
    code: 1,
    reason: "ledger.server-error",
    message: expect.stringContaining("statement timeout"),
  });
  expect(await merchant.moneyRequests()).toEqual(before);
  await other.query("ROLLBACK");
});

describe("a rule on a table of the ledger", () => {
  serverTest.for([
    ["INSERT", "events"],
    ["INSERT", "operations"],
    ["UPDATE", "operations"],
    ["INSERT", "processes"],
    ["INSERT", "accounts"],
    ["INSERT", "account_keys"],
  ] as const)("never loses a record in silence: ON %s TO %s", async ([event, table]) => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const merchant = await openMerchant();
    const env = machine(merchant, url("ann"));
    for (const action of ["INSTEAD NOTHING", "ALSO NOTIFY elsewhere"]) {
      await cluster.run(
        `CREATE OR REPLACE RULE added AS ON ${event} TO lenden.${table} DO ${action}`,
        database,
      );
      const before = await merchant.moneyRequests();
      const { code, reason, message, hint } = await failed(payoutOf("FIRST"), env);
      const isSent = (await merchant.moneyRequests()).length > before.length;
      if (code === 0) {
        // The rule was harmless: everything is recorded.
        await cluster.run(`DROP RULE added ON lenden.${table}`, database);
        expect(await lenden(["ledger", "check"], { env })).toMatchObject({ code: 0 });
        expect(await recorded(cluster, database)).toEqual(["CONFIRMED"]);
        continue;
      }
      expect([event, table, action, code, reason]).toEqual([
        ...[event, table, action],
        isSent ? 75 : 1,
        isSent ? "ledger.not-recorded" : "ledger.server-error",
      ]);
      expect(`${message} ${hint}`).toMatch(/\brules?\b/);
    }
  });
});

async function recorded(cluster: Cluster, database: string): Promise<unknown[]> {
  const rows = await cluster.run("SELECT state FROM lenden.operations", database);
  return rows.map(({ state }) => state);
}

serverTest("a read-only login is named, and nothing is sent", async () => {
  const { merchant, env, set } = await withLogin();
  const before = await merchant.moneyRequests();
  await set("default_transaction_read_only = on");
  expect(await failed(payoutOf("SECOND"), env)).toMatchObject({
    code: 1,
    reason: "ledger.server-read-only",
    effect: "nothing-sent",
  });
  expect(await lenden(["payout", "list"], { env })).toMatchObject({ code: 0 });
  expect(await merchant.moneyRequests()).toEqual(before);
});

serverTest.for([
  "search_path = pg_temp, pg_catalog",
  "DateStyle = 'German, DMY'",
  "TimeZone = 'Asia/Dhaka'",
  "client_encoding = 'LATIN1'",
  "IntervalStyle = 'sql_standard'",
  "default_transaction_isolation = 'serializable'",
  "lock_timeout = '1ms'",
  "idle_in_transaction_session_timeout = '1ms'",
  "standard_conforming_strings = off",
])("a login with %s sees and records the same", async (setting) => {
  const { env, set, merchant } = await withLogin();
  const name = ["--name", "রহিম"];
  expect(await lenden(payoutOf("BEFORE", "--again", ...name), { env })).toMatchObject({ code: 0 });
  const read = async () => {
    const lines = [
      ["payout", "list"],
      ["ledger", "show", "BEFORE"],
      ["report"],
      ["ledger", "check"],
    ];
    const ends = [];
    for (const line of lines) ends.push(await lenden([...line, "--json"], { env }));
    return ends;
  };
  const before = await read();
  await set(setting);
  expect(await read()).toEqual(before);
  const line = payoutOf("AFTER", "--again", ...name, "--json");
  expect(await lenden(line, { env })).toMatchObject({ code: 0 });
  const again = await lenden(line, { env });
  expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { existing: true }]);
  expect(await lenden(["ledger", "check"], { env })).toMatchObject({ code: 0 });
  const shown = await lenden(["ledger", "show", "AFTER", "--json"], { env });
  expect(shown.stdout).toContain("রহিম");
  expect(await merchant.books("payouts")).toHaveLength(3);
});

serverTest(
  "two processes of serializable logins both pay while they wait for each other",
  async () => {
    const { cluster, database, env, set } = await withLogin();
    await set("default_transaction_isolation = 'serializable'");
    const other = await cluster.connect(database);
    await other.query("BEGIN; SELECT 1 FROM lenden.head FOR UPDATE");
    const sending = lenden(payoutOf("WAITED", "--again"), { env });
    const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await until(async () => (await cluster.run(waits)).length > 0);
    await other.query("UPDATE lenden.head SET single = single; COMMIT");
    expect(await sending).toMatchObject({ code: 0 });
  },
);
