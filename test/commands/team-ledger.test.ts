import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { built, ended, errorOf, lenden, startBuilt } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchant,
  openMerchantApart,
  openProductionMerchant,
  payoutNumber,
  payoutOf,
} from "../support/merchant.ts";
import { type Cluster, serverTest, sharedCluster, startCluster } from "../support/postgres.ts";
import { closedPort } from "../support/server.ts";
import { resolveName, stalledLine, withoutRoute } from "../support/slow-line.ts";
import { type Env, machine, teamLedger } from "../support/team-ledger.ts";
import { makeCertificates } from "../support/tls.ts";

function files(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
}

describe("a machine whose profile names the ledger of the team", () => {
  const newKey = "public-NEW-ABCDEFGHIJKL-KEY";
  const order = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method", "bkash"];

  serverTest.for([
    ["profile add --replace", ["profile", "add", "shop", "--replace"]],
    ["profile rotate", ["profile", "rotate"]],
  ] as const)("does not pay again after %s", async ([, replace]) => {
    const cluster = await sharedCluster();
    const { url } = await teamLedger(cluster, "ann", "ben");
    const merchant = await openProductionMerchant();
    const secrets = ["--key-file", fileOf("public-ABC-ABCDEFGHIJKL-XYZ")];
    const add = ["profile", "add", "shop", "--base-url", merchant.baseUrl, ...secrets];
    const payoutSecret = ["--secret-file", fileOf(merchant.payoutSecret)];
    const joined = async (login: string) => {
      const folder = scratchFolder();
      const env = {
        ...{ LENDEN_API_KEY: undefined, LENDEN_PAYOUT_SECRET: undefined },
        ...{ LENDEN_BASE_URL: undefined, LENDEN_CONFIG_DIR: folder },
        LENDEN_DATA_DIR: join(folder, "data"),
      };
      const run = (...line: string[]) => merchant.lenden(line, env);
      const all = [...add, ...payoutSecret, "--ledger", url(login)];
      expect(await run(...all)).toMatchObject({ code: 0 });
      return run;
    };
    const [ann, ben] = [await joined("ann"), await joined("ben")];
    expect(await ann(...order)).toMatchObject({ code: 0 });
    await merchant.rotateKey(newKey);
    const rotated = [...replace, "--key-file", fileOf(newKey), ...payoutSecret];
    expect(await ben(...rotated)).toMatchObject({ code: 0 });

    const again = await ben(...order, "--json");

    expect([again.code, errorOf(again)]).toMatchObject([3, { reason: "payout.duplicate" }]);
    expect(await merchant.books("payouts")).toHaveLength(1);
  });
});

