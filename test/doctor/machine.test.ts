import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { testAccount } from "../support/merchant.ts";
import { serve } from "../support/server.ts";
import { apiKey, doctor, envOf } from "./running.ts";

const account = testAccount();
const checks = [
  ...["lenden", "node", "config", "data", "ledger", "ledger-storage", "ledger-position"],
  ...["compile-cache", "ca-certificates"],
  ...["profile", "key", "payout-secret", "base-url"],
  ...["connection", "access", "clock", "ip-allowlist", "verification"],
];
const text = (part: string) => expect.stringContaining(part);

test("ends with 0 if no check fails; JSON is an array of findings", async () => {
  const { code, stdout, stderr } = await built(["doctor", "--json"], { env: account.env() });
  const findings: { check: string; state: string }[] = JSON.parse(stdout);
  expect(findings.map(({ check }) => check)).toEqual(checks);
  for (const one of findings) {
    expect(Object.keys(one)).toEqual(["check", "state", "message", "hint"]);
    expect(["passed", "skipped"]).toContain(one.state);
  }
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test.each([
  ["v20.18.3", "failed"],
  ["v18.20.0", "failed"],
  ["v20.19.0", "passed"],
  ["v24.1.0", "passed"],
])("Node %s: %s", async (nodeVersion, state) => {
  const { of, code } = await doctor({}, { host: { nodeVersion } });
  expect(of.node).toMatchObject({ state, message: text(nodeVersion) });
  expect(code).toBe(1);
});

describe("directories", () => {
  const both = [
    ["config", "profiles.json"],
    ["data", "ledger.db"],
  ] as const;

  function directories() {
    const folder = scratchFolder();
    const [config, data] = [join(folder, "config"), join(folder, "data")];
    for (const one of [config, data]) mkdirSync(one, { mode: 0o700 });
    return { config, data, env: { LENDEN_CONFIG_DIR: config, LENDEN_DATA_DIR: data } };
  }

  test("that do not exist yet pass, and are not created", async () => {
    const { env, config, data } = directories();
    for (const folder of [config, data]) rmSync(folder, { recursive: true });
    const { of } = await doctor(env);
    for (const [check] of both)
      expect(of[check]).toMatchObject({ state: "passed", message: text("does not exist yet") });
    expect(() => rmSync(data)).toThrow("ENOENT");
  });

  test.each(both)("%s: warns if other users can read it", async (check) => {
    const { env, ...folders } = directories();
    chmodSync(folders[check], 0o755);
    expect((await doctor(env)).of[check]).toMatchObject({
      state: "warning",
      hint: `Run: chmod -R go= '${folders[check]}'`,
    });
    const windows = await doctor(env, { host: { platform: "win32" } });
    expect(windows.of[check]?.state).toBe("passed");
  });

  test.each(both)("%s: a link in place of the directory or its file fails", async (check, name) => {
    const { env, ...folders } = directories();
    symlinkSync("/dev/null", join(folders[check], name));
    expect((await doctor(env)).withState("failed")).toContain(
      check === "config" ? "profile" : "ledger",
    );
    rmSync(folders[check], { recursive: true });
    symlinkSync(scratchFolder(), folders[check]);
    expect((await doctor(env)).of[check]).toMatchObject({ state: "failed", message: text("link") });
  });
});

describe("the ledger", () => {
  /** A ledger with one payment whose outcome is unknown. */
  async function withUnknownOutcome() {
    const api = await serve(() => ({ do: "close" }));
    const env = { ...envOf(api.baseUrl), LENDEN_CONFIG_DIR: scratchFolder() };
    const line = ["pay", "create", "--amount", "5", "--description", "x", "--method-id", "m"];
    expect((await lenden(line, { env })).code).toBe(75);
    return { env, file: join(env.LENDEN_CONFIG_DIR, "data", "ledger.db") };
  }

  test("warns about an unknown outcome until it is resolved", async () => {
    const { env } = await withUnknownOutcome();
    expect((await doctor(env)).of.ledger).toMatchObject({
      state: "warning",
      message: text("unknown outcome: 1"),
      hint: text("lenden ledger resolve"),
    });
    const resolved = await lenden(["ledger", "resolve", "@last", "--not-created"], { env });
    expect(resolved.code).toBe(0);
    expect((await doctor(env)).of.ledger?.message).toMatch(/is intact \(0\.\d MiB\)/);
  });

  test("fails if pages are lost, or if it is not a database", async () => {
    const { env, file } = await withUnknownOutcome();
    const database = await openDatabase(file);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    truncateSync(file, 8192);
    const { of, code } = await doctor(env);
    expect(of.ledger).toMatchObject({ state: "failed", hint: expect.any(String) });
    expect([of.profile?.state, code]).toEqual(["skipped", 1]);
    for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
    writeFileSync(file, "this is not a database, although it is long ".repeat(99), { mode: 0o600 });
    expect((await doctor(env)).of.ledger?.state).toBe("failed");
  });
});

test("NODE_EXTRA_CA_CERTS fails if it names no file of certificates", async () => {
  const file = join(scratchFolder(), "authority.pem");
  const stateOf = async () =>
    (await doctor({ NODE_EXTRA_CA_CERTS: file })).of["ca-certificates"]?.state;
  expect(await stateOf()).toBe("failed");
  writeFileSync(file, "nothing");
  expect(await stateOf()).toBe("failed");
  expect((await doctor()).of["ca-certificates"]?.state).toBe("passed");
});

describe("the account", () => {
  const shop = {
    environment: "sandbox",
    baseUrl: "http://127.0.0.1:1/cp/api/v1",
    apiKey: { text: apiKey },
    payoutSecret: { text: "s3cret" },
  };

  /** A configuration with this profile in use. */
  function using(profile: object): Record<string, string> {
    const folder = scratchFolder();
    const profiles = { version: 1, current: "shop", profiles: { shop: profile } };
    writeFileSync(join(folder, "profiles.json"), JSON.stringify(profiles), { mode: 0o600 });
    return { LENDEN_CONFIG_DIR: folder };
  }

  test("fails without a profile or a key, and names the command that adds them", async () => {
    const { of, code, withState } = await doctor();
    expect(of.key?.hint).toContain("lenden profile add");
    expect(withState("failed")).toEqual(["key"]);
    expect(withState("skipped")).toEqual(["profile", ...checks.slice(-6)]);
    expect(code).toBe(1);
  });

  test("fails for an unknown profile and a damaged file, and shows nothing of it", async () => {
    const unknown = await doctor({ ...using(shop), LENDEN_PROFILE: "other" });
    expect(unknown.of.profile).toMatchObject({
      state: "failed",
      hint: "Use one of these profiles: shop.",
    });
    const env = using(shop);
    writeFileSync(join(env.LENDEN_CONFIG_DIR ?? "", "profiles.json"), `{"${apiKey}`);
    const damaged = await doctor(env);
    expect(damaged.of.profile?.state).toBe("failed");
    expect(damaged.outcome.stdout + damaged.outcome.stderr).not.toContain(apiKey);
  });

  test.each([
    ["a command that fails", { apiKey: { command: "false" } }, "exit code 1"],
    ["the other environment", { environment: "production" }, "sandbox"],
    ["an invalid URL", { baseUrl: "nonsense" }, "base URL"],
    ["another scheme", { baseUrl: "ftp://shop.example" }, "base URL"],
  ])("the key fails for %s, and nothing is sent", async (_, change, message) => {
    const { of } = await doctor(using({ ...shop, ...change }));
    expect(of.key).toMatchObject({ state: "failed", message: text(message) });
    expect(of.connection?.state).toBe("skipped");
  });

  test("warns about a missing payout secret and fails for an API key in its place", async () => {
    const { payoutSecret: _, ...without } = shop;
    expect((await doctor(using(without))).of["payout-secret"]?.state).toBe("warning");
    const { of } = await doctor(using({ ...shop, payoutSecret: { text: apiKey } }));
    expect(of["payout-secret"]?.state).toBe("failed");
  });
});

test("no check shows a key, a secret or a password", async () => {
  const secrets = {
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: "canary-of-the-secret",
    HTTPS_PROXY: "http://me:canary-of-proxy@127.0.0.1:1",
  };
  for (const LENDEN_BASE_URL of [
    account.sandbox().baseUrl,
    "http://127.0.0.1:1",
    "https://service.test",
    "https://me:canary-of-url@shop.example/?key=canary-of-query",
  ]) {
    for (const format of ["table", "json", "csv"]) {
      const line = ["doctor", "-v", "-o", format];
      const { stdout, stderr } = await account.run(line, { env: { ...secrets, LENDEN_BASE_URL } });
      expect(stdout + stderr).not.toMatch(/canary/);
      expect(stdout + stderr).not.toContain(apiKey);
    }
  }
});
