import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { moveLedger } from "../../src/ledger/move.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { scratchFolder } from "../support/helpers.ts";
import { type Child, lenden } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paidPayment,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import { memoryLedger } from "./small-ledger.ts";

/** A merchant with a ledger file, and an empty ledger on a server. */
async function merchantWithServer() {
  const cluster = await sharedCluster();
  const merchant = await openMerchantApart();
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
function onServer({ env }: Merchant, url: string) {
  const folder = scratchFolder();
  const own = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  return (args: string[]) => lenden(args, { env: { ...env, ...own, LENDEN_LEDGER_URL: url } });
}

function payroll(merchant: Merchant): string {
  const file = join(merchant.dataFolder, "payroll.csv");
  const rows = [1, 2, 3].map((row) => `ROW-${row},${row}00,0171000000${row},bkash`);
  writeFileSync(file, ["ref,amount,to,method", ...rows].join("\n"));
  return file;
}

const move = (url: string) => ["ledger", "move", url, "--yes"];

describe("ledger move", () => {
  serverTest("copies operations, plans and histories, and retires the file", async () => {
    const { merchant, url } = await merchantWithServer();
    await merchant.id(payoutOf("INV-1"));
    const payment = await paidPayment(merchant);
    await merchant.id(refundOf(payment, "50"));
    await merchant.json(["payout", "batch", "send", payroll(merchant), "--yes"]);
    const before = await merchant.lenden(["ledger", "export", "--json"]);
    const backup = join(merchant.dataFolder, "backup.db");
    await merchant.json(["ledger", "backup", backup]);
    const moved = await merchant.json(move(url));
    expect(moved).toMatchObject({ operations: 6, existing: 0, batches: 1 });

    const there = onServer(merchant, url);
    const after = await there(["ledger", "export", "--json"]);
    expect(JSON.parse(after.stdout)).toEqual(JSON.parse(before.stdout));
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
    const sent = await there(["payout", "batch", "send", payroll(merchant), "--yes"]);
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
    await rows(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''the disk is full''; END';
      CREATE TRIGGER fail BEFORE INSERT ON lenden.operations FOR EACH ROW EXECUTE FUNCTION fail()`);
    expect(await merchant.lenden(move(url))).toMatchObject({ code: 1 });
    const local = await merchant.lenden(payoutOf("INV-3"));
    expect(local).toMatchObject({ code: 1 });
    expect(local.stderr).toContain("is being moved to");
    await rows("DROP TRIGGER fail ON lenden.operations");
    expect(await merchant.json(move(url))).toMatchObject({ operations: 2, existing: 0 });
    expect(await merchant.count("payouts")).toBe(2);
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
    const request = { method: "POST", target: "/", headers: {}, body: Buffer.from("{}") };
    await ledger.callbacks.keep(request, "received", false);
    const by = { at: "2026-11-20T10:00:00.000Z", user: "ann", machine: "m", path: "ledger.db" };
    expect(await moveLedger(database, connection, by)).toMatchObject({ callbacks: 1 });
    const again = await moveLedger(database, connection, { ...by, user: "root" });
    expect(again).toMatchObject({ callbacks: 0 });
    expect(await run("SELECT count(*)::int AS count FROM callbacks")).toEqual([{ count: 1 }]);
  });
});