describe("ledger init", () => {
  serverTest("creates a ledger, names the role of its users, and repairs its rights", async () => {
    const cluster = await sharedCluster();
    const database = await cluster.create();
    const init = ["ledger", "init", cluster.url(database)];
    const created = await lenden([...init, "--json"]);
    expect(JSON.parse(created.stdout)).toEqual({
      url: expect.stringMatching(/^postgres:\/\/postgres@%2F/),
      isNew: true,
      role: "lenden_writer",
      grant: "GRANT lenden_writer TO <login>",
      readerRole: "lenden_reader",
      readerGrant: "GRANT lenden_reader TO <login>",
      ownerRole: "lenden_owner",
      ownerGrant: "GRANT lenden_owner TO <login>",
    });
    await cluster.run("REVOKE SELECT ON lenden.events FROM lenden_writer", database);
    const repaired = await lenden(init);
    expect(repaired.stdout).toContain("The ledger exists");
    const isReadable =
      "SELECT has_table_privilege('lenden_writer', 'lenden.events', 'SELECT') AS is";
    expect(await cluster.run(isReadable, database)).toEqual([{ is: true }]);
  });

  serverTest("uses the role that another ledger of the server gets meanwhile", async () => {
    const cluster = await startCluster();
    const admin = await cluster.connect("postgres");
    await admin.query("BEGIN; CREATE ROLE lenden_reader NOLOGIN");
    const created = built(["ledger", "init", cluster.url(await cluster.create())]);
    const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted";
    await until(async () => (await admin.query(waiting)).rowCount === 1);
    await admin.query("COMMIT");
    expect(await created).toMatchObject({ code: 0, stderr: "" });
  });

  serverTest("prints the SQL that a database administrator runs", async () => {
    const cluster = await sharedCluster();
    const database = await cluster.create();
    const { stdout } = await lenden(["ledger", "init", "--print-sql"]);
    await cluster.run(stdout, database);
    const env = { LENDEN_LEDGER_URL: cluster.url(database) };
    expect((await lenden(["ledger", "processes"], { env })).stdout).toContain("No process works");
  });

  serverTest("needs the rights of an administrator and a schema of its own", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const denied = await lenden(["ledger", "init", url("ann"), "--json"]);
    expect([denied.code, errorOf(denied)]).toMatchObject([4, { reason: "ledger.access-denied" }]);
    expect(denied.stderr).toContain("--print-sql");
    await cluster.run("DROP SCHEMA lenden CASCADE; CREATE SCHEMA lenden", database);
    const foreign = await lenden(["ledger", "init", cluster.url(database), "--json"]);
    expect([foreign.code, errorOf(foreign).message]).toEqual([1, expect.stringMatching(/schema/)]);
    const none = await lenden(["ledger", "init"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("<url>")]);
  });
});

describe("a shared ledger", () => {
  serverTest("protects two machines from each other's duplicates", async () => {
    const cluster = await sharedCluster();
    const { url } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant();
    const [ann, bo] = [machine(merchant, url("ann")), machine(merchant, url("bo"))];
    expect((await lenden(payoutOf("INV-7"), { env: ann })).code).toBe(0);
    const same = await lenden([...payoutOf("INV-7"), "--json"], { env: bo });
    expect(JSON.parse(same.stdout)).toMatchObject({ existing: true });
    const unnamed = payoutOf("INV-7").slice(0, -2);
    const host = { user: "bob", machine: "laptop-2" };
    expect((await lenden(unnamed, { env: bo, host })).code).toBe(3);
    expect((await lenden([...unnamed, "--again"], { env: bo, host })).code).toBe(0);
    expect(await merchant.books("payouts")).toHaveLength(2);
    expect((await lenden(["payout", "list", "-q"], { env: ann })).stdout.split("\n")).toHaveLength(
      3,
    );
  });

  serverTest(
    "creates no file of a ledger, and none of what would count as a trace of one",
    async () => {
      const cluster = await sharedCluster();
      const { url } = await teamLedger(cluster, "ann");
      const merchant = await openMerchant();
      const env = machine(merchant, url("ann"));
      await lenden(payoutOf("A"), { env });
      await lenden(["__complete", "--typed=", "ledger", "show"], { env });
      await lenden(["doctor"], { env });
      const made = files(env.LENDEN_DATA_DIR);
      expect(made).toEqual(["methods", expect.stringMatching(/^methods.methods-\w+\.json$/)]);
      expect(files(env.LENDEN_CONFIG_DIR ?? "")).toContainEqual(
        expect.stringMatching(/^ledger-head-/),
      );
      // Without the server, this machine starts an empty ledger, which is no lost one.
      const { code, stdout } = await lenden(["ledger", "list"], { env: withoutLedger(env) });
      expect([code, stdout]).toEqual([0, expect.stringContaining("no operation")]);
    },
  );

  serverTest("shows who works on a batch, and keeps others from it", async () => {
    const cluster = await sharedCluster();
    const { url } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant({ latencyMs: 3_000 });
    const [ann, bo] = [machine(merchant, url("ann")), machine(merchant, url("bo"))];
    const file = join(scratchFolder(), "march.csv");
    const rows = [5, 6, 7, 8].map((amount) => `${amount},01712345678,bkash\n`);
    writeFileSync(file, `amount,to,method\n${rows.join("")}`);
    const send = ["payout", "batch", "send", file, "--yes", "--concurrency", "1"];
    const first = startBuilt(send, ann);
    const firstEnd = ended(first);
    const processes = async () =>
      JSON.parse((await lenden(["ledger", "processes", "--json"], { env: bo })).stdout);
    await until(async () => (await processes()).some((one: Env) => one.worksOn?.length));
    const [one] = await processes();
    expect(one).toMatchObject({ login: "ann", pid: first.pid, state: "running" });
    expect(one.command).toBe("payout batch send");
    expect(Date.parse(one.leaseUntil) - Date.now()).toBeGreaterThan(20_000);
    expect(one.worksOn).toContainEqual(expect.objectContaining({ kind: "batch" }));
    const shown = await lenden(["ledger", "processes"], { env: bo });
    expect(shown.stdout).toMatch(/ann \(as \w+\)/);
    const second = await lenden([...send, "--json"], { env: bo });
    expect(second.code).toBe(7);
    expect(errorOf(second).message).toMatch(
      new RegExp(
        `^Batch B\\w+ is in use by another lenden process: ann \\(as \\w+\\) on .*${first.pid}.*, since `,
      ),
    );
    expect((await firstEnd).code).toBe(0);
    expect(await processes()).toEqual([]);
    expect(await merchant.books("payouts")).toHaveLength(4);
  });
});

