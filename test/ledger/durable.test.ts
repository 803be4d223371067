import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { claim, payout, worker } from "./small-ledger.ts";

test("P8: a commit of the ledger's file is on the disk when it returns", async () => {
  const database = await openDatabase(join(scratchFolder(), "ledger.db"));
  expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2n });
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  database.close();
});

test("P8: what a transaction wrote is seen by another process when it returns, and not before", async () => {
  const path = join(scratchFolder(), "ledger.db");
  const [database, other] = [await openDatabase(path), await openDatabase(path)];
  database.exec("CREATE TABLE kept (id TEXT PRIMARY KEY) STRICT");
  const count = () => other.prepare("SELECT count(*) AS kept FROM kept").get()?.kept;
  database.transaction(() => {
    database.prepare("INSERT INTO kept VALUES (?)").run("a");
    expect(count()).toBe(0n);
  });
  expect(count()).toBe(1n);
  expect(readFileSync(`${path}-wal`).byteLength).toBeGreaterThan(0);
  database.close();
  other.close();
});

test("P4: no other process can write between the checks of a claim and its intent", async () => {
  const path = join(scratchFolder(), "ledger.db");
  const database = await openDatabase(path);
  // Waits for no lock.
  const other = await openDatabase(path, () => 0);
  // The checks are done when the intent gets its ID.
  const newId = () => {
    expect(() => other.transaction(() => {})).toThrow(/locked/);
    return "OP1";
  };
  const ledger = openLedger(database, worker({ newId }));
  expect(await claim(ledger, payout("A"))).toMatchObject({ kind: "new" });
  database.close();
  other.close();
});
