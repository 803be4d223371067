import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openMerchantApart } from "../merchant.ts";
import { built, scratchFolder } from "../run.ts";

const signing = ["payout", "sign", "--amount", "5", "--ref", "A", "--timestamp", "1763614800"];
const secret = { LENDEN_PAYOUT_SECRET: "a-secret-of-payouts", LENDEN_API_KEY: undefined };

async function sign(cache: string) {
  const { code, stdout, stderr } = await built([...signing, "--json"], {
    env: { ...secret, XDG_CACHE_HOME: cache },
  });
  return { code, stderr, signature: /"signature": "(\w{64})"/.exec(stdout)?.[1] };
}

function keptIn(cache: string): string[] {
  return readdirSync(join(cache, "lenden"), { recursive: true, encoding: "utf8" })
    .map((name) => join(cache, "lenden", name))
    .filter((file) => statSync(file).isFile());
}

test("what was compiled is kept for its owner alone, and the next run does the same with it", async () => {
  const cache = scratchFolder();
  const first = await sign(cache);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const kept = keptIn(cache);
  expect(kept.length).toBeGreaterThan(1);
  expect(statSync(join(cache, "lenden")).mode & 0o777).toBe(0o700);
  const before = kept.map((file) => readFileSync(file));
  expect(await sign(cache)).toEqual(first);
  expect(keptIn(cache).map((file) => readFileSync(file))).toEqual(before);
});

test("what is loaded after a call, when V8 has other flags, is taken from what was kept too", async () => {
  const { env } = await openMerchantApart();
  const cache = scratchFolder();
  const show = () => built(["methods"], { env: { ...env, XDG_CACHE_HOME: cache } });
  expect((await show()).code).toBe(0);
  const madeAt = () => keptIn(cache).map((file) => [file, statSync(file).mtimeMs]);
  const first = madeAt();
  expect((await show()).code).toBe(0);
  expect(madeAt()).toEqual(first);
});

test.each([
  ["is no compiled code", () => Buffer.from("not what V8 wrote")],
  ["is empty", () => Buffer.alloc(0)],
  ["was cut off", (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ...[100, 1_000, 1_500, 2_000].map((at): [string, (whole: Buffer) => Buffer] => [
    `has a wrong bit in byte ${at}`,
    (whole) => whole.fill((whole[at] ?? 0) ^ 4, at, at + 1),
  ]),
])("what was kept and %s changes nothing", async (_, spoilt) => {
  const cache = scratchFolder();
  const first = await sign(cache);
  for (const file of keptIn(cache)) writeFileSync(file, spoilt(readFileSync(file)));
  expect(await sign(cache)).toEqual(first);
  expect(await sign(cache)).toEqual(first);
});

test("a folder that others can write into is left alone", async () => {
  const cache = scratchFolder();
  await sign(cache);
  chmodSync(join(cache, "lenden"), 0o777);
  for (const file of keptIn(cache)) writeFileSync(file, "somebody else's");
  expect(await sign(cache)).toMatchObject({ code: 0, stderr: "" });
  for (const file of keptIn(cache)) expect(readFileSync(file, "utf8")).toBe("somebody else's");
});

test("no folder to keep anything in is no reason to fail", async () => {
  const file = join(scratchFolder(), "a-file");
  writeFileSync(file, "");
  expect(await sign(file)).toMatchObject({ code: 0, stderr: "" });
});
