import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { migrate } from "../../src/ledger/sqlite/schema.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { collect, scratchFolder } from "../support/helpers.ts";
import { inDatabase, openMerchant, payoutOf } from "../support/merchant.ts";
import { claim, owner, payout, worker } from "./small-ledger.ts";

describe("migrations", () => {
  test("P7: with a newer schema nothing is sent", async () => {
    const merchant = await openMerchant();
    await merchant.lenden(["ledger", "check"]);
    await merchant.inLedger((ledger) => ledger.exec("PRAGMA user_version = 99"));
    const { code, stderr } = await merchant.lenden(payoutOf("NEWER"));
    expect(code).toBe(1);
    expect(stderr).toContain("newer version of lenden");
    expect(await merchant.moneyRequests()).toEqual([]);
  });

  test("a ledger of version 2 keeps all its records, and can send", async () => {
    const database = await openDatabase(":memory:");
    // Written by the schema before the accounts had a table: two payouts, a payment, a batch of two.
    database.exec(readFileSync(resolve(import.meta.dirname, "version-2.sql"), "utf8"));
    const baseUrl = "http://127.0.0.1:41999/cp/api/v1";
    const ledger = openLedger(
      database,
      worker({ owner: { ...owner, baseUrl, keyId: "c82ae6a2afdf270c" } }),
    );
    expect(await integrityOf(database)).toMatchObject({ brokenAt: null, modified: [] });
    expect(
      (await collect(ledger.list(undefined, { oldestFirst: true }))).map(
        ({ reference, amountPaisa }) => [reference, amountPaisa],
      ),
    ).toEqual([
      ["OLD-1", 50_025n],
      [null, 10_000n],
      ["ROW-1", 1_000n],
      ["ROW-2", 2_050n],
    ]);
    expect(await ledger.find("OLD-1")).toMatchObject({ state: "CONFIRMED", baseUrl });
    expect((await claim(ledger, payout("OLD-1"))).kind).toBe("different");
    expect((await claim(ledger, payout("NEW"))).kind).toBe("new");
    const batch = await ledger.batches.find("BGR9XY8");
    expect(batch?.plan).toMatchObject({ rowCount: 2, totalPaisa: 3_050n });
    expect(batch?.fileName).toBe("rows.csv");
    const resumed = database.prepare(
      "SELECT reference, resumed_at AS at FROM operations WHERE resumed_at NOT NULL",
    );
    expect(resumed.all()).toEqual([
      { reference: "OLD-1", at: "2026-11-21T23:10:29.276Z" },
      { reference: "ROW-1", at: "2026-11-21T23:10:29.931Z" },
      { reference: "ROW-2", at: "2026-11-21T23:10:29.933Z" },
    ]);
    expect(batch && (await ledger.batches.tally(batch))).toEqual([
      { state: "CONFIRMED", status: "Processing", count: 2, sumPaisa: 3_050n },
    ]);
  });

  test("a ledger of version 11 keeps its callbacks unmodified, and stores why one is not forwarded", async () => {
    const database = await openDatabase(":memory:");
    const { callbacks } = openLedger(database, worker());
    const request = { method: "POST", target: "/a", headers: {}, body: Buffer.from("x") };
    await callbacks.keep(request, "received", true);
    const verdict = { verdict: "verified", explanation: null, records: [], finding: "f" };
    const to = "http://h/";
    await callbacks.recordVerdict(1, verdict, to);
    await callbacks.recordForwarded(1, { to, status: null, fault: null, finding: "f" });
    database.exec("ALTER TABLE callbacks DROP COLUMN forwarded_fault; PRAGMA user_version = 11");
    const later = openLedger(database, worker()).callbacks;
    expect(await integrityOf(database)).toMatchObject({ brokenAt: null, modified: [] });
    const fault = "connection refused";
    await later.recordForwarded(1, { to, status: null, fault, finding: "f" });
    expect((await later.find(1))?.forwarded).toEqual({ to, status: null, fault, finding: "f" });
    expect(await integrityOf(database)).toMatchObject({ brokenAt: null, modified: [] });
  });

  describe("of version 8 (two sandboxes on one port, a profile whose key was replaced)", () => {
    const keys = { first: "b0306864a593c5e5", second: "751642f88e3d44a9" };
    const profiles = [{ name: "local", environment: "sandbox", keyHash: keys.second }];
    async function migrated() {
      const database = await openDatabase(":memory:");
      database.exec(readFileSync(resolve(import.meta.dirname, "version-8.sql"), "utf8"));
      migrate(database, profiles);
      const ledgerOf = (keyId: string) =>
        openLedger(database, worker({ owner: { ...owner, keyId, account: {} } }));
      return { database, first: ledgerOf(keys.first), second: ledgerOf(keys.second) };
    }

    test("keeps every account apart, and the profile names the one that its key used last", async () => {
      const { database, first, second } = await migrated();
      const accounts = database.prepare("SELECT number, environment, name FROM accounts").all();
      expect(accounts).toEqual([
        { number: 1n, environment: "sandbox", name: "key-b03068" },
        { number: 2n, environment: "sandbox", name: "key-751642" },
        { number: 3n, environment: "sandbox", name: "local" },
      ]);
      expect([await first.account(), await second.account()]).toEqual(["key-b03068", "local"]);
      expect(await first.find("OLD-1")).toMatchObject({ state: "CONFIRMED", keyHash: keys.first });
      expect([await second.find("OLD-1"), (await second.find("HOST-1"))?.account]).toEqual([
        undefined,
        "local",
      ]);
    });

    test("a payout that was sent again before events had the key passes the check", async () => {
      const database = await openDatabase(":memory:");
      database.exec(readFileSync(resolve(import.meta.dirname, "version-8.sql"), "utf8"));
      database.exec(
        "UPDATE operations SET reopened_at = updated_at, resumed_at = updated_at WHERE number = 8",
      );
      const reopened = `SELECT 17, 8, updated_at, 'reopened', '{"state":"INTENT"}', '' FROM operations WHERE number = 8`;
      database.exec(`INSERT INTO events (number, operation, at, event, data, hash) ${reopened};
        UPDATE events SET number = 18, at = (SELECT at FROM events WHERE number = 17) WHERE number = 16`);
      migrate(database, profiles);
      expect(await integrityOf(database)).toMatchObject({ brokenAt: 16, modified: [] });
    });

    test("finds earlier payouts as duplicates, and passes the check", async () => {
      const { database, first } = await migrated();
      const sent = await first.find("OLD-1");
      if (!sent) throw new Error("the ledger has the payout");
      const acceptedMs = Date.parse(sent.acceptedAt ?? "");
      const ofFirst = { ...owner, keyId: keys.first, account: {} };
      const later = openLedger(
        database,
        worker({ owner: ofFirst, now: () => acceptedMs + 60_000 }),
      );
      const asked = { ...sent.asked, recipientNumber: "+8801712345678" };
      const intent = payout("NEW", { amountPaisa: sent.amountPaisa, asked });
      const duplicate = { kind: "duplicate", earlier: { reference: "OLD-1" } };
      expect(await later.preview({ intent, onDuplicate: "reject" })).toMatchObject(duplicate);
      expect(await integrityOf(database)).toMatchObject({ brokenAt: null, modified: [] });
    });
  });

  test("an empty file, and one without tables, get the newest schema", async () => {
    for (const start of ["", "PRAGMA user_version = 0; CREATE TABLE other (x); DROP TABLE other"]) {
      const path = join(scratchFolder(), "ledger.db");
      writeFileSync(path, "", { mode: 0o644 });
      await inDatabase(path, async (database) => {
        database.exec(start);
        expect((await claim(openLedger(database, worker()), payout("A"))).kind).toBe("new");
      });
      await inDatabase(path, async (database) => {
        expect((await openLedger(database, worker()).find("A"))?.state).toBe("INTENT");
      });
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });
});
