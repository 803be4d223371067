import {
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openMethodCache } from "../../src/config/method-cache.ts";
import { scratchFolder } from "../run.ts";

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

/** A cache in a folder and with a clock of its own. */
function openCache() {
  const folder = scratchFolder();
  const clock = { ms: Date.parse("2026-11-20T10:00:00Z") };
  const cache = openMethodCache(folder, account, () => clock.ms);
  const file = () => join(folder, readdirSync(folder).join());
  return { cache, clock, file };
}

test("what was written is read for a day, and not a moment longer, nor from the future", () => {
  const { cache, clock } = openCache();
  expect(cache.read()).toBeUndefined();
  cache.write([bkash]);
  expect(cache.read()).toEqual([bkash]);
  clock.ms += 24 * hourMs - 1;
  expect(cache.read()).toEqual([bkash]);
  clock.ms += 1;
  expect(cache.read()).toBeUndefined();
  clock.ms -= 24 * hourMs + 1;
  expect(cache.read()).toBeUndefined();
});

test("the same methods are left as they stand for an hour, others are written at once", () => {
  const { cache, clock, file } = openCache();
  cache.write([bkash]);
  const longAgo = new Date("2026-01-01T00:00:00Z");
  const isWritten = (methods: (typeof bkash)[]) => {
    utimesSync(file(), longAgo, longAgo);
    cache.write(methods);
    return statSync(file()).mtimeMs !== longAgo.getTime();
  };
  clock.ms += hourMs - 1;
  expect(isWritten([bkash])).toBe(false);
  expect(isWritten([bkash, nagad])).toBe(true);
  expect(cache.read()).toEqual([bkash, nagad]);
  expect(isWritten([nagad, bkash])).toBe(true);
  expect(isWritten([nagad, bkash])).toBe(false);
  clock.ms += hourMs;
  expect(isWritten([nagad, bkash])).toBe(true);
});

test("a file that is damaged is as good as none, and is written anew", () => {
  const { cache, file } = openCache();
  cache.write([bkash]);
  const whole = readFileSync(file(), "utf8");
  for (const damaged of ["", "null", "{}", "[]", whole.slice(0, -5), whole.replace('"M1"', "1")]) {
    writeFileSync(file(), damaged);
    expect(cache.read()).toBeUndefined();
    cache.write([bkash]);
    expect(cache.read()).toEqual([bkash]);
  }
});

test("forgets the methods of other accounts after a day, and nothing else that is as old", () => {
  const { cache, clock, file } = openCache();
  cache.write([bkash]);
  const folder = dirname(file());
  const [old, link] = [`methods-${"a".repeat(24)}.json`, `methods-${"b".repeat(24)}.json`];
  const document = join(scratchFolder(), "document");
  writeFileSync(document, "");
  symlinkSync(document, join(folder, link));
  const others = ["profiles.json", "ledger.db", "methods.json", "methods-of-payment.json"];
  for (const name of [old, ...others]) writeFileSync(join(folder, name), "");
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0);
  utimesSync(document, 0, 0);
  clock.ms += 2 * hourMs;
  cache.write([nagad]);
  const left = readdirSync(folder);
  expect(left).not.toContain(old);
  expect(left).toEqual(expect.arrayContaining([...others, link]));
});

test("its name and its content hold nothing of the key, and only its owner may read it", () => {
  const { cache, file } = openCache();
  cache.write([bkash]);
  expect(file()).toMatch(/methods-[0-9a-f]{24}\.json$/);
  expect(readFileSync(file(), "utf8")).not.toContain("abcdefghijkl");
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});
