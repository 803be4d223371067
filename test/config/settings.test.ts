import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Profile, Profiles } from "../../src/config/profiles.ts";
import { resolveSettings } from "../../src/config/settings.ts";
import { runs } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { place } from "./setup.ts";

const shop: Profile = {
  environment: "sandbox",
  baseUrl: "https://shop.example/cp/api/v1",
  apiKey: { text: "sk_sandbox_shop" },
  payoutSecret: { command: "pass show shop" },
  redirectUrl: "https://shop.example/thanks",
  callbackUrl: "https://shop.example/callback",
  method: "bkash",
  numberFormat: "e164",
  confirmAbove: "25000.5",
};
const bare: Profile = { environment: "production", baseUrl: "https://bare.example" };
const stored: Profiles = { version: 1, current: "shop", profiles: { shop, bare } };
const empty: Profiles = { version: 1, profiles: {} };
const keyAndUrl = { LENDEN_API_KEY: "sk_sandbox_ci", LENDEN_BASE_URL: "https://ci.example" };

test("key and base URL of the environment take nothing from the profile in use", () => {
  expect(resolveSettings({}, keyAndUrl, stored)).toEqual({
    ...resolveSettings({}, {}, empty),
    baseUrl: { value: "https://ci.example", source: "LENDEN_BASE_URL" },
    apiKey: { value: { text: "sk_sandbox_ci" }, source: "LENDEN_API_KEY" },
    shadows: ["Using LENDEN_API_KEY and LENDEN_BASE_URL; profile shop is ignored."],
  });
  const named = resolveSettings({ profile: "shop" }, keyAndUrl, stored);
  expect(named.payoutSecret?.source).toBe("profile shop");
  expect(named.shadows).toEqual([
    "LENDEN_BASE_URL overrides the base URL of profile shop.",
    "LENDEN_API_KEY overrides the API key of profile shop.",
  ]);
});

test("on loopback, customers and callbacks go to the API's own server", () => {
  const env = { LENDEN_BASE_URL: "http://127.0.0.1:4242/cp/api/v1" };
  expect(resolveSettings({}, env, empty)).toMatchObject({
    redirectUrl: { value: "http://127.0.0.1:4242/return", source: "default on loopback" },
    callbackUrl: { value: "http://127.0.0.1:4242/callback", source: "default on loopback" },
  });
  expect(resolveSettings({ profile: "bare" }, {}, stored).redirectUrl).toBeUndefined();
  expect(resolveSettings({}, env, stored).redirectUrl?.source).toBe("profile shop");
});

test.each(["unknown", "constructor", "__proto__", ""])("rejects the unknown profile %j", (name) => {
  const rejection = expect.objectContaining({
    reason: "profile.not-found",
    details: { hint: "Use one of these profiles: shop, bare." },
  });
  expect(() => resolveSettings({ profile: name }, {}, stored)).toThrow(rejection);
  expect(() => resolveSettings({}, { LENDEN_PROFILE: name }, stored)).toThrow(rejection);
});

