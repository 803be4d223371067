import {
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openMethodCache } from "../../src/config/method-cache.ts";
import { scratchFolder } from "../support/helpers.ts";

const account = {
  apiKey: "sk_sandbox_abc-abcdefghijkl-xyz",
  environment: "sandbox",
  baseUrl: "http://127.0.0.1:9/cp/api/v1",
  name: "shop",
  ledgerAccount: {},
} as const;
const bkash = { id: "M1", providerName: "bKash", codeName: "bkash" };
const nagad = { id: "M2", providerName: "Nagad", codeName: "nagad" };
const hourMs = 60 * 60_000;

function setup() {
  const dataFolder = scratchFolder();
  const folder = join(dataFolder, "methods");
  const clock = { ms: Date.parse("2026-11-20T10:00:00Z") };
  const cache = openMethodCache(dataFolder, account, () => clock.ms);
  const file = () => join(folder, readdirSync(folder)[0] ?? "");
  return { folder, cache, clock, file };
}

test("methods are cached for a day, and not if the clock was set back", () => {
  const { cache, clock } = setup();
  expect(cache.read()).toBeUndefined();
  cache.write([bkash]);
  clock.ms += 24 * hourMs - 1;
  expect(cache.read()).toEqual([bkash]);
  clock.ms += 1;
  expect(cache.read()).toBeUndefined();
  clock.ms -= 24 * hourMs + 1;
  expect(cache.read()).toBeUndefined();
});

test("a damaged file is ignored and replaced", () => {
  const { cache, file } = setup();
  cache.write([bkash]);
  const whole = readFileSync(file(), "utf8");
  for (const damaged of ["", "null", "{}", "[]", whole.slice(0, -5), whole.replace('"M1"', "1")]) {
    writeFileSync(file(), damaged);
    expect(cache.read()).toBeUndefined();
    cache.write([bkash]);
    expect(cache.read()).toEqual([bkash]);
  }
});

test("methods of other accounts are deleted after a day, and no other file or link is", () => {
  const { folder, cache, clock } = setup();
  cache.write([bkash]);
  const [old, link] = [`methods-${"a".repeat(24)}.json`, `methods-${"b".repeat(24)}.json`];
  const document = join(scratchFolder(), "document");
  writeFileSync(document, "");
  symlinkSync(document, join(folder, link));
  const others = ["profiles.json", "ledger.db", "methods.json"];
  for (const name of [old, ...others]) writeFileSync(join(folder, name), "");
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0);
  utimesSync(document, 0, 0);
  clock.ms += 2 * hourMs;
  cache.write([nagad]);
  const left = readdirSync(folder);
  expect(left).not.toContain(old);
  expect(left).toEqual(expect.arrayContaining([...others, link]));
});

test("the file is private and shows nothing of the key", () => {
  const { cache, file } = setup();
  cache.write([bkash]);
  expect(file()).toMatch(/methods-[0-9a-f]{24}\.json$/);
  expect(readFileSync(file(), "utf8")).not.toContain("abcdefghijkl");
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});
