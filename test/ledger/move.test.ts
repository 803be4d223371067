import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { collect } from "../../src/domain/collect.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { moveLedger } from "../../src/ledger/move/copy.ts";
import { faults } from "../sandbox/running.ts";
import { type Cut, startCutProxy } from "../support/cut-proxy.ts";
import { runs, scratchFolder } from "../support/helpers.ts";
import { built, type Child, ended, errorOf, lenden, typedBy } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paidPayment,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { machine, teamLedger } from "../support/team-ledger.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import {
  batchFile,
  claimed,
  memoryLedger,
  payout,
  plannedRow,
  planning,
  record,
} from "./small-ledger.ts";

/** A merchant with a ledger file, and an empty ledger on a server. */
async function merchantWithServer(options: Parameters<typeof openMerchantApart>[0] = {}) {
  const cluster = await sharedCluster();
  const merchant = await openMerchantApart(options);
  const { database, url } = await teamLedger(cluster, "mover");
  return {
    merchant,
    cluster,
    database,
    url: url("mover"),
    rows: (sql: string) => cluster.run(sql, database),
  };
}

/** Runs lenden on the server's ledger, on a machine without a file. */
function onServer(merchant: Merchant, url: string) {
  const env = machine(merchant, url);
  return (args: string[]) => lenden(args, { env });
}

/** The machine that has the file, with the ledger on the server. */
function beside({ env }: Merchant, url: string) {
  return { ...env, LENDEN_LEDGER_URL: url };
}

function payroll(): string {
  const file = join(scratchFolder(), "payroll.csv");
  const rows = [1, 2, 3].map((row) => `ROW-${row},${row}00,0171000000${row},bkash`);
  writeFileSync(file, ["ref,amount,to,method", ...rows].join("\n"));
  return file;
}

/** Lets inserts into a table fail. */
const failing = (table: string, when = "") => `
  CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''the disk is full''; END';
  CREATE TRIGGER fail BEFORE INSERT ON lenden.${table} FOR EACH ROW ${when} EXECUTE FUNCTION fail()`;

const move = (url: string) => ["ledger", "move", url, "--yes"];

const confirmed = { state: "CONFIRMED", remoteId: "PO-1", sent: true } as const;

async function planned(ledger: Ledger): Promise<void> {
  const claim = await ledger.batches.claim(batchFile("november.csv"), whichBatch);
  const rows = () => [1, 2, 3].map((row) => plannedRow(row));
  expect(await ledger.batches.plan(claim.batch, planning(rows))).toMatchObject({
    kind: "planned",
  });
}

/** A file to be copied, and another process that uses the server. */
async function besideAnother() {
  const { cluster, login, open, run } = await ledgerDatabase();
  const proxy = await startCutProxy(cluster);
  const { connection } = await open({ login: login({ host: proxy.folder, port: 5432 }) });
  const { ledger: other, connection: second } = await open();
  const { database, ledger } = await memoryLedger();
  await planned(ledger);
  await record(ledger, await claimed(ledger, payout("SENT")), confirmed);
  await claimed(ledger, payout("UNKNOWN"));
  await ledger.callbacks.keep(request, "received", false);
  const more = async (count: number) => {
    for (let place = 0; place < count; place += 1)
      await record(ledger, await claimed(ledger, payout(`MORE-${place}`)), {
        ...confirmed,
        remoteId: `MORE-${place}`,
      });
  };
  const copy = () => moveLedger(database, connection, by);
  const copyBeside = () => moveLedger(database, second, by);
  return { ledger, other, proxy, run, more, copy, copyBeside };
}

const request = { method: "POST", target: "/", headers: {}, body: Buffer.from("{}") };
const by = { at: "2026-11-20T10:00:00.000Z", user: "ann", machine: "m", path: "ledger.db" };