function withoutLedger({ LENDEN_LEDGER_URL: _, ...others }: Env): Env {
  return others;
}

describe("ledger check", () => {
  const check = async (env: Env, ...flags: string[]) => {
    const outcome = await lenden(["ledger", "check", "--json", ...flags], { env });
    return { code: outcome.code, checked: JSON.parse(outcome.stdout || "{}") };
  };

  serverTest("verifies a ledger on a server, and the rights of the login", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const merchant = await openMerchant();
    const env = machine(merchant, url("ann"));
    await lenden(payoutOf("A"), { env });
    expect(await check(env)).toMatchObject({
      code: 0,
      checked: { holds: true, head: "contained", brokenAt: null, modified: [], server: [] },
    });
    const asOwner = await check({ ...env, LENDEN_LEDGER_URL: cluster.url(database) });
    expect(asOwner).toMatchObject({
      code: 1,
      checked: { holds: true, server: [{ kind: "superuser", login: "postgres" }] },
    });
    for (const verb of ["backup", "restore"]) {
      const { code, stderr } = await lenden(["ledger", verb, "x.db", "--yes"], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining("pg_dump")]);
    }
  });

  serverTest("finds a modified ledger, which sends nothing until a person accepts it", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const merchant = await openMerchant();
    const env = machine(merchant, url("ann"));
    await lenden(payoutOf("A"), { env });
    await cluster.run("UPDATE lenden.operations SET amount_paisa = 1", database);
    const { code, checked } = await check(env);
    expect([code, checked.holds, checked.modified]).toMatchObject([
      1,
      false,
      [{ kind: "operation", problem: "changed", columns: ["amount_paisa"] }],
    ]);
    const send = [...payoutNumber(1, "B"), "--json"];
    expect(errorOf(await lenden(send, { env })).reason).toBe("ledger.modified");
    const accepted = await check(env, "--accept", "--yes", "--accept-hash", checked.newest.hash);
    expect(accepted).toMatchObject({ code: 0, checked: { holds: true } });
    expect(accepted.checked.accepted.user).toBe("tester");
    expect((await lenden(send, { env })).code).toBe(0);
  });

  serverTest("finds a database that was restored from an older dump, on each machine", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant();
    const [ann, bo] = [machine(merchant, url("ann")), machine(merchant, url("bo"))];
    await lenden(payoutOf("A"), { env: ann });
    const dump = join(cluster.folder, "dump");
    const at = ["-h", cluster.folder, "-U", "postgres", "-d", database];
    await cluster.program("pg_dump", ...at, "--schema=lenden", "-Fc", "-f", dump);
    await lenden(payoutNumber(1, "B"), { env: ann });
    await lenden(payoutNumber(2, "C"), { env: bo });
    await cluster.run("DROP SCHEMA lenden CASCADE", database);
    await cluster.program("pg_restore", ...at, dump);
    for (const env of [ann, bo]) {
      const again = await lenden([...payoutNumber(1, "B"), "--json"], { env });
      expect([again.code, errorOf(again).reason]).toEqual([1, "ledger.truncated"]);
      const listed = await lenden(["payout", "list", "-q"], { env });
      expect([listed.code, listed.stderr]).toEqual([0, expect.stringContaining("--accept")]);
      const { checked } = await check(env);
      expect(checked).toMatchObject({ holds: false, head: "not-contained" });
      const accepted = await check(env, "--accept", "--yes", "--accept-hash", checked.newest.hash);
      expect(accepted).toMatchObject({ code: 0, checked: { holds: true, head: "contained" } });
      expect(accepted.checked.accepted.state).toBe("truncated");
    }
    expect((await lenden(payoutNumber(1, "B"), { env: ann })).code).toBe(0);
    expect(await merchant.books("payouts")).toHaveLength(3);
  });
});