test("in every combination the order is flag, variable, profile, default", () => {
  const maybe = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const combination = fc.record({
    profileFlag: maybe("shop", "bare"),
    profileVariable: maybe("shop", "bare"),
    urlFlag: maybe("https://flag.example"),
    urlVariable: maybe("https://env.example"),
    keyVariable: maybe("sk_sandbox_env"),
    secretVariable: maybe("secret-env"),
    current: maybe("shop", "bare"),
  });
  fc.assert(
    fc.property(combination, (given) => {
      const settings = resolveSettings(
        { profile: given.profileFlag, baseUrl: given.urlFlag },
        {
          LENDEN_PROFILE: given.profileVariable,
          LENDEN_BASE_URL: given.urlVariable,
          LENDEN_API_KEY: given.keyVariable,
          LENDEN_PAYOUT_SECRET: given.secretVariable,
        },
        { ...stored, current: given.current },
      );
      const isComplete = given.urlVariable !== undefined && given.keyVariable !== undefined;
      const name =
        given.profileFlag ?? given.profileVariable ?? (isComplete ? undefined : given.current);
      const own = name === "shop" ? shop : name === "bare" ? bare : undefined;
      const text = (value: string | undefined) =>
        value === undefined ? undefined : { text: value };
      expect(settings.profile?.value).toBe(name);
      expect(settings.environment).toBe(own?.environment);
      expect(settings.baseUrl?.value).toBe(given.urlFlag ?? given.urlVariable ?? own?.baseUrl);
      expect(settings.apiKey?.value).toEqual(text(given.keyVariable) ?? own?.apiKey);
      expect(settings.payoutSecret?.value).toEqual(text(given.secretVariable) ?? own?.payoutSecret);
      expect(settings.numberFormat.value).toBe(own?.numberFormat ?? "local");
      const overridden = [
        (given.urlFlag ?? given.urlVariable) && own?.baseUrl,
        given.keyVariable && own?.apiKey,
        given.secretVariable && own?.payoutSecret,
        name === undefined && given.current,
      ];
      expect(settings.shadows).toHaveLength(overridden.filter(Boolean).length);
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test("profile show names the source of every value, and says on stderr what is overridden", async () => {
  const { env, add } = place();
  await add("shop");
  const overriding = { ...env, LENDEN_BASE_URL: "https://env.example/cp/api/v1" };
  const shown = await lenden(["profile", "show"], { env: overriding });
  expect(shown.stderr).toBe("LENDEN_BASE_URL overrides the base URL of profile shop.\n");
  const { stdout, stderr, code } = await lenden(["profile", "show", "--json"], { env: overriding });
  expect([code, stderr]).toEqual([0, ""]);
  const rows: { setting: string; value: string | null; source: string }[] = JSON.parse(stdout);
  expect(rows.map(({ setting, value, source }) => `${setting}: ${value} (${source})`)).toEqual([
    "profile: shop (default profile)",
    "environment: sandbox (profile shop)",
    "account: null (not set)",
    "base-url: https://env.example/cp/api/v1 (LENDEN_BASE_URL)",
    "api-key: sk_sandbox_…XYZ (profile shop, file)",
    "payout-secret: null (not set)",
    "callback-secret: null (not set)",
    "redirect-url: null (not set)",
    "callback-url: null (not set)",
    "method: null (not set)",
    "number-format: local (default)",
    "time-zone: Asia/Dhaka (default)",
    "ledger: null (not set)",
    "ledger-password: null (not set)",
    "ledger-ca: null (not set)",
    "confirm-above: 10000 (default)",
  ]);
});

describe("a ledger on PostgreSQL", () => {
  const ledger = "postgres://ann@db.example/lenden";
  const ledgerPassword = { command: "pass show ledger" };
  const shared = { ...shop, ledger, ledgerPassword, ledgerCa: "/ca.pem" };
  const profiles: Profiles = { version: 1, current: "shared", profiles: { shared } };
  const other = "postgres://ci:s%2Fecret@db.example/ci";

  test("comes from the profile, with its password command and certificate", () => {
    expect(resolveSettings({}, {}, profiles).ledger).toMatchObject({
      url: { value: { text: ledger }, source: "profile shared" },
      password: { value: ledgerPassword, source: "profile shared" },
      ca: { value: "/ca.pem" },
    });
    expect(resolveSettings({}, { LENDEN_LEDGER_PASSWORD: "x" }, profiles).ledger?.password).toEqual(
      { value: { text: "x" }, source: "LENDEN_LEDGER_PASSWORD" },
    );
  });

  test("comes from the variable first, without the password command and the certificate of the profile", () => {
    const named = resolveSettings({}, { LENDEN_LEDGER_URL: "postgres://bo@db/x" }, profiles);
    expect(named.ledger).toMatchObject({
      url: { value: { user: "bo" } },
      password: undefined,
      ca: undefined,
    });
    expect(named.shadows).toEqual(["LENDEN_LEDGER_URL overrides the ledger of profile shared."]);
    const env = { LENDEN_LEDGER_URL: other, LENDEN_LEDGER_PASSWORD: "x" };
    const password = { value: { text: "s/ecret" }, source: "LENDEN_LEDGER_URL" };
    expect(resolveSettings({}, env, profiles).ledger?.password).toEqual(password);
  });

  test("is named as ignored if the variables for key and base URL ignore the profile", () => {
    expect(resolveSettings({}, keyAndUrl, profiles).shadows[1]).toContain("LENDEN_LEDGER_URL");
    const env = { ...keyAndUrl, LENDEN_LEDGER_URL: other };
    expect(resolveSettings({}, env, profiles).shadows).toHaveLength(1);
  });

  test("is stored without its short ways of writing, and shown without a password", async () => {
    const { add, profile, stored, env } = place();
    const set = ["--ledger", ledger, "--ledger-ca", "ca.pem"];
    await add("shop", [...set, "--ledger-password-command", "pass show x"]);
    expect(stored().profiles.shop).toMatchObject({
      ledger,
      ledgerPassword: { command: "pass show x" },
      ledgerCa: resolve("ca.pem"),
    });
    await profile(["set", "ledger", "postgresql://bo@DB.example:5432/lenden?sslmode=require"]);
    await profile(["set", "ledger-password-command", "pass show y"]);
    const { stdout } = await lenden(["profile", "show", "--json"], { env });
    const rows: { setting: string; value: string }[] = JSON.parse(stdout);
    expect(rows.filter(({ setting }) => setting.startsWith("ledger"))).toEqual([
      { setting: "ledger", value: "postgres://bo@db.example/lenden", source: "profile shop" },
      { setting: "ledger-password", value: "printed by: pass", source: "profile shop, command" },
      { setting: "ledger-ca", value: resolve("ca.pem"), source: "profile shop" },
    ]);
    await profile(["set", "ledger", ""]);
    expect(stored().profiles.shop).not.toHaveProperty("ledger");
  });

  test("is rejected in a flag or a setting that contains a password, which is not repeated", async () => {
    const { add, profile, stored } = place();
    const rejected = await add("shop", ["--ledger", "postgres://ann:Canary-1@db/lenden"]);
    await add("shop");
    const changed = await profile(["set", "ledger", "postgres://ann:Canary-1@db/lenden"]);
    for (const { code, stdout, stderr } of [rejected, changed]) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("contains a password");
      expect(stderr).not.toContain("Canary");
    }
    expect(stored().profiles.shop).not.toHaveProperty("ledger");
  });

  test("with a password in the variable is shown without it", async () => {
    const { env, add } = place();
    await add("shop");
    const overriding = { ...env, LENDEN_LEDGER_URL: "postgres://ci:Canary%2F1@db/ci" };
    const { code, stdout, stderr } = await lenden(["profile", "show"], { env: overriding });
    expect(code).toBe(0);
    expect(stdout).toContain("postgres://ci@db/ci");
    expect(stdout + stderr).not.toContain("Canary");
    const wrong = await lenden(["profile", "Canary/1"], { env: overriding });
    expect(wrong.stderr).not.toContain("Canary");
  });
});

test("an empty variable is an unset one (built tool)", async () => {
  const names = ["PROFILE", "API_KEY", "BASE_URL", "PAYOUT_SECRET", "OUTPUT", "DATA_DIR"];
  const env = Object.fromEntries(names.map((name) => [`LENDEN_${name}`, ""]));
  const { stdout, stderr, code } = await built(["profile", "show", "--json"], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rows: { source: string }[] = JSON.parse(stdout);
  expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(["not set", "default"]));
});
