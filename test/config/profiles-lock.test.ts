import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Child, ended } from "../merchant.ts";
import { scratchFolder, startBuilt } from "../run.ts";
import { key, place, url } from "./profile-place.ts";

const longAgo = new Date("2026-01-01T00:00:00Z");
const inAnHour = () => new Date(Date.now() + 60 * 60_000);

/** Directories in which a running `profile add` holds the lock; some are killed then. */
async function holding(): Promise<{ folder: string; lock: string; child: Child }> {
  for (;;) {
    const folder = scratchFolder();
    const lock = join(folder, "profiles.lock");
    const keyFile = join(folder, "key");
    writeFileSync(keyFile, key, { mode: 0o600 });
    const line = ["profile", "add", "shop", "--key-file", keyFile, "--base-url", url, "-q"];
    const child = startBuilt(line, { LENDEN_CONFIG_DIR: folder });
    let isOver = false;
    child.on("exit", () => {
      isOver = true;
    });
    while (!isOver && !isWritten(lock)) await new Promise(setImmediate);
    child.kill("SIGSTOP");
    if (isWritten(lock) && !isOver) return { folder, lock, child };
    child.kill("SIGKILL");
  }
}

/** The same after the process was killed; the lock looks as if it had just been touched. */
async function abandoned() {
  const { child, ...held } = await holding();
  const end = ended(child);
  child.kill("SIGKILL");
  await end;
  utimesSync(held.lock, inAnHour(), inAnHour());
  return held;
}

/** The lock is created first, and names its process a moment later. */
function isWritten(lock: string): boolean {
  return (statSync(lock, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function rewrite(lock: string, changes: Record<string, unknown>): void {
  writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, "utf8")), ...changes }));
  utimesSync(lock, inAnHour(), inAnHour());
}

describe.concurrent("the lock of the profiles", () => {
  test("is taken over at once from a killed process", async () => {
    const { folder, lock } = await abandoned();
    expect(await place(folder).add("other")).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(lock)).toBe(false);
    expect(Object.keys(place(folder).stored().profiles)).toContain("other");
  });

  test("is not taken over from a process that runs, however old it is (exit 7)", async () => {
    const { folder, lock, child } = await holding();
    const end = ended(child);
    utimesSync(lock, longAgo, longAgo);
    const other = await place(folder).add("other");
    child.kill("SIGCONT");
    expect(other).toMatchObject({ code: 7, stdout: "" });
    expect(await end).toMatchObject({ code: 0 });
    expect(Object.keys(place(folder).stored().profiles)).toEqual(["shop"]);
    expect(existsSync(lock)).toBe(false);
  }, 60_000);

  test.skipIf(!existsSync("/proc/self/stat"))(
    "is taken over if its process ID belongs to another process by now",
    async () => {
      const { folder, lock } = await abandoned();
      rewrite(lock, { pid: process.pid });
      expect(await place(folder).add("other")).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test("of another container is not taken over while it is young (exit 7)", async () => {
    const { folder, lock } = await abandoned();
    rewrite(lock, { machine: "another" });
    expect(await place(folder).add("other")).toMatchObject({ code: 7 });
    utimesSync(lock, longAgo, longAgo);
    expect(await place(folder).add("other")).toMatchObject({ code: 0, stderr: "" });
  }, 60_000);

  test("of an earlier version, which is an old directory, is taken over", async () => {
    const { folder, add } = place();
    mkdirSync(join(folder, "profiles.lock"));
    utimesSync(join(folder, "profiles.lock"), longAgo, longAgo);
    expect(await add("shop")).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual(["profiles.json"]);
  });
});