describe("an older dump, restored under a machine that had seen no more", () => {
  /** Ann has seen one payout; the dump has it, and Bo's later one is in the ledger alone. */
  async function dumped() {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann", "bo");
    const merchant = await openMerchant();
    const [ann, bo] = [machine(merchant, url("ann")), machine(merchant, url("bo"))];
    expect(await lenden(payoutOf("A"), { env: ann })).toMatchObject({ code: 0 });
    const dump = join(cluster.folder, `${database}.dump`);
    const at = (name: string) => ["-h", cluster.folder, "-U", "postgres", "-d", name];
    await cluster.program("pg_dump", ...at(database), "--schema=lenden", "-Fc", "-f", dump);
    expect(await lenden(payoutNumber(1, "B"), { env: bo })).toMatchObject({ code: 0 });
    const restore = (name: string, ...more: string[]) =>
      cluster.program("pg_restore", ...at(name), ...more, dump);
    /** Bo's payout, which the dump lacks: it would be paid twice. */
    const again = async (env: Env) => {
      const outcome = await lenden([...payoutNumber(1, "B-AGAIN"), "--json"], { env });
      return [outcome.code, errorOf(outcome).reason];
    };
    return { cluster, database, merchant, ann, bo, restore, again };
  }

  type Dumped = Awaited<ReturnType<typeof dumped>>;

  serverTest.for<[string, (ledger: Dumped) => Promise<unknown>]>([
    [
      "in the place of the dropped schema",
      async ({ cluster, database, restore }) => {
        await cluster.run("DROP SCHEMA lenden CASCADE", database);
        await restore(database);
      },
    ],
    [
      "into a new database of the same name",
      async ({ cluster, database, restore }) => {
        await cluster.run(`ALTER DATABASE ${database} RENAME TO ${database}_lost`);
        await cluster.run(`CREATE DATABASE ${database} TEMPLATE template0`);
        await restore(database);
      },
    ],
  ])("sends nothing until it is accepted: %s", async ([, replace]) => {
    const ledger = await dumped();
    const { merchant, ann, again } = ledger;
    await replace(ledger);
    expect(await again(ann)).toEqual([1, "ledger.other-server"]);
    const listed = await lenden(["payout", "list", "-q"], { env: ann });
    expect([listed.code, listed.stderr]).toEqual([0, expect.stringContaining("--accept")]);
    const check = async (...flags: string[]) => {
      const { code, stdout } = await lenden(["ledger", "check", "--json", ...flags], { env: ann });
      return { code, checked: JSON.parse(stdout || "{}") };
    };
    const { code, checked } = await check();
    expect([code, checked]).toMatchObject([1, { holds: false, head: "other-server" }]);
    const doctor = await lenden(["doctor"], { env: ann });
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining("--accept")]);
    expect(await check("--accept", "--yes")).toMatchObject({ code: 4 });
    expect(await again(ann)).toEqual([1, "ledger.other-server"]);
    expect(await merchant.books("payouts")).toHaveLength(2);

    const accepted = await check("--accept", "--yes", "--accept-hash", checked.newest.hash);

    expect(accepted).toMatchObject({
      code: 0,
      checked: { holds: true, head: "contained", accepted: { state: "replaced" } },
    });
    expect(await again(ann)).toEqual([0, undefined]);
  });

  serverTest("as data alone shows only on a machine that had seen more", async () => {
    const { cluster, database, ann, bo, restore, again } = await dumped();
    const tables = await cluster.run(
      "SELECT string_agg('lenden.' || tablename, ', ') AS all FROM pg_tables WHERE schemaname = 'lenden'",
      database,
    );
    await cluster.run(`TRUNCATE ${String(tables[0]?.all)}`, database);
    await restore(database, "--data-only");
    expect(await again(bo)).toEqual([1, "ledger.truncated"]);
    expect(await again(ann)).toEqual([0, undefined]);
  });
});

