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
import { createProcessLock, type ProcessLock } from "../../src/platform/process-locks.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";

const database = await openDatabase(":memory:");

/** A ULID, which is the name of a lock. */
function lockName(end: string): string {
  return `01${"0".repeat(23)}${end}`;
}

/** A ledger, and the locks of several processes, as far as one process can act as several. */
function setup() {
  const ledger = join(scratchFolder(), "ledger.db");
  writeFileSync(ledger, "");
  const folder = join(dirname(ledger), "processes");
  const create = (startMs = Date.now(), stepMs = 0) => {
    let nowMs = startMs;
    const now = () => {
      nowMs += stepMs;
      return nowMs;
    };
    return createProcessLock(database, { ledger, now });
  };
  return { ledger, folder, pathOf: (name: string) => join(folder, name), create };
}

/** Each check looks at the file again. */
const checkedEachTime = 100;

test("a process is alive until it releases its lock, and leaves nothing behind", () => {
  const { folder, create } = setup();
  const [one, other] = [create(), create()];
  const name = one.take();
  expect([one.take(), one.isAlive(name), other.isAlive(name)]).toEqual([name, true, true]);
  one.release();
  one.release();
  expect([other.isAlive(name), readdirSync(folder)]).toEqual([false, []]);
});

test.each<[string, (folder: string, path: string) => void]>([
  ["a directory", (_, path) => mkdirSync(path)],
  ["a link", (_, path) => symlinkSync("/nowhere/at/all", path)],
  [
    "a file instead of the directory",
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "");
    },
  ],
])("a lock that cannot be read counts as held: %s", (_, replace) => {
  const { folder, pathOf, create } = setup();
  const one = create();
  const name = one.take();
  rmSync(pathOf(name));
  replace(folder, pathOf(name));
  expect(create().isAlive(name)).toBe(true);
  one.release();
});

test("a process whose lock file was removed or replaced does nothing more", () => {
  const { folder, create } = setup();
  const one = create(Date.now(), checkedEachTime);
  const name = one.take();
  one.assertHeld();
  rmSync(folder, { recursive: true });
  expect(() => one.assertHeld()).toThrow(/was removed while this process/);
  mkdirSync(folder);
  writeFileSync(join(folder, name), "");
  expectLost(one, /was removed while this process/);
  one.release();
});

test.each([
  ["removed", () => {}],
  ["replaced", writeFileSync],
])("a process whose ledger was %s does nothing more", (_, replace) => {
  const { ledger, create } = setup();
  const one = create(Date.now(), checkedEachTime);
  one.take();
  // SQLite has it open: otherwise the next file could get the same inode number.
  const open = openSync(ledger, "r");
  rmSync(ledger);
  replace(ledger, "");
  expectLost(one, /was removed or replaced/);
  one.release();
  closeSync(open);
});

function expectLost(lock: ProcessLock, message: RegExp): void {
  expect(() => lock.assertHeld()).toThrow(message);
  expect(() => lock.take()).toThrow(message);
}

test("nothing is sent if no file can be locked", () => {
  const { folder, create } = setup();
  writeFileSync(folder, "");
  expect(() => create().take()).toThrow(
    expect.objectContaining({
      reason: "ledger.no-lock",
      message: expect.stringContaining(folder),
    }),
  );
});

test("the lock files of killed processes are removed after an hour", () => {
  const { folder, pathOf, create } = setup();
  const alive = create();
  const name = alive.take();
  const [directory, abandoned, young] = [lockName("D"), lockName("E"), lockName("Y")];
  mkdirSync(pathOf(directory));
  for (const file of [abandoned, young]) writeFileSync(pathOf(file), "");
  for (const old of [name, abandoned, directory]) utimesSync(pathOf(old), 0, 0);
  const other = create(Date.now() + 30 * 60_000);
  const own = other.take();
  expect(readdirSync(folder).sort()).toEqual([directory, name, young, own].sort());
  expect(other.isAlive(name)).toBe(true);
  other.release();
  alive.release();
});

test("files with other names, links and directories are never removed", () => {
  const { folder, pathOf, create } = setup();
  const document = join(scratchFolder(), "document");
  writeFileSync(document, "");
  mkdirSync(folder);
  symlinkSync(document, pathOf(lockName("Z")));
  for (const name of ["NOTES", "2025", "01LEFT"]) writeFileSync(pathOf(name), "");
  const before = readdirSync(folder);
  for (const name of before) utimesSync(pathOf(name), 0, 0);
  const one = create();
  one.take();
  one.release();
  expect(readdirSync(folder)).toEqual(before);

  const name = one.take();
  rmSync(pathOf(name));
  mkdirSync(join(pathOf(name), "inside"), { recursive: true });
  expect(() => one.release()).not.toThrow();
});
