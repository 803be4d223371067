import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Host } from "../../src/platform/host.ts";
import { soon, until } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { openMerchant } from "../support/merchant.ts";
import { createFakeKeychain, type Mood } from "./keychains.ts";
import { key, place, secret, url, verifyLine } from "./setup.ts";

const addLine = ["add", "shop", "--key-stdin", "--secret-stdin", "--base-url", url];

/** A config directory with a fake keychain, and runs of lenden with both. */
function setup() {
  const { folder, file, env } = place();
  const fake = createFakeKeychain();
  let mood: Mood = { reply: "" };
  /** The three seconds pass at once for a keychain that hangs, and never for another. */
  const sleep: Host["sleep"] = async (ms, signal) => {
    if (ms !== 3_000) return soon(ms, signal);
    if (!("hangs" in mood)) await until(() => signal?.aborted === true);
  };
  const run = (line: string[], stdin = `${key}\n${secret}\n`) =>
    lenden(line, { env, stdin, host: { keychain: fake.keychain, sleep } });
  const profile = (...line: string[]) => run(["profile", ...line]);
  const add = (...more: string[]) => profile(...addLine, "--keychain", ...more);
  return {
    ...fake,
    feels: (next: Mood) => {
      mood = next;
      fake.feels(next);
    },
    folder,
    file,
    env,
    run,
    profile,
    add,
    stored: () => readFileSync(file, "utf8"),
  };
}

