import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import nodeModule from "node:module";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Finding } from "../../src/doctor/finding.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built } from "../support/lenden.ts";
import { openMerchantApart, paidPayment, refundOf } from "../support/merchant.ts";
import { isOneFile } from "../tool.js";

/** Node 20 has no compile cache, and the one file contains its compiled code. */
const hasCache = !isOneFile && "enableCompileCache" in nodeModule;
const longAgo = new Date("2026-01-01T00:00:00Z");

const signing = ["payout", "sign", "--amount", "5", "--ref", "A", "--timestamp", "1763614800"];
const secret = { LENDEN_PAYOUT_SECRET: "a-secret-of-payouts", LENDEN_API_KEY: undefined };

async function sign(cacheHome: string) {
  const { code, stdout, stderr } = await built([...signing, "--json"], {
    env: { ...secret, XDG_CACHE_HOME: cacheHome },
  });
  return { code, stderr, signature: /"signature": "(\w{64})"/.exec(stdout)?.[1] };
}

function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile());
}

function makeOld(directory: string): void {
  for (const file of filesIn(directory)) utimesSync(file, longAgo, longAgo);
}

test("keeps the ledger in one directory with the cache: a refund sent a month later counts the first", async () => {
  const merchant = await openMerchantApart();
  const cacheHome = scratchFolder();
  const volume = join(cacheHome, "lenden");
  const env = {
    ...merchant.env,
    XDG_CACHE_HOME: cacheHome,
    LENDEN_CONFIG_DIR: volume,
    LENDEN_DATA_DIR: volume,
  };
  const paid = await paidPayment(merchant);
  const profile = ["profile", "add", "shop", "--key-stdin", "--base-url", merchant.baseUrl];
  expect(await built(profile, { env, stdin: merchant.apiKey })).toMatchObject({ code: 0 });
  expect(await built(refundOf(paid, "60"), { env })).toMatchObject({ code: 0 });
  makeOld(volume);
  await built(["doctor"], { env });
  makeOld(volume);

  const second = await built(refundOf(paid, "60"), { env });

  expect(second.code).toBe(3);
  expect(await merchant.books("refunds")).toHaveLength(1);
  expect(existsSync(join(volume, "ledger.db"))).toBe(true);
  expect(existsSync(join(volume, "profiles.json"))).toBe(true);
});

test("deletes no documents behind a link in its cache", async () => {
  const [cacheHome, documents] = [scratchFolder(), scratchFolder()];
  for (const name of ["contract.pdf", "METHODS", "methods.json"])
    writeFileSync(join(documents, name), "");
  makeOld(documents);
  symlinkSync(documents, join(cacheHome, "lenden"));
  expect(await sign(cacheHome)).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(documents).sort()).toEqual(["METHODS", "contract.pdf", "methods.json"]);
});

describe("the compile cache", () => {
  const cacheIn = (cacheHome: string) => join(cacheHome, "lenden", "compile-cache");

  // Each Node version has one of these two: a skipped test would mean that a tool is missing.
  if (hasCache) {
    test("is a private directory that the next run uses", async () => {
      const cacheHome = scratchFolder();
      const first = await sign(cacheHome);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      expect(filesIn(cacheIn(cacheHome)).length).toBeGreaterThan(1);
      expect(statSync(cacheIn(cacheHome)).mode & 0o777).toBe(0o700);
      expect(await sign(cacheHome)).toEqual(first);
    });
  } else {
    test("is not used on Node 20 or in the single-file binary", async () => {
      const cacheHome = scratchFolder();
      expect(await sign(cacheHome)).toMatchObject({ code: 0, stderr: "" });
      expect(readdirSync(cacheHome)).toEqual([]);
    });
  }

  if (hasCache) {
    /** Runs once, changes a file that this stored, and runs again. */
    const usedAfter = async (change: (file: string) => void) => {
      const cacheHome = scratchFolder();
      await sign(cacheHome);
      for (const file of filesIn(cacheIn(cacheHome)).slice(-1)) change(file);
      const env = { ...secret, XDG_CACHE_HOME: cacheHome };
      // Node then prints each file that it loads from the cache.
      const again = await built(signing, { env: { ...env, NODE_DEBUG_NATIVE: "COMPILE_CACHE" } });
      const { stdout } = await built(["doctor", "--json"], { env });
      const findings: Finding[] = JSON.parse(stdout);
      const found = findings.find(({ check }) => check === "compile-cache");
      return { code: again.code, isUsed: again.stderr.includes("[compile cache]"), found };
    };

    test("is used if it is private, and doctor says so", async () => {
      const { found, ...run } = await usedAfter(() => {});
      expect(run).toEqual({ code: 0, isUsed: true });
      expect(found?.state).toBe("passed");
    });

    const foreign: [string, (file: string) => void][] =
      userInfo().uid === 0
        ? [["belongs to another user", (file) => chownSync(file, 65_534, 65_534)]]
        : [];
    test.each<[string, (file: string) => void]>([
      ["others can write to", (file) => chmodSync(file, 0o666)],
      ["is a symbolic link", (file) => symlinkSync(file, `${file}.link`)],
      ...foreign,
    ])("is not used if a file is not private, and doctor says: %s", async (why, change) => {
      const { found, ...run } = await usedAfter(change);
      expect(run).toEqual({ code: 0, isUsed: false });
      expect(found).toMatchObject({ state: "warning", message: expect.stringContaining(why) });
    });
  }

  test.each(["lenden", join("lenden", "compile-cache")])(
    "is not used if others can write into %s",
    async (name) => {
      const cacheHome = scratchFolder();
      mkdirSync(cacheIn(cacheHome), { recursive: true, mode: 0o700 });
      chmodSync(join(cacheHome, name), 0o777);
      expect(await sign(cacheHome)).toMatchObject({ code: 0, stderr: "" });
      expect(filesIn(cacheHome)).toEqual([]);
    },
  );

  test("is not used through a symbolic link", async () => {
    const [cacheHome, elsewhere] = [scratchFolder(), scratchFolder()];
    mkdirSync(join(cacheHome, "lenden"), { mode: 0o700 });
    symlinkSync(elsewhere, cacheIn(cacheHome));
    expect(await sign(cacheHome)).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("runs no code that someone planted for the files of the package", async () => {
    const cacheHome = scratchFolder();
    await sign(cacheHome);
    for (const file of filesIn(cacheHome)) writeFileSync(file, readFileSync(file).reverse());
    expect(await sign(cacheHome)).toMatchObject({ code: 0, stderr: "" });
  });

  test("does not fail the command if it cannot be created", async () => {
    const file = join(scratchFolder(), "a-file");
    writeFileSync(file, "");
    expect(await sign(file)).toMatchObject({ code: 0, stderr: "" });
  });
});