test("ledger processes shows the processes of a ledger file too", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:hang") });
  expect((await merchant.built(["ledger", "processes"])).stdout).toContain("No process works");
  const sending = merchant.start(payoutOf("SLOW"));
  const sent = ended(sending);
  const processes = async () =>
    JSON.parse((await merchant.built(["ledger", "processes", "--json"])).stdout);
  await until(async () => (await processes()).length > 0);
  expect(await processes()).toEqual([
    {
      user: userInfo().username,
      login: null,
      machine: hostname(),
      pid: sending.pid,
      command: "payout send",
      since: expect.stringMatching(/Z$/),
      leaseUntil: null,
      state: "running",
      worksOn: [{ kind: "payout", name: "SLOW", since: expect.stringMatching(/Z$/) }],
    },
  ]);
  sending.kill("SIGKILL");
  await sent;
  expect(await processes()).toMatchObject([{ state: "ended", worksOn: [{ name: "SLOW" }] }]);
});

serverTest("no output of a command shows the password of the ledger", async () => {
  const cluster = await startCluster({
    hasPort: true,
    access: ["local all postgres trust", "host all all 127.0.0.1/32 scram-sha-256"],
  });
  const { database } = await teamLedger(cluster, "ann");
  await cluster.run("ALTER ROLE ann PASSWORD 'Canary/march%1'");
  const merchant = await openMerchant();
  const url = (password: string) =>
    `postgres://ann:${encodeURIComponent(password)}@127.0.0.1:${cluster.port}/${database}`;
  const lines = [
    payoutOf("A"),
    ["ledger", "show", "A"],
    ["ledger", "check"],
    ["ledger", "processes"],
    ["profile", "show"],
    ["doctor"],
    ["ledger", "show", "Canary/march%1"],
    ["Canary/march%1"],
    ["ledger", "init", url("Canary/march%1")],
    ["ledger", "move", url("Canary/march%1")],
    ["profile", "set", "ledger", url("Canary/march%1")],
    ["demo", "--ledger", url("Canary/march%1")],
  ];
  const outputs: string[] = [];
  for (const password of ["Canary/march%1", "Canary/wrong%1"])
    for (const line of lines)
      for (const format of ["table", "json"]) {
        const env = { ...machine(merchant, url(password)), LENDEN_DEBUG: "1" };
        const { stdout, stderr } = await lenden([...line, "-v", "-o", format], { env });
        outputs.push(stdout + stderr);
      }
  expect(outputs.filter((text) => /Canary|march%|Q2FuYXJ5/.test(text))).toEqual([]);
  const stored = JSON.stringify(await cluster.run("SELECT * FROM lenden.operations", database));
  expect(stored).not.toContain("Canary");
});

