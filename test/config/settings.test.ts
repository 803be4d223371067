import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Profile, Profiles } from "../../src/config/profile.ts";
import { resolveSettings } from "../../src/config/settings.ts";
import { Failure } from "../../src/domain/failure.ts";
import { built, lenden, scratchFolder } from "../run.ts";
import { runs } from "../runs.ts";

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

test("the profile in use gives every value, and each says so", () => {
  const source = "profile shop";
  expect(resolveSettings({}, {}, stored)).toEqual({
    profile: { value: "shop", source: "profile use" },
    environment: "sandbox",
    baseUrl: { value: shop.baseUrl, source },
    apiKey: { value: shop.apiKey, source },
    payoutSecret: { value: shop.payoutSecret, source },
    redirectUrl: { value: shop.redirectUrl, source },
    callbackUrl: { value: shop.callbackUrl, source },
    method: { value: "bkash", source },
    numberFormat: { value: "e164", source },
    confirmAbove: { value: 25_000_50n, source },
    shadows: [],
  });
});

test("without anything there are the defaults alone", () => {
  expect(resolveSettings({}, {}, empty)).toEqual({
    profile: undefined,
    environment: undefined,
    baseUrl: undefined,
    apiKey: undefined,
    payoutSecret: undefined,
    redirectUrl: undefined,
    callbackUrl: undefined,
    method: undefined,
    numberFormat: { value: "local", source: "default" },
    confirmAbove: { value: 10_000_00n, source: "default" },
    shadows: [],
  });
});

test("--profile goes before LENDEN_PROFILE, that before the profile in use", () => {
  const flags = { profile: "bare" };
  expect(resolveSettings(flags, { LENDEN_PROFILE: "shop" }, stored).profile).toEqual({
    value: "bare",
    source: "--profile",
  });
  expect(resolveSettings({}, { LENDEN_PROFILE: "bare" }, stored).profile).toEqual({
    value: "bare",
    source: "LENDEN_PROFILE",
  });
});

test("--base-url goes before LENDEN_BASE_URL, that before the profile; what is hidden is said", () => {
  const env = { LENDEN_BASE_URL: "https://env.example" };
  const flagged = resolveSettings({ baseUrl: "https://flag.example" }, env, stored);
  expect(flagged.baseUrl).toEqual({ value: "https://flag.example", source: "--base-url" });
  expect(flagged.shadows).toEqual(["--base-url hides the base URL of profile shop."]);
  const fromEnv = resolveSettings({}, env, stored);
  expect(fromEnv.baseUrl).toEqual({ value: env.LENDEN_BASE_URL, source: "LENDEN_BASE_URL" });
  expect(fromEnv.shadows).toEqual(["LENDEN_BASE_URL hides the base URL of profile shop."]);
});

test("a variable that hides nothing is not said to", () => {
  const env = { LENDEN_API_KEY: "public-x", LENDEN_PAYOUT_SECRET: "s" };
  expect(resolveSettings({ profile: "bare" }, env, stored).shadows).toEqual([]);
  expect(resolveSettings({}, env, stored).shadows).toEqual([
    "LENDEN_API_KEY hides the API key of profile shop.",
    "LENDEN_PAYOUT_SECRET hides the payout secret of profile shop.",
  ]);
});

test("key and base URL of the environment alone take nothing from the profile in use", () => {
  const env = { LENDEN_API_KEY: "sk_sandbox_ci", LENDEN_BASE_URL: "https://ci.example" };
  expect(resolveSettings({}, env, stored)).toEqual({
    ...resolveSettings({}, {}, empty),
    baseUrl: { value: "https://ci.example", source: "LENDEN_BASE_URL" },
    apiKey: { value: { text: "sk_sandbox_ci" }, source: "LENDEN_API_KEY" },
    shadows: ["LENDEN_API_KEY and LENDEN_BASE_URL hide profile shop, which is in use."],
  });
  expect(resolveSettings({}, env, empty).shadows).toEqual([]);
});

test("key and base URL of the environment beside a named profile do hide its own", () => {
  const env = { LENDEN_API_KEY: "sk_sandbox_ci", LENDEN_BASE_URL: "https://ci.example" };
  const settings = resolveSettings({ profile: "shop" }, env, stored);
  expect(settings.payoutSecret?.source).toBe("profile shop");
  expect(settings.shadows).toHaveLength(2);
});

describe("on loopback", () => {
  test("the customer's return and the callbacks go to the service itself, and nowhere else is guessed", () => {
    const env = { LENDEN_BASE_URL: "http://127.0.0.1:4242/cp/api/v1" };
    expect(resolveSettings({}, env, empty)).toMatchObject({
      redirectUrl: { value: "http://127.0.0.1:4242/return", source: "default on loopback" },
      callbackUrl: { value: "http://127.0.0.1:4242/callback", source: "default on loopback" },
    });
    expect(resolveSettings({ profile: "bare" }, {}, stored).redirectUrl).toBeUndefined();
    expect(resolveSettings({}, env, stored).redirectUrl?.source).toBe("profile shop");
  });
});

