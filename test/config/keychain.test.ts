import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { sign } from "../../src/api/signature.ts";
import type { Host } from "../../src/platform/host.ts";
import { built, lenden, scratchFolder } from "../run.ts";
import {
  fakeKeychain,
  type Mood,
  openSecretService,
  openSilentBus,
  secretServiceTest,
} from "./keychains.ts";

const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";
const secret = "a-payout-secret-of-27-chars";
const url = "https://sandbox.example/cp/api/v1";
const addLine = ["add", "shop", "--key-stdin", "--secret-stdin", "--base-url", url];
const verifyLine = [
  ...["payout", "verify", "--amount", "5", "--ref", "A", "--timestamp", "1763614800"],
  ...["--signature", sign("5:A:1763614800", secret)],
];

/** A config folder and a keychain of its own, and runs of lenden with both. */
function place() {
  const folder = scratchFolder();
  const file = join(folder, "profiles.json");
  const fake = fakeKeychain();
  const run = (line: string[], { stdin, host }: { stdin?: string; host?: Partial<Host> } = {}) =>
    lenden(line, {
      env: { LENDEN_CONFIG_DIR: folder },
      stdin: stdin ?? `${key}\n${secret}\n`,
      host: { keychain: fake.keychain, ...host },
    });
  const profile = (...line: string[]) => run(["profile", ...line]);
  const add = (...more: string[]) => profile(...addLine, "--keychain", ...more);
  return { ...fake, folder, file, run, profile, add, stored: () => readFileSync(file, "utf8") };
}