describe("a server that cannot be used", () => {
  /** A payout that nothing may have left for. */
  async function rejected(
    merchant: Merchant,
    ledger: Env,
    run = lenden,
  ): Promise<[number, unknown]> {
    const env = { ...machine(merchant, ""), ...ledger };
    const outcome = await run([...payoutOf("A"), "--json"], { env });
    expect(await merchant.books("payouts")).toHaveLength(0);
    expect(files(env.LENDEN_DATA_DIR)).not.toContain("ledger.db");
    const { reason, effect } = errorOf(outcome);
    expect(effect).toBe("nothing-sent");
    return [outcome.code, reason];
  }

  serverTest("ends with the exit code of its cause, and never falls back to a file", async () => {
    const cluster = await sharedCluster();
    const merchant = await openMerchant();
    const at = (url: string) => rejected(merchant, { LENDEN_LEDGER_URL: url });
    const nowhere = `postgres://ann@127.0.0.1:${await closedPort()}/lenden`;
    expect(await at(nowhere)).toEqual([69, "ledger.unreachable"]);
    expect(await at("postgres://ann@localhost")).toEqual([2, "usage.invalid"]);
    const { url, database } = await teamLedger(cluster, "ann");
    await cluster.run("CREATE ROLE guest LOGIN");
    expect(await at(url("guest"))).toEqual([4, "ledger.access-denied"]);
    expect(await at(cluster.url("missing"))).toEqual([1, "ledger.not-initialized"]);
    expect(await at(cluster.url(await cluster.create()))).toEqual([1, "ledger.not-initialized"]);
    await cluster.run("UPDATE lenden.head SET version = 999", database);
    expect(await at(url("ann"))).toEqual([1, "ledger.newer-version"]);
    await cluster.run("UPDATE lenden.head SET version = 0", database);
    expect(await at(url("ann"))).toEqual([1, "ledger.older-version"]);
    await cluster.run(
      `UPDATE lenden.head SET version = 1; ALTER DATABASE ${database}
      SET default_transaction_read_only = on`,
      database,
    );
    expect(await at(url("ann"))).toEqual([1, "ledger.server-read-only"]);
  });

  serverTest("names a role that may only read, and ignores its other settings", async () => {
    const cluster = await sharedCluster();
    const merchant = await openMerchant();
    const { url } = await teamLedger(cluster, "ann");
    const env = { ...merchant.env, LENDEN_LEDGER_URL: url("ann") };
    const settings = {
      ...{ search_path: "pg_catalog", DateStyle: "'SQL, DMY'", TimeZone: "'America/New_York'" },
      ...{ client_encoding: "LATIN1", standard_conforming_strings: "off", bytea_output: "escape" },
    };
    const change = (sql: string) => cluster.run(`ALTER ROLE ann ${sql}`);
    const list = async () => (await lenden(["payout", "list", "--json"], { env })).stdout;
    const line = payoutOf("ROLE-1", "--name", "রহিমা \\ 'ñ'");
    expect(await lenden(line, { env })).toMatchObject({ code: 0 });
    const before = await list();
    for (const [name, value] of Object.entries(settings)) await change(`SET ${name} = ${value}`);
    try {
      expect(await list()).toBe(before);
      expect(await lenden(payoutOf("ROLE-2", "--again"), { env })).toMatchObject({ code: 0 });
      expect(await lenden(["ledger", "check"], { env })).toMatchObject({ code: 0 });
      await change("SET default_transaction_read_only = on");
      const sent = await merchant.moneyRequests();
      const third = await lenden(payoutOf("ROLE-3", "--again", "--json"), { env });
      expect([third.code, errorOf(third).reason]).toEqual([1, "ledger.server-read-only"]);
      expect(await merchant.moneyRequests()).toEqual(sent);
    } finally {
      await change("RESET ALL");
    }
  });

  serverTest(
    "takes a password from its sources, and no variable of PostgreSQL's tools",
    async () => {
      const cluster = await startCluster({
        hasPort: true,
        access: ["local all postgres trust", "host all all 127.0.0.1/32 scram-sha-256"],
      });
      const merchant = await openMerchant();
      const { database } = await teamLedger(cluster, "ann");
      const url = (password = "") =>
        `postgres://ann${password}@127.0.0.1:${cluster.port}/${database}`;
      const wrong = { LENDEN_LEDGER_URL: url(), LENDEN_LEDGER_PASSWORD: "of bo" };
      for (const env of [{ LENDEN_LEDGER_URL: url() }, wrong])
        expect(await rejected(merchant, env)).toEqual([4, "ledger.access-denied"]);
      const home = scratchFolder();
      writeFileSync(join(home, ".pgpass"), "*:*:*:*:of ann\n", { mode: 0o600 });
      const named = { LENDEN_LEDGER_URL: url(), PGPASSWORD: "of ann", HOME: home };
      expect(await rejected(merchant, named, built)).toEqual([4, "ledger.access-denied"]);
      // Each of these would break a login of libpq or pg that lets it.
      const garbage = Object.fromEntries(
        ["HOST", "PORT", "DATABASE", "USER", "PASSWORD", "OPTIONS", "SSLMODE", "SSLNEGOTIATION"]
          .concat(["REPLICATION", "BINARY", "CLIENT_ENCODING", "CONNECT_TIMEOUT", "SERVICE"])
          .map((name) => [`PG${name}`, name === "SSLNEGOTIATION" ? "direct" : "nonsense"]),
      );
      const right = [
        { LENDEN_LEDGER_URL: url(":of%20ann") },
        { LENDEN_LEDGER_URL: url(), LENDEN_LEDGER_PASSWORD: "of ann" },
        { LENDEN_LEDGER_URL: url(), LENDEN_LEDGER_PASSWORD: "of ann", ...garbage },
      ];
      for (const env of right) {
        const { code, stdout, stderr } = await built(["ledger", "list", "-v"], { env });
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect(stdout).not.toContain("of ann");
      }
      const folder = scratchFolder();
      const env = { ...merchant.env, LENDEN_CONFIG_DIR: folder };
      const command = `sh -c "echo 'of ann'"`;
      const add = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
      const flags = ["--ledger", url(), "--ledger-password-command", command];
      await lenden([...add, ...flags], { env, stdin: merchant.apiKey });
      const own = { LENDEN_CONFIG_DIR: folder };
      expect(await lenden(["ledger", "list"], { env: own })).toMatchObject({ code: 0, stderr: "" });
      const other = { ...own, LENDEN_LEDGER_URL: url() };
      expect((await lenden(["ledger", "list"], { env: other })).code).toBe(4);
    },
  );

  serverTest("verifies certificate and name of a server that is not on this machine", async () => {
    const certificates = makeCertificates();
    const merchant = await openMerchant();
    // An address of this machine that is no loopback address.
    const clusterWith = (tls?: { key: string; cert: string }) =>
      startCluster({
        hasPort: true,
        ...(tls ? { tls } : {}),
        access: ["local all all trust", "hostssl all all all trust", "hostnossl all all all trust"],
      });
    const of = async (cluster: Cluster) => {
      const { database } = await teamLedger(cluster, "ann");
      return `postgres://ann@0.0.0.0:${cluster.port}/${database}`;
    };
    const plain = await of(await clusterWith());
    expect(await rejected(merchant, { LENDEN_LEDGER_URL: plain })).toEqual([69, "ledger.tls"]);
    const wrong = await of(await clusterWith(certificates.otherName));
    const right = await of(await clusterWith(certificates));
    const list = async (url: string, ...flags: string[]) => {
      const folder = scratchFolder();
      const add = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
      const env = { LENDEN_CONFIG_DIR: folder };
      await lenden([...add, "--ledger", url, ...flags], { env, stdin: merchant.apiKey });
      const weak = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
      const { code, stderr } = await built(["ledger", "list", "--json"], { env: weak });
      return [code, errorOf({ stderr }).reason];
    };
    const ca = ["--ledger-ca", certificates.authorityFile];
    expect(await list(right)).toEqual([69, "ledger.tls"]);
    expect(await list(wrong, ...ca)).toEqual([69, "ledger.tls"]);
    expect(await list(right, ...ca)).toEqual([0, undefined]);
    expect((await list(right, "--ledger-ca", "/missing.pem"))[0]).toBe(2);
  });

  serverTest(
    "connects over a line slower than 250 ms if the server has an IPv6 address",
    async () => {
      const certificates = makeCertificates();
      const merchant = await openMerchant();
      const access = ["local all all trust", "hostssl all all all trust"];
      const cluster = await startCluster({ hasPort: true, tls: certificates, access });
      const { database } = await teamLedger(cluster, "ann");
      const line = await stalledLine(cluster.port);
      const lookedUp = resolveName("service.test", ["127.0.0.1", withoutRoute]);
      setDefaultAutoSelectFamilyAttemptTimeout(250); // Node's own
      const url = `postgres://ann@service.test:${line.port}/${database}`;
      const env = { LENDEN_CONFIG_DIR: scratchFolder() };
      const add = ["profile", "add", "shop", "--key-stdin", "--base-url", "https://shop.example"];
      const flags = ["--ledger", url, "--ledger-ca", certificates.authorityFile];
      await lenden([...add, ...flags], { env, stdin: merchant.apiKey });
      const running = lenden(["ledger", "list"], { env });
      await lookedUp;
      await delay(500);
      line.resume();
      expect(await running).toMatchObject({ code: 0, stderr: "" });
    },
  );
});

