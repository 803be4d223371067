import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase, openUnchanging } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";

test("whole numbers are bigint, whatever their size, and rows hold the columns alone", async () => {
  const database = await openDatabase(":memory:");
  database.exec("CREATE TABLE kept (id TEXT PRIMARY KEY, paisa INTEGER, note TEXT) STRICT");
  const insert = database.prepare("INSERT INTO kept VALUES (?, ?, ?)");
  expect(insert.run("a", 1n, null)).toBe(1);
  insert.run("b", 9_007_199_254_740_993n, "২৫০");
  const select = database.prepare("SELECT * FROM kept WHERE id = ?");
  expect(select.get("a")).toStrictEqual({ id: "a", paisa: 1n, note: null });
  expect(select.get("c")).toBeUndefined();
  expect(database.prepare("SELECT * FROM kept ORDER BY id").all()).toEqual([
    { id: "a", paisa: 1n, note: null },
    { id: "b", paisa: 9_007_199_254_740_993n, note: "২৫০" },
  ]);
  expect(database.prepare("UPDATE kept SET note = ?").run("x")).toBe(2);
  database.close();
});

test("a transaction that throws changes nothing, and the next one works", async () => {
  const database = await openDatabase(":memory:");
  database.exec("CREATE TABLE kept (id TEXT PRIMARY KEY) STRICT");
  const insert = database.prepare("INSERT INTO kept VALUES (?)");
  const failing = () => {
    insert.run("a");
    insert.run("a");
  };
  expect(() => database.transaction(failing)).toThrow(/UNIQUE/);
  expect(database.transaction(() => insert.run("b"))).toBe(1);
  expect(database.prepare("SELECT id FROM kept").all()).toEqual([{ id: "b" }]);
  database.close();
});

test("waits for a file that another process is still creating", async () => {
  const path = join(scratchFolder(), "ledger.db");
  const maker = await openDatabase(path);
  maker.exec("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE; CREATE TABLE kept (id TEXT)");
  setTimeout(() => maker.exec("COMMIT"), 100);
  const database = await openDatabase(path);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  database.close();
  maker.close();
});

test("a file with special characters in its name is opened to be read, and leaves no other file", async () => {
  const folder = scratchFolder();
  const path = join(folder, "a b%20#c?d.db");
  const made = await openDatabase(":memory:");
  made.exec("CREATE TABLE kept (id TEXT); INSERT INTO kept VALUES ('a')");
  made.prepare("VACUUM INTO ?").run(path);
  const database = await openUnchanging(path);
  expect(database.prepare("SELECT id FROM kept").all()).toEqual([{ id: "a" }]);
  expect(() => database.transaction(() => {})).toThrow(/it is read-only/);
  expect(readdirSync(folder)).toEqual(["a b%20#c?d.db"]);
});