describe("ledger move", () => {
  serverTest(
    "keeps the seals, so that ledger resolve sends what the file left unknown",
    async () => {
      const ill = faults("createPayout:status-500");
      const { merchant, url } = await merchantWithServer({ faults: ill });
      const unknown = async (...line: string[]) =>
        expect(await merchant.lenden([...line, "--timeout", "2s"])).toMatchObject({ code: 75 });
      await unknown(...payoutOf("UNKNOWN"));
      await unknown("payout", "batch", "send", payroll(), "--yes");
      ill.splice(0);
      await merchant.json(move(url));

      const resolved = await onServer(merchant, url)(["ledger", "resolve", "--json"]);

      expect(resolved.code).toBe(0);
      const states = JSON.parse(resolved.stdout).map(({ state }: { state: string }) => state);
      expect(new Set(states)).toEqual(new Set(["CONFIRMED"]));
      expect(await merchant.count("payouts")).toBe(states.length);
    },
  );

  serverTest("resolves no row there before the file is moved completely", async () => {
    const ill = faults("createPayout:status-500");
    const { merchant, url, rows } = await merchantWithServer({ faults: ill });
    const send = ["payout", "batch", "send", payroll(), "--yes", "--timeout", "2s"];
    expect(await merchant.lenden(send)).toMatchObject({ code: 75 });
    ill.splice(0);
    await rows(failing("events", "WHEN (NEW.event = 'imported')"));
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
    await rows("DROP TRIGGER fail ON lenden.events");
    const [row] = await rows("SELECT reference FROM lenden.operations WHERE batch IS NOT NULL");
    const resolve = ["ledger", "resolve", String(row?.reference), "--json"];

    const early = await onServer(merchant, url)(resolve);

    expect([early.code, errorOf(early).reason]).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.json(move(url))).toMatchObject({ existing: expect.any(Number) });
    expect(await onServer(merchant, url)(resolve)).toMatchObject({ code: 0 });
  });

  serverTest("copies operations, plans and histories, and retires the file", async () => {
    const { merchant, url } = await merchantWithServer();
    await merchant.id(payoutOf("INV-1"));
    const payment = await paidPayment(merchant);
    await merchant.id(refundOf(payment, "50"));
    await merchant.json(["payout", "batch", "send", payroll(), "--yes"]);
    const before = await exported(merchant);
    const backup = join(merchant.dataFolder, "backup.db");
    await merchant.json(["ledger", "backup", backup]);
    const moved = await merchant.json(move(url));
    expect(moved).toMatchObject({ operations: 6, existing: 0, batches: 1 });

    const there = onServer(merchant, url);
    const after = await there(["ledger", "export", "--json"]);
    expect(withoutLogins(after.stdout)).toEqual(before);
    // Whoever moves the file is who recorded its operations there.
    expect(new Set(after.stdout.match(/"login":"\w+"/g))).toEqual(new Set(['"login":"mover"']));
    expect(await there(["ledger", "check"])).toMatchObject({ code: 0 });
    const shown = await there(["ledger", "show", "INV-1", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      history: [{ event: "intent" }, { event: "attempt" }],
    });

    // The guards know what the file knew.
    expect(await there([...payoutOf("INV-1"), "--json"])).toMatchObject({ code: 0 });
    expect(await merchant.count("payouts")).toBe(4);
    const again = refundOf(payment, "50");
    expect(await there(again)).toMatchObject({ code: 3 });
    const sent = await there(["payout", "batch", "send", payroll(), "--yes"]);
    expect(sent.code).toBe(0);
    expect(await merchant.count("payouts")).toBe(4);

    const local = await merchant.lenden(payoutOf("INV-2"));
    expect(local).toMatchObject({ code: 1 });
    expect(local.stderr).toContain("was moved to postgres://");
    const restored = await merchant.lenden(["ledger", "restore", backup, "--yes"]);
    expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining("was moved to")]);
    expect(await merchant.count("payouts")).toBe(4);
  });

  serverTest("continues after it was interrupted, and sends nothing meanwhile", async () => {
    const { merchant, url, rows } = await merchantWithServer();
    for (const reference of ["INV-1", "INV-2"]) await merchant.id(payoutOf(reference));
    await rows(failing("operations"));
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
    const local = await merchant.lenden(payoutOf("INV-3"));
    expect(local).toMatchObject({ code: 1 });
    expect(local.stderr).toContain("is being moved to");
    await rows("DROP TRIGGER fail ON lenden.operations");
    // The server has not got everything yet.
    const remote = await built([...payoutOf("INV-3"), "--json"], { env: beside(merchant, url) });
    expect([remote.code, errorOf(remote)]).toMatchObject([
      1,
      { reason: "ledger.not-moved", message: expect.stringContaining("is not complete") },
    ]);
    expect(await merchant.json(move(url))).toMatchObject({ operations: 2, existing: 0 });
    expect(await merchant.count("payouts")).toBe(2);
  });

  serverTest("sends no batch there before its payouts arrived", async () => {
    const { merchant, url, rows } = await merchantWithServer();
    const file = payroll();
    expect(await merchant.lenden(["payout", "batch", "send", file, "--yes"])).toMatchObject({
      code: 0,
    });
    await rows(failing("operations"));
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
    await rows("DROP TRIGGER fail ON lenden.operations");
    const remote = onServer(merchant, url);
    const [batch] = await rows("SELECT id FROM lenden.batches");
    const sends = [file, String(batch?.id)].map((what) => [
      "payout",
      "batch",
      "send",
      what,
      "--yes",
      "--json",
    ]);
    for (const send of sends) {
      const denied = await remote(send);
      expect([denied.code, errorOf(denied).reason]).toEqual([1, "ledger.not-moved"]);
    }
    const id = String(batch?.id);
    const cancelled = await remote(["payout", "batch", "cancel", id]);
    expect([cancelled.code, cancelled.stderr]).toEqual([4, expect.stringContaining("may be paid")]);
    // What another login says of the file does not end its move.
    await rows(`INSERT INTO lenden.events (number, at, event, data, hash, commit_id, login)
      SELECT (SELECT max(number) + 1 FROM lenden.events), at, 'imported', json_build_object('source', data::json ->> 'source'), hash, 0, 'mallory'
      FROM lenden.events WHERE event = 'plan'`);
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 0 });
    for (const send of sends) expect(await remote(send)).toMatchObject({ code: 0 });
    expect(await merchant.count("payouts")).toBe(3);
  });

  serverTest("ends with 0 after it was completed, if the server has the ledger", async () => {
    const { merchant, url, cluster, rows } = await merchantWithServer();
    await merchant.id(payoutOf("INV-1"));
    await merchant.json(move(url));
    for (const line of [move(url), move(url).slice(0, -1)])
      expect(await merchant.json(line)).toMatchObject({ operations: 0, existing: 1 });
    expect(await rows("SELECT number::int FROM lenden.operations")).toHaveLength(1);
    const other = await teamLedger(cluster, "mover");
    const elsewhere = await merchant.lenden(move(other.url("mover")));
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining("was moved to"),
    ]);
    await rows("DELETE FROM lenden.events WHERE event = 'imported'");
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
  });

  serverTest(
    "ends what keeps this machine from using the server, as does another environment",
    async () => {
      const { merchant, url } = await merchantWithServer();
      const payment = await paidPayment(merchant);
      await merchant.id(refundOf(payment, "60"));
      const env = beside(merchant, url);
      const again = async () => {
        const outcome = await built([...refundOf(payment, "60"), "--json"], { env });
        return [outcome.code, errorOf(outcome).reason];
      };
      expect(await again()).toEqual([1, "ledger.not-moved"]);
      const setEnvironment = (name: string) =>
        merchant.inLedger((ledger) => ledger.exec(`UPDATE accounts SET environment = '${name}'`));
      await setEnvironment("production");
      expect(await built(payoutOf("INV-1"), { env })).toMatchObject({ code: 0 });
      await setEnvironment("sandbox");
      expect(await built(move(url), { env })).toMatchObject({ code: 0 });
      expect(await again()).toEqual([3, "refund.amount-too-large"]);
      expect(await built(payoutOf("INV-2", "--again"), { env })).toMatchObject({ code: 0 });
      expect(await merchant.count("refunds")).toBe(1);
    },
  );

  serverTest("to one server does not open another one, however its URL is written", async () => {
    const { merchant, url, cluster, database } = await merchantWithServer();
    const payment = await paidPayment(merchant);
    await merchant.id(refundOf(payment, "60"));
    await merchant.json(move(url));
    const refund = async (ledger: string, run: typeof lenden = built) => {
      const line = [...refundOf(payment, "60"), "--json"];
      const outcome = await run(line, { env: beside(merchant, ledger) });
      return [outcome.code, errorOf(outcome).reason];
    };
    const other = await teamLedger(cluster, "mover", "second");
    expect(await refund(other.url("mover"))).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.lenden(move(other.url("mover")))).toMatchObject({ code: 1 });
    expect(await refund(other.url("mover"))).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.count("refunds")).toBe(1);
    // The same server, with another login, and by another way that only the server can tell.
    const known = [3, "refund.amount-too-large"];
    for (const login of ["mover", "second"])
      expect(await refund(cluster.url(database, login))).toEqual(known);
    const link = join(scratchFolder(), "link");
    symlinkSync(cluster.folder, link);
    const linked = url.replace(encodeURIComponent(cluster.folder), encodeURIComponent(link));
    expect(await refund(linked)).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.json(move(linked))).toMatchObject({ operations: 0 });
    for (const one of [linked, url]) expect(await refund(one)).toEqual(known);
    expect(await refund(other.url("mover"), lenden)).toEqual([1, "ledger.not-moved"]);
    const env = beside(merchant, other.url("mover"));
    const { stdout } = await built(["ledger", "check", "--json"], { env });
    const { file } = JSON.parse(stdout);
    expect(file).toMatchObject({ state: "moved-elsewhere" });
    const accept = ["ledger", "check", "--accept-file", "--yes", "--accept-hash", file.newest];
    expect(await built(accept, { env })).toMatchObject({ code: 0 });
    expect(await built(payoutOf("ACCEPTED"), { env })).toMatchObject({ code: 0 });
  });

  serverTest("is needed if the file beside the server cannot be read", async () => {
    const { merchant, url } = await merchantWithServer();
    mkdirSync(merchant.dataFolder);
    writeFileSync(merchant.ledgerFile, "this is not a database");
    const outcome = await built([...payoutOf("A"), "--json"], { env: beside(merchant, url) });
    expect([outcome.code, errorOf(outcome).reason]).toEqual([1, "ledger.not-moved"]);
    expect(await merchant.count("payouts")).toBe(0);
  });

  serverTest("copies nothing if a reference belongs to another payout there", async () => {
    const { merchant, url, rows } = await merchantWithServer();
    const there = onServer(merchant, url);
    expect(await there(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    await merchant.id(payoutOf("INV-0"));
    // Another machine used the reference for another amount, before both shared a ledger.
    await rows("UPDATE lenden.operations SET amount_paisa = 1, remote_id = 'PO-X'");
    const other = await merchant.lenden(payoutOf("INV-1"));
    expect(other.code).toBe(0);
    const moved = await merchant.lenden(move(url));
    expect(moved).toMatchObject({ code: 5 });
    expect(moved.stderr).toContain("reference INV-1");
    expect(await rows("SELECT count(*)::int AS count FROM lenden.operations")).toEqual([
      { count: 1 },
    ]);
    expect(await merchant.lenden(payoutOf("INV-2"))).toMatchObject({ code: 0 });
  });

  serverTest("plans a batch that was claimed there and denied", async () => {
    const { merchant, url, rows } = await merchantWithServer();
    const send = ["payout", "batch", "send", payroll(), "--yes"];
    expect(await merchant.lenden(send)).toMatchObject({ code: 0 });
    const there = onServer(merchant, url);
    expect(await there(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    const { account } = await merchant.json(["ledger", "show", "ROW-1"]);
    await rows(`INSERT INTO lenden.limits (environment, account, name, value)
      VALUES ('sandbox', '${account}', 'payout', '100')`);
    expect(await there(send)).toMatchObject({ code: 4 });

    expect(await merchant.lenden(move(url))).toMatchObject({ code: 0 });

    const again = await there([...send, "--json"]);
    expect([again.code, JSON.parse(again.stdout).warnings]).toMatchObject([
      ...[0, [{ reason: "batch.already-sent" }]],
    ]);
    expect(await there(["ledger", "check"])).toMatchObject({ code: 0 });
    expect(await merchant.count("payouts")).toBe(4);
  });

  serverTest("waits for a process that claimed a batch of the file there", async () => {
    const { copy, copyBeside, other, proxy, run } = await besideAnother();
    await other.batches.claim(batchFile("november.csv"), whichBatch);
    // Before the file is marked: the process may plan the batch with other rows.
    const statements: string[] = [];
    proxy.onStatement = async (sql) => {
      statements.push(sql);
    };
    await expect(copy()).rejects.toMatchObject({ reason: "operation.locked" });
    expect(statements.join()).not.toContain("INSERT INTO lenden.batch");
    await run("UPDATE processes SET lease_until = clock_timestamp() - interval '61 s'");
    const both = await Promise.all([copy(), copyBeside()]);
    expect(both).toMatchObject([{ batches: 1 }, { batches: 1 }]);
  });

  serverTest.for([
    "UPDATE batches SET id = 'EVIL'",
    "INSERT INTO events (number, batch, at, event, data, commit_id, hash) SELECT (SELECT max(number) + 1 FROM events), number, created_at, 'cancelled', '{}', 'c', 'h' FROM batches",
  ])("plans no batch there that lenden does not claim: %s", async (sql) => {
    const { copy, other, run } = await besideAnother();
    const { batch } = await other.batches.claim(batchFile("november.csv"), whichBatch);
    await other.batches.release(batch);
    await run(sql);
    await expect(copy()).rejects.toMatchObject({ reason: "ledger.move-conflict" });
  });

  serverTest("takes no payout there for that of the file that another login recorded", async () => {
    const { merchant, url, rows } = await merchantWithServer();
    expect(await onServer(merchant, url)(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    await rows("UPDATE lenden.operations SET login = 'mallory'");
    const denied = await merchant.lenden([...move(url), "--json"]);
    expect([denied.code, errorOf(denied)]).toMatchObject([
      ...[5, { reason: "ledger.move-conflict", message: expect.stringContaining("mallory") }],
    ]);
    const accept = typedBy(errorOf(denied).hint, "ledger check");
    expect((await built(accept, { env: beside(merchant, url) })).stderr).toContain("--accept-hash");
    await rows("UPDATE lenden.operations SET login = 'mover'");
    expect(await merchant.json(move(url))).toMatchObject({ existing: 1 });
  });

  serverTest("takes no payout there for that of the file by what its columns say", async () => {
    const ill = faults("createPayout:status-400");
    const { merchant, url, rows } = await merchantWithServer({ faults: ill });
    expect(await onServer(merchant, url)(payoutOf("INV-1"))).toMatchObject({ code: 3 });
    ill.splice(0);
    expect(await merchant.lenden(payoutOf("INV-1"))).toMatchObject({ code: 0 });
    const { remoteId } = await merchant.json(["ledger", "show", "INV-1"]);
    await rows(`UPDATE lenden.operations SET state = 'CONFIRMED', remote_id = '${remoteId}'`);
    const denied = await merchant.lenden([...move(url), "--json"]);
    expect([denied.code, errorOf(denied)]).toMatchObject([5, { reason: "ledger.move-conflict" }]);
  });

  serverTest.for([
    "UPDATE events SET login = 'mallory' WHERE event = 'plan'",
    "DELETE FROM events WHERE event = 'plan'",
  ])("takes no plan there for that of the file that this login did not make: %s", async (sql) => {
    const { copy, other, run } = await besideAnother();
    await planned(other);
    await run(sql);
    await expect(copy()).rejects.toMatchObject({ reason: "ledger.move-conflict" });
  });

  serverTest("takes no plan there for one that was cancelled in the file", async () => {
    const { copy, other, ledger } = await besideAnother();
    await planned(other);
    const [batch] = await ledger.batches.list(1);
    if (!batch) throw new Error("the ledger lost a batch");
    const claim = await ledger.batches.claimPlanned(batch, "cancel");
    await ledger.batches.cancel(claim.batch);
    await expect(copy()).rejects.toMatchObject({ reason: "ledger.move-conflict" });
  });

  const unsent = [
    ["not sent", "createPayout:status-403"],
    ["of unknown outcome", "createPayout:status-500"],
  ] as const;

  async function withUnsent(fault: string) {
    const ill = faults(fault);
    const shop = await merchantWithServer({ faults: ill });
    const file = payroll();
    const send = ["payout", "batch", "send", file, "--yes"];
    expect((await shop.merchant.lenden([...send, "--timeout", "2s"])).code).not.toBe(0);
    ill.splice(0);
    const { account } = await shop.merchant.json(["ledger", "show", "ROW-1"]);
    const limit = () =>
      shop.rows(`INSERT INTO lenden.limits (environment, account, name, value)
        VALUES ('sandbox', '${account}', 'payout', '100')`);
    return { ...shop, send, limit };
  }

  serverTest.for(unsent)(
    "moves no rows %s to a ledger whose limits did not judge them",
    async ([, fault]) => {
      const { merchant, url, limit } = await withUnsent(fault);
      await limit();

      const denied = await merchant.lenden([...move(url), "--json"]);

      expect([denied.code, errorOf(denied)]).toMatchObject([5, { reason: "ledger.move-conflict" }]);
      const next = typedBy(errorOf(denied).hint);
      expect(await merchant.lenden([...next, "--yes"])).toMatchObject({ code: 0 });
      expect(await merchant.lenden(move(url))).toMatchObject({ code: 0 });
    },
  );

  serverTest.for(unsent)(
    "cancels a batch with rows %s if limits are set while it is interrupted",
    async ([, fault]) => {
      const { merchant, url, rows, limit, send } = await withUnsent(fault);
      await rows(failing("batch_rows"));
      expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
      await rows("DROP TRIGGER fail ON lenden.batch_rows");
      await limit();

      const moved = await merchant.lenden([...move(url), "--json"]);

      expect(moved.code).toBe(0);
      expect(JSON.parse(moved.stdout)).toMatchObject({ cancelled: 1 });
      const remote = onServer(merchant, url);
      expect(await remote(send)).toMatchObject({ code: 3 });
      const named = await remote([...send, "--name", "again", "--json"]);
      expect([named.code, errorOf(named)]).toMatchObject([4, { reason: "limits.payout" }]);
      expect(await merchant.count("payouts")).toBe(0);
    },
  );

  serverTest("moves nothing if another process opens the file after the question", async () => {
    const { merchant, cluster, database, rows } = await merchantWithServer();
    await merchant.id(payoutOf("INV-1"));
    const proxy = await startCutProxy(cluster);
    // The first transaction at the server follows the confirmation.
    let listening: Child | undefined;
    proxy.onStatement = async (sql) => {
      if (sql !== "COMMIT" || listening) return;
      listening = merchant.start(["callback", "listen", "--port", "0"]);
      await once(listening.stdout, "data");
    };
    expect(await merchant.lenden(move(proxy.url(database)))).toMatchObject({ code: 7 });
    expect(await rows("SELECT number FROM lenden.operations")).toEqual([]);
    listening?.kill("SIGINT");
    if (listening) await once(listening, "close");
    expect(await merchant.lenden(payoutOf("INV-2"))).toMatchObject({ code: 0 });
  });

  serverTest("copies callbacks once, also if another user continues it", async () => {
    const { open, run } = await ledgerDatabase();
    const { connection } = await open();
    const { database, ledger } = await memoryLedger();
    await ledger.callbacks.listen();
    await ledger.callbacks.keep(request, "received", false);
    expect(await moveLedger(database, connection, by)).toMatchObject({ callbacks: 1 });
    const again = await moveLedger(database, connection, { ...by, user: "root" });
    expect(again).toMatchObject({ callbacks: 0 });
    expect(await run("SELECT count(*)::int AS count FROM callbacks")).toEqual([{ count: 1 }]);
  });

  serverTest("copies the entries that were not withdrawn once", async () => {
    const { ledger, other, copy } = await besideAnother();
    const entry = (key: string) => ({
      ...{ key, category: "fee" as const, paisa: -500n, bookedAt: "2026-11-20T04:00:00.000Z" },
      ...{ line: "s.csv, line 2", reason: "fee", mapping: "bank", digest: "d1" },
    });
    await ledger.entries.record([entry("kept"), entry("withdrawn")]);
    await ledger.entries.withdraw("withdrawn", "wrong");
    await copy();
    await copy();
    await other.account(); // read before the move
    const [found] = await collect(other.entries.list());
    expect(found?.map(({ key }) => key)).toEqual(["kept"]);
    expect((await other.entries.ofKeys(["kept"])).size).toBe(1);
  });

  serverTest("locks the server's ledger for no plan and no callbacks as a whole", async () => {
    const { copy, other, proxy, run } = await besideAnother();
    let claims = 0;
    proxy.onStatement = async (sql) => {
      if (!/INSERT INTO lenden.(?:batch_rows|callbacks)/.test(sql)) return;
      claims += 1;
      await claimed(other, payout(`OTHER-${claims}`));
    };
    expect(await copy()).toMatchObject({ operations: 2, batches: 1, callbacks: 1 });
    // The process that planned it has ended.
    const held = "SELECT process, held_since FROM batches";
    expect(await run(held)).toEqual([{ process: null, held_since: null }]);
    expect(claims).toBe(2);
    expect(await run("SELECT count(*)::int AS count FROM operations")).toEqual([{ count: 4 }]);
  });

  serverTest.for(["amount", "nothing"] as const)(
    "finds a payout that is recorded there during the move, and differs by %s",
    async (what) => {
      const { copy, other, proxy, run } = await besideAnother();
      let copied = false;
      proxy.onStatement = async (sql) => {
        copied ||= /JOIN lenden.operations o ON o.id = a.id/.test(sql);
        if (!copied || !/FOR UPDATE/.test(sql)) return;
        proxy.onStatement = () => {};
        const intent = payout("SENT", what === "amount" ? { amountPaisa: 1n } : {});
        await record(other, await claimed(other, intent), confirmed);
      };
      if (what === "nothing") expect(await copy()).toMatchObject({ operations: 1, existing: 1 });
      else await expect(copy()).rejects.toMatchObject({ reason: "ledger.move-conflict" });
      expect(await run("SELECT count(*)::int AS count FROM operations")).toEqual([
        { count: what === "nothing" ? 2 : 1 },
      ]);
    },
  );

  serverTest("finds a plan that is stored there during the move", async () => {
    const { copy, other, proxy, run } = await besideAnother();
    proxy.onStatement = async (sql) => {
      if (!/INSERT INTO lenden.batch_rows/.test(sql)) return;
      proxy.onStatement = () => {};
      await planned(other);
    };
    expect(await copy()).toMatchObject({ batches: 1 });
    expect(await run("SELECT count(*)::int AS count FROM batch_rows")).toEqual([{ count: 3 }]);
    expect(await run("SELECT row_count::int FROM batches")).toEqual([{ row_count: 3 }]);
  });

  serverTest(
    "continues after kill -9 at any statement, and loses and doubles nothing",
    async () => {
      const merchant = await openMerchantApart();
      await merchant.id(payoutOf("INV-1"));
      const payment = await paidPayment(merchant);
      await merchant.id(refundOf(payment, "50"));
      await merchant.json(["payout", "batch", "send", payroll(), "--yes"]);
      const before = await exported(merchant);
      const restore = savedLedger(merchant);
      const cluster = await sharedCluster();
      const proxy = await startCutProxy(cluster);

      /** Kills the move before this statement; the number of statements that it sent. */
      const moveUntil = async (url: string, last: number) => {
        let count = 0;
        const child = merchant.start(move(url));
        proxy.onStatement = async () => {
          count += 1;
          if (count === last) child.kill("SIGKILL");
          // A statement that arrives with an earlier one goes no further either.
          if (count >= last) await once(child, "close");
        };
        const outcome = await ended(child);
        proxy.onStatement = () => {};
        return { ...outcome, count };
      };
      const whole = await ledgerDatabase();
      const { count } = await moveUntil(proxy.url(whole.name, "writer"), Number.POSITIVE_INFINITY);
      expect(count).toBeGreaterThan(20);

      const kills = runs(6, count);
      for (let kill = 1; kill <= kills; kill += 1) {
        restore();
        const { name, run } = await ledgerDatabase();
        const url = proxy.url(name, "writer");
        const last = Math.ceil((kill * count) / kills);
        expect(await moveUntil(url, last)).toMatchObject({ signal: "SIGKILL" });
        const [marked] = await run("SELECT 1 FROM operations");
        if (marked) {
          const local = await merchant.lenden(payoutOf("INV-2"));
          expect([local.code, local.stderr]).toEqual([
            1,
            expect.stringContaining("is being moved"),
          ]);
        }
        const { operations, existing, batches } = await merchant.json(move(url));
        expect([Number(operations) + Number(existing), batches]).toEqual([6, 1]);
        const env = { ...machine(merchant, url) };
        expect(await lenden(["ledger", "check"], { env })).toMatchObject({ code: 0 });
        const { stdout } = await lenden(["ledger", "export", "--json"], { env });
        expect(withoutLogins(stdout)).toEqual(before);
        expect(await run("SELECT count(*)::int AS rows FROM batch_rows")).toEqual([{ rows: 3 }]);
        const local = await merchant.lenden(payoutOf("INV-2"));
        expect([local.code, local.stderr]).toEqual([1, expect.stringContaining("was moved to")]);
      }
      expect(await merchant.count("payouts")).toBe(4);
    },
  );

  serverTest.for(["before", "half", "unanswered", "after"] as const)(
    "copies each page once if each commit is cut: %s",
    async (cut: Cut) => {
      const { copy, more, proxy, run } = await besideAnother();
      await more(1_100);
      let commits = 0;
      proxy.onCommit = () => {
        commits += 1;
        // The second attempt of each passes.
        return commits % 2 === 1 ? cut : undefined;
      };
      expect(await copy()).toMatchObject({ operations: 1_102, existing: 0, callbacks: 1 });
      expect(commits).toBeGreaterThan(5);
      const counts = await run(`SELECT (SELECT count(*)::int FROM operations) AS operations,
        (SELECT count(DISTINCT id)::int FROM operations) AS ids,
        (SELECT count(*)::int FROM batch_rows) AS rows, (SELECT count(*)::int FROM callbacks) AS callbacks`);
      expect(counts).toEqual([{ operations: 1_102, ids: 1_102, rows: 3, callbacks: 1 }]);
    },
  );

  serverTest("continues after others changed what was copied", async () => {
    const { copy, other } = await besideAnother();
    expect(await copy()).toMatchObject({ operations: 2 });
    await record(other, await claimed(other, payout("UNKNOWN")), {
      ...confirmed,
      remoteId: "PO-2",
    });
    expect(await copy()).toMatchObject({ operations: 0, existing: 2, batches: 1, callbacks: 0 });
  });

  serverTest.for([
    ["differs", "UPDATE events SET data = replace(data, '500', '501') WHERE event = 'intent'"],
    ["differs", "DELETE FROM events WHERE event = 'attempt'"],
    ["differs", "DELETE FROM operations WHERE reference = 'UNKNOWN'"],
    ["differs", "DELETE FROM batches"],
    ["conflict", "UPDATE batch_rows SET amount_paisa = 501 WHERE row = 2"],
    ["conflict", "DELETE FROM batch_rows WHERE row = 3"],
  ] as const)(
    "is not complete, but ends with %s, if a copy on the server is changed: %s",
    async ([kind, sql]) => {
      const { copy, proxy, run } = await besideAnother();
      let copied = false;
      proxy.onStatement = async (statement) => {
        copied ||= /INSERT INTO lenden.operations/.test(statement);
        if (!copied || !/lenden.account_keys/.test(statement)) return;
        proxy.onStatement = () => {};
        await run(sql);
      };
      await expect(copy()).rejects.toMatchObject({ reason: `ledger.move-${kind}` });
      expect(await run("SELECT 1 FROM events WHERE event = 'imported'")).toEqual([]);
    },
  );

  serverTest.for([
    ["operations", '"reference":"SENT"', '"reference":"SEND"'],
    ["batch_rows", '"method":"bkash"', '"method":"bkasx"'],
    ["callbacks", '"method":"POST"', '"method":"PAST"'],
  ] as const)("stores no page of %s that differs from the file", async ([table, from, to]) => {
    const { copy, proxy, run } = await besideAnother();
    proxy.replaces = [from, to];
    await expect(copy()).rejects.toMatchObject({ reason: "ledger.move-differs" });
    expect(await run(`SELECT count(*)::int AS count FROM ${table}`)).toEqual([{ count: 0 }]);
  });
});

/** What `ledger export` shows of the file. */
async function exported(merchant: Merchant): Promise<unknown> {
  const { stdout } = await merchant.lenden(["ledger", "export", "--json"]);
  return withoutLogins(stdout);
}

/** On the server, whoever moved the file has recorded its operations. */
function withoutLogins(json: string): unknown {
  return JSON.parse(json, (key, value: unknown) => (key === "login" ? undefined : value));
}

/** Saves a ledger and its stored position; the returned function puts both back. */
function savedLedger({ env, dataFolder, booksFile }: Merchant): () => void {
  const { LENDEN_CONFIG_DIR: folder = "" } = env;
  const saved = scratchFolder();
  const isOwn = (path: string) => !path.startsWith(booksFile);
  cpSync(folder, saved, { recursive: true, filter: isOwn });
  return () => {
    rmSync(dataFolder, { recursive: true });
    cpSync(saved, folder, { recursive: true });
  };
}