describe("a profile with secrets in the keychain", () => {
  test("works like any other, and its file contains none", async () => {
    const { add, stored, entries, run, profile } = setup();
    const { code, stdout } = await add("--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ apiKey: "in the keychain" });
    expect(Object.values(entries())).toEqual([key, secret]);
    expect(stored()).not.toMatch(/ABCDEFGH|a-payout/);
    expect((await run(verifyLine())).code).toBe(0);
    expect((await run(["refund", "cancel", "RF1", "--dry-run"])).stdout).toContain(
      "sk_sandbox_…XYZ",
    );
    expect((await profile("set", "base-url", "https://other.example")).code).toBe(0);
    const { stdout: shown } = await profile("show", "shop", "--json");
    const rows: { setting: string; source: string }[] = JSON.parse(shown);
    const ofSecrets = rows.filter(({ setting }) => /key|payout-secret/.test(setting));
    expect(ofSecrets.map(({ source }) => source)).toEqual(Array(2).fill("profile shop, keychain"));
  });

  test("does not store what a command prints", async () => {
    const { profile, entries, run } = setup();
    const command = ["--key-command", `${process.execPath} -p '"${key}"'`, "--base-url", url];
    expect((await profile("add", "shop", "--keychain", ...command)).code).toBe(2);
    const both = ["profile", "add", "shop", "--keychain", "--secret-stdin", ...command];
    expect((await run(both, secret)).code).toBe(0);
    expect(Object.values(entries())).toEqual([secret]);
    expect((await run(verifyLine())).code).toBe(0);
  });

  test("is renamed, moved to the file and back, and removed without a remaining entry", async () => {
    const { add, profile, entries, run, stored } = setup();
    await profile(...addLine);
    expect(stored()).toContain(key);
    for (let round = 0; round < 2; round += 1) {
      await add("--replace");
      expect(stored()).not.toContain(key);
      expect(Object.keys(entries())).toHaveLength(2);
    }
    const { stderr } = await profile(...addLine, "--replace");
    expect(stderr.match(/no longer in the keychain/g)).toHaveLength(2);
    expect(stored()).toContain(key);
    expect(entries()).toEqual({});
    await add("--replace");
    expect((await profile("rename", "shop", "other")).code).toBe(0);
    expect((await run(verifyLine())).code).toBe(0);
    expect((await profile("remove", "other")).code).toBe(0);
    expect(entries()).toEqual({});
  });

  test("leaves nothing in the keychain if its name is taken", async () => {
    const { add, entries, stored } = setup();
    await add();
    const before = { stored: stored(), entries: entries() };
    expect((await add()).code).toBe(2);
    expect({ stored: stored(), entries: entries() }).toEqual(before);
  });
});

const moods: [string, Mood, string][] = [
  ["is missing", { reply: { missing: "no bus" } }, "Cannot reach a keychain (no bus)"],
  ["is locked", { reply: { refused: "prompt dismissed" } }, "(prompt dismissed)"],
  ["hangs", { hangs: true }, "(no response in 3 s)"],
  ["dies", { exits: 9 }, "(exit code 9)"],
  ["says nothing", { reply: "" }, "(invalid response)"],
  ["answers nonsense", { reply: { secret: 5 } }, "(invalid response)"],
  ["answers without end", { reply: "x".repeat(100_000) }, "(more than 64 KiB)"],
  ["sends terminal escapes", { reply: { refused: "\u001b[2J\u202e" } }, "([2J)"],
];

test("profile rotate stores a new secret of the keychain there, and keeps the other", async () => {
  const merchant = await openMerchant();
  const { add, run, entries, stored } = setup();
  const keys = `${merchant.apiKey}\n${secret}\n`;
  const addLive = [...addLine.slice(0, -1), merchant.baseUrl, "--keychain"];
  expect(await run(["profile", ...addLive], keys)).toMatchObject({ code: 0 });
  const [keyEntry = ""] = Object.keys(entries());
  const rotate = ["profile", "rotate", "shop", "--secret-stdin"];
  expect(await run(rotate, "another-payout-secret")).toMatchObject({ code: 0 });
  expect(Object.values(entries()).toSorted()).toEqual(
    [merchant.apiKey, "another-payout-secret"].toSorted(),
  );
  expect(entries()).toHaveProperty([keyEntry], merchant.apiKey);
  expect(stored()).not.toMatch(/another-payout|sk_sandbox_/);
  expect(await run(verifyLine("another-payout-secret"))).toMatchObject({ code: 0 });
  expect((await add()).code).toBe(2);
});

describe("a keychain that fails", () => {
  test.each(moods)(
    "because it %s: nothing is stored, not in the file either",
    async (_, mood, why) => {
      const { run, feels, file } = setup();
      feels(mood);
      const line = ["profile", ...addLine, "--keychain"];
      const { code, stdout, stderr } = await run(line);
      const isStored = existsSync(file);
      expect({ code, stdout, isStored }).toEqual({ code: 4, stdout: "", isStored: false });
      expect(stderr).toContain(why);
      expect(stderr).not.toMatch(/ABCDEFGH|a-payout/);
    },
  );

  test.each(moods.slice(0, 3))("because it %s: the secret cannot be read", async (_, mood, why) => {
    const { add, run, feels } = setup();
    await add();
    feels(mood);
    const { code, stderr } = await run(verifyLine());
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(why) });
  });

  test("at the second entry removes the first one", async () => {
    const { add, feels, entries, file } = setup();
    feels({ reply: { refused: "full" }, of: "payout-secret" });
    expect((await add()).code).toBe(4);
    expect({ entries: entries(), isStored: existsSync(file) }).toEqual({
      entries: {},
      isStored: false,
    });
  });

  test("names an entry that was deleted, and the profile can be removed", async () => {
    const { add, run, clear, profile } = setup();
    await add();
    clear();
    const { code, stderr } = await run([...verifyLine(), "--json"]);
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 4,
      error: {
        reason: "keychain.no-entry",
        hint: expect.stringContaining("rotate <name> --keychain"),
      },
    });
    expect((await profile("remove", "shop")).code).toBe(0);
  });

  test("keeps the profile if an entry cannot be removed, and names the entry of a replaced one", async () => {
    const { add, profile, feels, stored, entries, run } = setup();
    await add();
    const before = stored();
    const [first = ""] = Object.keys(entries());
    feels({ reply: { refused: "locked" }, wanted: "remove" });
    expect((await profile("remove", "shop")).code).toBe(4);
    expect(stored()).toBe(before);
    const { code, stderr } = await add("--replace");
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(first) });
    expect((await run(verifyLine())).code).toBe(0);
  });

  test("is missing on this machine or in this executable, and the profile can be removed", async () => {
    const { add, entries, env } = setup();
    await add();
    const { code, stderr } = await lenden(verifyLine(), { env });
    expect(code).toBe(4);
    expect(stderr).toContain("this executable has no keychain");
    expect(stderr).toContain("--key-command");
    const removed = await lenden(["profile", "remove", "shop"], { env });
    expect(removed.code).toBe(0);
    for (const entry of Object.keys(entries())) expect(removed.stderr).toContain(entry);
  });
});
