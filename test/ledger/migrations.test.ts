import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { migrate, versionOf } from "../../src/ledger/sqlite/schema.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { inDatabase, openMerchant, payoutOf } from "../support/merchant.ts";
import { claim, payout, worker } from "./small-ledger.ts";

describe("migrations", () => {
  test("P7: with a newer schema nothing is sent", async () => {
    const merchant = await openMerchant();
    await merchant.lenden(["ledger", "check"]);
    await merchant.inLedger((ledger) => ledger.exec("PRAGMA user_version = 99"));
    const { code, stderr } = await merchant.lenden(payoutOf("NEWER"));
    expect(code).toBe(1);
    expect(stderr).toContain("version 99");
    expect(await merchant.moneyRequests()).toEqual([]);
  });

  test("a schema of an earlier version is brought to the newest one in one transaction", async () => {
    const database = await openDatabase(":memory:");
    migrate(database, []);
    const steps = [
      "ALTER TABLE operations ADD COLUMN a TEXT",
      "CREATE INDEX one ON operations (a)",
    ];
    const ofBoth = steps.map((sql) => ({ sqlite: sql, postgres: sql }));
    migrate(database, ofBoth.slice(0, 1));
    migrate(database, ofBoth);
    expect(versionOf(database)).toBe(3);
    expect(database.prepare("SELECT a FROM operations INDEXED BY one").all()).toEqual([]);
    const broken = { sqlite: "DROP TABLE events; SELECT nothing FROM accounts", postgres: "" };
    expect(() => migrate(database, [...ofBoth, broken])).toThrow();
    expect(versionOf(database)).toBe(3);
    expect(database.prepare("SELECT * FROM events").all()).toEqual([]);
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