describe("a profile whose secrets lie in the keychain", () => {
  test("works like any other, and its file holds none", async () => {
    const { add, stored, entries, run, profile } = place();
    const { code, stdout } = await add("--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ apiKey: "in the keychain" });
    expect(Object.values(entries())).toEqual([key, secret]);
    expect(stored()).not.toMatch(/ABCDEFGH|a-payout/);
    expect((await run(verifyLine)).code).toBe(0);
    const dryRun = await run(["refund", "cancel", "RF1", "--dry-run"]);
    expect(dryRun.stdout).toContain("sk_sandbox_…XYZ");
    expect((await profile("set", "base-url", "https://other.example")).code).toBe(0);
  });

  test("shows where each secret lies", async () => {
    const { add, profile, run } = place();
    const sources = async (name: string) => {
      const { stdout } = await profile("show", name, "--json");
      const rows: { setting: string; value: string; source: string }[] = JSON.parse(stdout);
      return rows.filter(({ setting }) => /key|secret/.test(setting)).map(({ source }) => source);
    };
    await add();
    await run(["profile", "add", "two", "--key-stdin", "--base-url", url], { stdin: key });
    const command = `${process.execPath} -p '"${key}"'`;
    await profile("add", "three", "--key-command", command, "--base-url", url);
    expect(await sources("shop")).toEqual(["profile shop, keychain", "profile shop, keychain"]);
    expect(await sources("two")).toEqual(["profile two, file", "not set"]);
    expect(await sources("three")).toEqual(["profile three, command", "not set"]);
    expect((await profile("list")).stdout).toContain("in the keychain");
  });

  test("keeps what a command prints out of it: a command keeps its own", async () => {
    const { profile, entries, run } = place();
    const command = ["--key-command", `${process.execPath} -p '"${key}"'`, "--base-url", url];
    expect((await profile("add", "shop", "--keychain", ...command)).code).toBe(2);
    const both = ["add", "shop", "--keychain", "--secret-stdin", ...command];
    expect((await run(["profile", ...both], { stdin: secret })).code).toBe(0);
    expect(Object.values(entries())).toEqual([secret]);
    expect((await run(verifyLine)).code).toBe(0);
  });

  test("is renamed and removed, and nothing stays behind", async () => {
    const { add, profile, entries, run } = place();
    await add();
    expect((await profile("rename", "shop", "kept")).code).toBe(0);
    expect((await run(verifyLine)).code).toBe(0);
    expect((await profile("remove", "kept")).code).toBe(0);
    expect(entries()).toEqual({});
  });

  test("moves from the file to the keychain and back, and nothing stays behind", async () => {
    const { add, profile, entries, stored } = place();
    await profile(...addLine);
    expect(stored()).toContain(key);
    await add("--replace");
    expect(stored()).not.toContain(key);
    expect(Object.keys(entries())).toHaveLength(2);
    await add("--replace");
    expect(Object.keys(entries())).toHaveLength(2);
    await profile(...addLine, "--replace");
    expect(stored()).toContain(key);
    expect(entries()).toEqual({});
  });

  test("sends its production key to its own address alone", async () => {
    const { run } = place();
    const add = ["profile", "add", "live", "--key-stdin", "--keychain", "--base-url"];
    const stdin = "public-ABC-ABCDEFGHIJKL-XYZ";
    expect((await run([...add, "https://pay.example"], { stdin })).code).toBe(0);
    const { code, stderr } = await run(["pay", "get", "TX1", "--base-url", "https://a.example"]);
    expect(code).toBe(4);
    expect(stderr).toContain("does not go to a.example");
  });

  test("whose name is taken leaves nothing in the keychain", async () => {
    const { add, entries, stored } = place();
    await add();
    const [before, kept] = [stored(), entries()];
    expect((await add()).code).toBe(2);
    expect({ stored: stored(), entries: entries() }).toEqual({ stored: before, entries: kept });
  });
});

const moods: [string, Mood, string][] = [
  ["is missing", { reply: { missing: "no bus" } }, "No keychain can be reached here (no bus)"],
  ["is locked", { reply: { refused: "prompt dismissed" } }, "(prompt dismissed)"],
  ["hangs", { hangs: true }, "(no answer in 3 s)"],
  ["dies", { exits: 9 }, "(exit code 9)"],
  ["says nothing", { reply: "" }, "(an answer that makes no sense)"],
  ["talks nonsense", { reply: { secret: 5 } }, "(an answer that makes no sense)"],
  ["talks without end", { reply: "x".repeat(100_000) }, "(more than 64 KiB)"],
  ["shows the terminal escapes", { reply: { refused: "\u001b[2J\u202e" } }, "([2J)"],
];

describe("a keychain that does not do its work", () => {
  /** The three seconds are over as soon as they begin, but only for one that hangs. */
  const hostOf = (mood: Mood): Partial<Host> =>
    "hangs" in mood ? { sleep: async (ms) => void (ms === 3_000 || (await delay(ms))) } : {};

  test.each(moods)(
    "%s: nothing is added, and nothing falls back to the file",
    async (_, mood, why) => {
      const { run, feels, file } = place();
      feels(mood);
      const { code, stdout, stderr } = await run(["profile", ...addLine, "--keychain"], {
        host: hostOf(mood),
      });
      expect({ code, stdout, kept: existsSync(file) }).toEqual({
        code: 4,
        stdout: "",
        kept: false,
      });
      expect(stderr).toContain(why);
      expect(stderr).toMatch(/^hint: /m);
      expect(stderr).not.toMatch(/ABCDEFGH|a-payout/);
    },
  );

  test.each(moods.slice(0, 3))("%s: the secret cannot be read (exit 4)", async (_, mood, why) => {
    const { add, run, feels } = place();
    await add();
    feels(mood);
    const { code, stderr } = await run(verifyLine, { host: hostOf(mood) });
    expect(code).toBe(4);
    expect(stderr).toContain(why);
  });

  test("and refuses the second entry: the first is taken back", async () => {
    const { add, feels, entries, file } = place();
    feels({ reply: { refused: "full" }, of: "payout-secret" });
    expect((await add()).code).toBe(4);
    expect({ entries: entries(), kept: existsSync(file) }).toEqual({ entries: {}, kept: false });
  });

  test("because somebody deleted the entry: says so, and how to go on", async () => {
    const { add, run, clear, profile } = place();
    await add();
    clear();
    const { code, stderr } = await run(verifyLine);
    expect(code).toBe(4);
    expect(stderr).toContain("somebody deleted it");
    expect(stderr).toContain("--keychain --replace");
    expect((await profile("remove", "shop")).code).toBe(0);
  });

  test("and does not let an entry go: the profile stays", async () => {
    const { add, profile, feels, stored } = place();
    await add();
    const before = stored();
    feels({ reply: { refused: "locked" }, wanted: "forget" });
    expect((await profile("remove", "shop")).code).toBe(4);
    expect(stored()).toBe(before);
  });

  test("while a profile is replaced: the new one counts, and what stays behind is named", async () => {
    const { add, feels, entries, run } = place();
    await add();
    const [first = ""] = Object.keys(entries());
    feels({ reply: { refused: "locked" }, wanted: "forget" });
    const { code, stderr } = await add("--replace");
    expect(code).toBe(0);
    expect(stderr).toContain(first);
    expect((await run(verifyLine)).code).toBe(0);
  });

  test("because there is none here any more: the profile goes, and what may be left is named", async () => {
    const { add, profile, feels, entries, stored } = place();
    await add();
    feels({ reply: { missing: "another machine" } });
    const { code, stderr } = await profile("remove", "shop");
    expect(code).toBe(0);
    for (const entry of Object.keys(entries())) expect(stderr).toContain(entry);
    expect(stored()).not.toContain("shop");
  });

  test("because this lenden comes without one: says what else there is, and the profile can go", async () => {
    const { add, entries, folder } = place();
    await add();
    const env = { LENDEN_CONFIG_DIR: folder };
    const { code, stderr } = await lenden(verifyLine, { env });
    expect(code).toBe(4);
    expect(stderr).toContain("comes without the keychain");
    expect(stderr).toContain("--key-command");
    const removed = await lenden(["profile", "remove", "shop"], { env });
    expect(removed.code).toBe(0);
    for (const entry of Object.keys(entries())) expect(removed.stderr).toContain(entry);
  });
});

describe("the real keychain of this machine", () => {
  const add = (folder: string, env: Record<string, string>, ...more: string[]) =>
    built(["profile", ...addLine, "--keychain", ...more], {
      env: { ...env, LENDEN_CONFIG_DIR: folder },
      stdin: `${key}\n${secret}\n`,
    });

  secretServiceTest("keeps, gives, replaces and forgets; locked, it gives nothing", async () => {
    const [folder, home] = [scratchFolder(), scratchFolder()];
    const open = await openSecretService(home, "a password");
    const run = (line: string[], env = open.env) =>
      built(line, { env: { ...env, LENDEN_CONFIG_DIR: folder } });
    expect(await add(folder, open.env)).toMatchObject({ code: 0 });
    expect(await add(folder, open.env, "--replace")).toMatchObject({ code: 0 });
    expect(await run(verifyLine)).toMatchObject({ code: 0 });

    const locked = await openSecretService(home);
    const refused = await run(verifyLine, locked.env);
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("Unlock it") });
    expect(await add(scratchFolder(), locked.env)).toMatchObject({ code: 4, stdout: "" });

    expect(await run(["profile", "remove", "shop"])).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["profiles.json"]);
  });

  test("that is not there: exit 4, and nothing is written", async () => {
    const folder = scratchFolder();
    const bus = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" };
    expect(await add(folder, bus)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("No keychain can be reached"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that never answers is left after its three seconds", async () => {
    const { env } = await openSilentBus();
    expect(await add(scratchFolder(), env)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("(no answer in 3 s)"),
    });
  });
});
