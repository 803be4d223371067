import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Failure } from "../../src/domain/failure.ts";
import { openPresence } from "../../src/platform/process-locks.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../run.ts";

const database = await openDatabase(":memory:");
const hour = 60 * 60_000;

/** A name as locks have it: a ULID, here one that ends with this letter. */
function lockName(end: string): string {
  return `01${"0".repeat(23)}${end}`;
}

/** Processes that share a folder, as far as one real process can be several. */
function shared() {
  const ledger = join(scratchFolder(), "ledger.db");
  writeFileSync(ledger, "");
  const folder = join(dirname(ledger), "processes");
  return {
    ledger,
    folder,
    pathOf: (name: string) => join(folder, name),
    enter: (now = Date.now()) => openPresence(database, { ledger, now: () => now }),
  };
}

test("a process is seen until it ends, and leaves nothing behind", () => {
  const { folder, enter } = shared();
  const [one, other] = [enter(), enter()];
  const name = one.own();
  expect([one.own(), one.isAlive(name), other.isAlive(name)]).toEqual([name, true, true]);
  one.end();
  one.end();
  expect([other.isAlive(name), readdirSync(folder)]).toEqual([false, []]);
});

test.each<[string, (folder: string, path: string) => void]>([
  ["a folder in its place", (_, path) => mkdirSync(path)],
  ["a link in its place", (_, path) => symlinkSync("/nowhere/at/all", path)],
  [
    "a file in place of the folder",
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "");
    },
  ],
])("of what cannot be looked at nobody says that it is gone: %s", (_, spoil) => {
  const { folder, pathOf, enter } = shared();
  const one = enter();
  const name = one.own();
  rmSync(pathOf(name));
  spoil(folder, pathOf(name));
  expect(enter().isAlive(name)).toBe(true);
  one.end();
});

test("who has lost the file that others see goes on with nothing", () => {
  const { ledger, folder } = shared();
  let nowMs = Date.now();
  const one = openPresence(database, { ledger, now: () => (nowMs += 100) });
  const name = one.own();
  one.assertSeen();
  rmSync(folder, { recursive: true });
  expect(() => one.assertSeen()).toThrow(/was removed, the file that shows others/);
  mkdirSync(folder);
  writeFileSync(join(folder, name), ""); // of its name, and yet another
  expect(() => one.assertSeen()).toThrow(/was removed, the file that shows others/);
  expect(() => one.own()).toThrow(/was removed, the file that shows others/);
  one.end();
});

test("where nothing can be locked, that is said, with the folder", () => {
  const { folder, enter } = shared();
  writeFileSync(folder, "");
  const failure = caught(() => enter().own());
  expect(failure).toMatchObject({ kind: "internal", message: expect.stringContaining(folder) });
  expect(failure.text(true)).toContain("Nothing was sent.");
});

test("what a killed process left is taken away after an hour, and what cannot be does no harm", () => {
  const { folder, pathOf, enter } = shared();
  const alive = enter();
  const name = alive.own();
  const [directory, left, young] = [lockName("D"), lockName("E"), lockName("Y")];
  mkdirSync(pathOf(directory));
  for (const file of [left, young]) writeFileSync(pathOf(file), "");
  for (const old of [name, left, directory]) utimesSync(pathOf(old), 0, 0);
  const other = enter(Date.now() + hour / 2);
  expect(readdirSync(folder).sort()).toEqual([directory, left, name, young].sort());
  const own = other.own();
  expect(readdirSync(folder).sort()).toEqual([directory, name, young, own].sort());
  expect(other.isAlive(name)).toBe(true);
  other.end();
  alive.end();
});

test("what is no lock of its own is left alone, however old: other names, links, directories", () => {
  const { folder, pathOf, enter } = shared();
  const document = join(scratchFolder(), "document");
  writeFileSync(document, "");
  mkdirSync(folder);
  symlinkSync(document, pathOf(lockName("Z")));
  for (const name of ["NOTES", "README", "2025", "01LEFT"]) writeFileSync(pathOf(name), "");
  const before = readdirSync(folder);
  for (const name of before) utimesSync(pathOf(name), 0, 0);
  const one = enter();
  one.own();
  one.end();
  expect(readdirSync(folder)).toEqual(before);
});

test("an end that cannot take its file away is an end all the same", () => {
  const { pathOf, enter } = shared();
  const one = enter();
  const name = one.own();
  rmSync(pathOf(name));
  mkdirSync(join(pathOf(name), "inside"), { recursive: true });
  expect(() => one.end()).not.toThrow();
});

function caught(work: () => unknown): Failure {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

test("who has lost the ledger, or has another one in its place, goes on with nothing", () => {
  for (const instead of [() => {}, writeFileSync]) {
    const { ledger } = shared();
    let nowMs = Date.now();
    const one = openPresence(database, { ledger, now: () => (nowMs += 100) });
    one.own();
    // As SQLite has it open: else the next file could get its number.
    const open = openSync(ledger, "r");
    rmSync(ledger);
    instead(ledger, "");
    expect(() => one.assertSeen()).toThrow(/was removed or replaced/);
    expect(() => one.own()).toThrow(/was removed or replaced/);
    one.end();
    closeSync(open);
  }
});