test.each(["nobody", "constructor", "__proto__", "toString", ""])(
  "the profile %j that there is not is an access failure, and lists what there is",
  (profile) => {
    const resolve = () => resolveSettings({ profile }, {}, stored);
    expect(resolve).toThrow(Failure);
    expect(resolve).toThrow(expect.objectContaining({ kind: "access" }));
    expect(() => resolveSettings({}, { LENDEN_PROFILE: profile }, stored)).toThrow(
      expect.objectContaining({ details: { hint: "There are: shop, bare." } }),
    );
  },
);

test("in every combination the first of flag, variable, profile and default that is there wins", () => {
  const maybe = (value: string) => fc.option(fc.constant(value), { nil: undefined });
  const combination = fc.record({
    profileFlag: fc.option(fc.constantFrom("shop", "bare"), { nil: undefined }),
    profileVariable: fc.option(fc.constantFrom("shop", "bare"), { nil: undefined }),
    urlFlag: maybe("https://flag.example"),
    urlVariable: maybe("https://env.example"),
    keyVariable: maybe("sk_sandbox_env"),
    secretVariable: maybe("secret-env"),
    current: fc.option(fc.constantFrom("shop", "bare"), { nil: undefined }),
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
        {
          version: 1,
          ...(given.current ? { current: given.current } : {}),
          profiles: { shop, bare },
        },
      );
      const alone = given.urlVariable !== undefined && given.keyVariable !== undefined;
      const name =
        given.profileFlag ?? given.profileVariable ?? (alone ? undefined : given.current);
      const own = name === undefined ? undefined : { shop, bare }[name];
      expect(settings.profile?.value).toBe(name);
      expect(settings.environment).toBe(own?.environment);
      expect(settings.baseUrl?.value).toBe(given.urlFlag ?? given.urlVariable ?? own?.baseUrl);
      expect(settings.apiKey?.value).toEqual(
        given.keyVariable === undefined ? own?.apiKey : { text: given.keyVariable },
      );
      expect(settings.payoutSecret?.value).toEqual(
        given.secretVariable === undefined ? own?.payoutSecret : { text: given.secretVariable },
      );
      expect(settings.numberFormat.value).toBe(own?.numberFormat ?? "local");
      const hidden = [
        (given.urlFlag ?? given.urlVariable) && own?.baseUrl,
        given.keyVariable && own?.apiKey,
        given.secretVariable && own?.payoutSecret,
        name === undefined && given.current,
      ];
      expect(settings.shadows).toHaveLength(hidden.filter(Boolean).length);
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test("`profile show` names the source of every value, and the notices stand on stderr", async () => {
  const folder = scratchFolder();
  const env = { LENDEN_CONFIG_DIR: folder };
  await lenden(["profile", "add", "shop", "--key-stdin", "--base-url", shop.baseUrl], {
    env,
    stdin: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ\n",
  });
  const overriding = { ...env, LENDEN_BASE_URL: "https://env.example/cp/api/v1" };
  const shown = await lenden(["profile", "show"], { env: overriding });
  expect(shown.stderr).toBe("LENDEN_BASE_URL hides the base URL of profile shop.\n");
  const { stdout, stderr, code } = await lenden(["profile", "show", "--json"], { env: overriding });
  expect([code, stderr]).toEqual([0, ""]);
  const rows: { setting: string; value: string | null; source: string }[] = JSON.parse(stdout);
  expect(rows.map(({ setting, value, source }) => `${setting}: ${value} (${source})`)).toEqual([
    "profile: shop (profile use)",
    "environment: sandbox (profile shop)",
    "account: null (not set)",
    "base-url: https://env.example/cp/api/v1 (LENDEN_BASE_URL)",
    "api-key: sk_sandbox_…XYZ (profile shop, file)",
    "payout-secret: null (not set)",
    "redirect-url: null (not set)",
    "callback-url: null (not set)",
    "method: null (not set)",
    "number-format: local (default)",
    "confirm-above: 10000 (default)",
  ]);
});

test("an empty variable is an unset one (built tool)", async () => {
  const { stdout, stderr, code } = await built(["profile", "show", "--json"], {
    env: {
      LENDEN_PROFILE: "",
      LENDEN_API_KEY: "",
      LENDEN_BASE_URL: "",
      LENDEN_PAYOUT_SECRET: "",
      LENDEN_OUTPUT: "",
      LENDEN_DATA_DIR: "",
    },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rows: { setting: string; source: string }[] = JSON.parse(stdout);
  expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(["not set", "default"]));
});