describe("doctor", () => {
  const findings = async (env: Env) => {
    const { code, stdout } = await lenden(["doctor", "--json"], { env });
    const all: { check: string; state: string; message: string }[] = JSON.parse(stdout);
    const ofLedger = all.filter(({ check }) => check.startsWith("ledger"));
    return { code, states: ofLedger.map(({ state }) => state), text: JSON.stringify(ofLedger) };
  };

  serverTest("checks connection, rights, clock, settings and content of the server", async () => {
    const cluster = await sharedCluster();
    const { database, url } = await teamLedger(cluster, "ann");
    const merchant = await openMerchant();
    const env = machine(merchant, url("ann"));
    await lenden(payoutOf("A"), { env });
    const good = await findings(env);
    expect(good.states).toEqual(Array.from({ length: 8 }, () => "passed"));
    expect(good.text).toContain("The server tells its system identifier, the number of the");
    expect(good.text).toMatch(/PostgreSQL \d+\.\d+ responds on this machine, without TLS/);
    const forbidden = "EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC";
    await cluster.run(`REVOKE ${forbidden}`, database);
    const discreet = await findings(env);
    expect(discreet.states).toEqual(good.states);
    expect(discreet.text).toContain("does not tell its system identifier");
    const owner = await findings({ ...env, LENDEN_LEDGER_URL: cluster.url(database) });
    expect(owner.states).toEqual(good.states.with(4, "warning"));
    const off = "ALTER DATABASE X SET default_transaction_read_only = on";
    await cluster.run(`TRUNCATE lenden.events; ${off.replace("X", database)}`, database);
    const bad = await findings(env);
    expect(bad).toMatchObject({
      code: 1,
      states: good.states.with(0, "failed").with(6, "failed"),
    });
    expect(bad.text).toContain("it is read-only");
    const skewed = { env, host: { now: () => Date.now() + 9_000 } };
    const { stdout } = await lenden(["doctor"], skewed);
    expect(stdout).toContain("This machine's clock is 9 s ahead of the server's.");
  });
});

serverTest("the demo records its steps in a ledger that it is given", async () => {
  const cluster = await sharedCluster();
  const { url } = await teamLedger(cluster, "ann");
  const { code, stderr } = await lenden(["demo", "--ledger", url("ann")]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("stay in the ledger")]);
  const env = { LENDEN_LEDGER_URL: url("ann") };
  const listed = await lenden(["ledger", "list", "--json"], { env });
  const kinds = JSON.parse(listed.stdout).map(({ kind }: Env) => kind);
  expect(kinds.toSorted()).toEqual(
    ["cancel", "payment", "payout", "refund", "trigger", "trigger"].toSorted(),
  );
  const twice = await lenden(["demo", "--ledger", url("ann"), "-q"]);
  expect(twice.code).toBe(0);
});
