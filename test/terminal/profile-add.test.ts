import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSecretService, secretServiceTest } from "../config/keychains.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { closedPort, serve } from "../support/server.ts";
import { toolLine } from "../tool.js";
import { answerAll } from "./shop.ts";
import { openPrompts, openTerminal, terminalTest } from "./terminal.ts";

const account = testAccount();
const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";

/** An empty config directory, and `lenden profile add`. */
function newProfile(args: string[] = [], more: Record<string, string> = {}) {
  const folder = scratchFolder();
  const env = { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data"), ...more };
  const file = join(folder, "profiles.json");
  const stored = (): unknown => JSON.parse(readFileSync(file, "utf8"));
  return { folder, file, env, line: ["profile", "add", ...args], stored };
}

/** The same at its first prompt. */
function adding(args: string[] = [], more: Record<string, string> = {}) {
  const profile = newProfile(args, more);
  return { ...profile, terminal: openPrompts(profile.line, { env: profile.env, columns: 100 }) };
}

/** A config directory with a profile. */
async function withProfile(name: string): Promise<string> {
  const folder = scratchFolder();
  const line = ["profile", "add", name, "--key-stdin", "--base-url", "https://a.example"];
  await lenden(line, { env: { LENDEN_CONFIG_DIR: folder }, stdin: key });
  return folder;
}

describe("profile add in a terminal", () => {
  terminalTest("asks, tests the key, and stores the profile", async () => {
    const { apiKey, payoutSecret, baseUrl } = account.sandbox();
    const { folder, file, env, line, stored } = newProfile();
    const terminal = await openTerminal(line, { env, columns: 100 });
    await answerAll(terminal, [
      ["API key:", apiKey],
      ["Payout secret (", payoutSecret],
      ["Profile name", ""],
      ["Base URL of the API", new URL(baseUrl).origin],
    ]);
    const { code, screen, isRestored } = await terminal.ended();
    expect({ code, isRestored }).toEqual({ code: 0, isRestored: true });
    expect(stored()).toEqual({
      version: 1,
      current: "sandbox",
      profiles: {
        sandbox: {
          environment: "sandbox",
          baseUrl,
          apiKey: { text: apiKey },
          payoutSecret: { text: payoutSecret },
        },
      },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual([".profiles.lock", "profiles.json"]);
    for (const secret of [apiKey.slice(11, 23), payoutSecret]) expect(screen).not.toContain(secret);
  });

  test("shows a command line that does the same", async () => {
    const { apiKey, payoutSecret, baseUrl } = account.sandbox();
    const more = ["--redirect-url", "https://shop.example/it's?a=1&b=$HOME"];
    const { terminal, stored, env } = adding(["shop", ...more], { LENDEN_BASE_URL: baseUrl });
    await terminal.answer("API key:", apiKey);
    await terminal.answer("Payout secret (", payoutSecret);
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    const line = /^The same command without prompts:\n {2}lenden (.*)$/m.exec(screen)?.[1] ?? "";
    const again = scratchFolder();
    execFileSync("sh", ["-c", `${toolLine} ${line}`], {
      env: { ...env, LENDEN_CONFIG_DIR: again },
      input: `${apiKey}\n${payoutSecret}\n`,
    });
    expect(JSON.parse(readFileSync(join(again, "profiles.json"), "utf8"))).toEqual(stored());
  });

  test("reports an invalid value and asks again", async () => {
    const { apiKey, baseUrl } = account.sandbox();
    const folder = await withProfile("shop");
    const { terminal } = adding(["--environment", "sandbox"], { LENDEN_CONFIG_DIR: folder });
    await terminal.answer("API key:", "hello");
    await terminal.shows(/begins with sk_sandbox_[\s\S]*\? API key:/);
    await terminal.answer("API key:", "public-ABC-ABCDEFGHIJKL-XYZ");
    await terminal.shows(/production key[\s\S]*--environment[\s\S]*\? API key:/);
    await terminal.answer("API key:", apiKey);
    await terminal.answer("Payout secret (", apiKey);
    await terminal.shows(/is an API key, not the payout secret[\s\S]*\? Payout secret/);
    await terminal.answer("Payout secret (", "");
    await terminal.answer("Profile name", "Shop");
    await terminal.shows("1 to 32 ");
    await terminal.press("C-u");
    await terminal.answer("Profile name", "shop");
    await terminal.shows("Profile shop already exists");
    await terminal.press("C-u");
    await terminal.answer("Profile name", "other");
    await terminal.answer("Base URL of the API", "http://elsewhere.example");
    await terminal.shows(/> [\s\S]*https:/);
    await terminal.press("C-u");
    await terminal.answer("Base URL of the API", baseUrl);
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).not.toContain("ABCDEFGH");
    expect(screen).toContain("Profile shop is in use. To change that: 'lenden profile use other'.");
    expect(readdirSync(folder)).toEqual([".profiles.lock", "profiles.json"]);
    const { profiles } = JSON.parse(readFileSync(join(folder, "profiles.json"), "utf8"));
    expect(Object.keys(profiles)).toEqual(["shop", "other"]);
    expect(profiles.other).not.toHaveProperty("payoutSecret");
  });

  test("asks for another URL if the environment lock rejects one", async () => {
    const { baseUrl } = account.sandbox();
    const { terminal, file } = adding();
    await answerAll(terminal, [
      ["API key:", "public-ABC-ABCDEFGHIJKL-XYZ"],
      ["Payout secret (", ""],
      ["Profile name", ""],
      ["Base URL of the API", baseUrl],
    ]);
    await terminal.shows("A production key is only sent over https:");
    await terminal.shows(/Base URL of the API:$/m);
    await terminal.press("C-c");
    expect((await terminal.ended()).code).toBe(130);
    expect(existsSync(file)).toBe(false);
  });

  test.each([
    ["named", ["shop"]],
    ["typed", []],
  ])("with --replace keeps what is not typed of the profile that is %s", async (how, name) => {
    const { apiKey, payoutSecret, baseUrl } = account.sandbox();
    const { folder, file, env, stored } = newProfile();
    const secretFile = join(folder, "secret");
    writeFileSync(secretFile, payoutSecret);
    const settings = ["--method", "bkash", "--callback-url", "https://shop.example/callback"];
    const add = ["profile", "add", "shop", "--key-stdin", "--secret-file", secretFile, ...settings];
    await lenden([...add, "--base-url", baseUrl], { env, stdin: apiKey });
    const before = stored();
    const line = ["profile", "add", ...name, "--replace"];
    const terminal = openPrompts([...line, "--time-zone", "Asia/Kolkata"], { env, columns: 100 });
    await terminal.answer(/\? API key/, apiKey);
    await terminal.answer("Payout secret (", "");
    if (how === "typed") await terminal.answer("Profile name", "shop");
    await terminal.answer("Base URL of the API", "");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toMatch(/Profile shop keeps: .*payout-secret.*method/s);
    const { profiles } = JSON.parse(JSON.stringify(before));
    expect(JSON.parse(readFileSync(file, "utf8")).profiles.shop).toEqual({
      ...profiles.shop,
      timeZone: "Asia/Kolkata",
    });
    const again = /without prompts:\n {2}lenden (.*)$/m.exec(screen)?.[1] ?? "";
    expect(again).toContain("--replace");
    execFileSync("sh", ["-c", `${toolLine} ${again}`], {
      env: { ...process.env, ...env },
      input: apiKey,
    });
    expect(stored()).toMatchObject({ profiles: { shop: { method: "bkash" } } });
  });

  test("asks nothing if the name is taken", async () => {
    const { terminal } = adding(["shop"], { LENDEN_CONFIG_DIR: await withProfile("shop") });
    const { code, screen } = await terminal.ended();
    expect(code).toBe(2);
    expect(screen).toMatch(/^error: Profile shop already exists\./);
  });

  test.each([
    ["y", 0, ["profiles.json"]],
    ["", 4, []],
  ])("stores a key that cannot be tested only after a yes: %j", async (answer, code, files) => {
    const { terminal, folder } = adding([], {
      LENDEN_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
    });
    await answerAll(terminal, [
      ["API key:", key],
      ["Payout secret (", ""],
      ["Profile name", "shop"],
      ["Store it anyway?", answer],
    ]);
    expect((await terminal.ended()).code).toBe(code);
    expect(readdirSync(folder).filter((name) => name.endsWith(".json"))).toEqual(files);
  });
});

describe("Ctrl-C", () => {
  const answers: [string, string][] = [
    ["API key:", key],
    ["Payout secret (", "a-payout-secret"],
    ["Profile name", "shop"],
    ["Base URL of the API", "http://127.0.0.1:1"],
    ["Store it anyway?", ""],
  ];

  test("at any prompt ends with 130 and stores nothing", async () => {
    const left = answers.map(async ([question], step) => {
      const { terminal, folder } = adding();
      for (const [before, answer] of answers.slice(0, step)) await terminal.answer(before, answer);
      await terminal.shows(question);
      await terminal.press("C-c");
      const { code, isRestored, screen } = await terminal.ended();
      const hasSecret = /ABCDEFGH|a-payout/.test(screen);
      return { code, isRestored, hasSecret, files: readdirSync(folder) };
    });
    const expected = { code: 130, isRestored: true, hasSecret: false, files: [] };
    expect(await Promise.all(left)).toEqual(answers.map(() => expected));
  });

  test("while the key is tested ends with 130 and stores nothing", async () => {
    const service = await serve(() => ({ do: "silence" }));
    const { terminal, folder } = adding(["shop"], { LENDEN_BASE_URL: service.baseUrl });
    await terminal.answer("API key:", key);
    await terminal.answer("Payout secret (", "");
    await until(() => service.count() > 0);
    await terminal.signal("SIGINT");
    const { code, isRestored } = await terminal.ended();
    const files = readdirSync(folder);
    expect({ code, isRestored, files }).toEqual({ code: 130, isRestored: true, files: [] });
  });
});

secretServiceTest("profile add --keychain stores key and secret there", async () => {
  const { apiKey, payoutSecret, baseUrl } = account.sandbox();
  const { env: bus } = await openSecretService(scratchFolder(), "a password");
  const { file, env, line } = newProfile(["shop", "--keychain"], {
    ...bus,
    LENDEN_BASE_URL: baseUrl,
  });
  const terminal = await openTerminal(line, { env, columns: 100 });
  await terminal.shows("will be stored in this system's keychain");
  await terminal.answer("API key:", apiKey);
  await terminal.answer("Payout secret (", payoutSecret);
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain("--key-stdin --secret-stdin --keychain");
  expect(readFileSync(file, "utf8")).not.toContain(apiKey);
  const { stdout } = await lenden(["profile", "list", "--json"], {
    env: { LENDEN_CONFIG_DIR: join(file, "..") },
  });
  expect(stdout).toContain("in the keychain");
});
