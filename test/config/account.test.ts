import { describe, expect, test } from "vitest";
import { checkedAccount } from "../../src/config/account.ts";
import type { Profiles } from "../../src/config/profiles.ts";
import { resolveSettings, type Settings } from "../../src/config/settings.ts";
import { type Environment, environments } from "../../src/domain/api-keys.ts";
import { Failure } from "../../src/domain/failure.ts";
import { key, liveKey } from "./setup.ts";

const keys = { sandbox: key, production: liveKey };
const none: Profiles = { version: 1, profiles: {} };

/** Two stored profiles, whose hosts must never see a key of the other environment. */
const others: Profiles["profiles"] = {
  test: { environment: "sandbox", baseUrl: "https://sandbox.example/cp/api/v1" },
  live: { environment: "production", baseUrl: "https://pay.example/cp/api/v1" },
};

/** The environments whose keys may be sent there. */
const urls: [string, readonly Environment[]][] = [
  ["https://new.example/cp/api/v1", environments],
  ["http://new.example/cp/api/v1", []],
  ["http://127.0.0.1:4242/cp/api/v1", ["sandbox"]],
  ["http://localhost:4242/cp/api/v1", ["sandbox"]],
  ["http://[::1]:4242/cp/api/v1", ["sandbox"]],
  ["https://127.0.0.1:4242/cp/api/v1", environments],
  ["https://sandbox.example/cp/api/v1", ["sandbox"]],
  ["https://sandbox.example:443/another/path", ["sandbox"]],
  ["https://sandbox.example./cp/api/v1", ["sandbox"]],
  ["HTTPS://SANDBOX.example/", ["sandbox"]],
  ["https://pay.example/cp/api/v1", ["production"]],
  ["https://PAY.example", ["production"]],
];
const sources = ["LENDEN_API_KEY", "profile own", "the command of profile own"];

describe("the environment lock", () => {
  const combinations = environments.flatMap((keyFor) =>
    sources.flatMap((source) =>
      [undefined, ...environments].flatMap((profileFor) =>
        // Only a key of the environment has no profile.
        source !== "LENDEN_API_KEY" && profileFor === undefined
          ? []
          : urls.map(([url, fits]) => ({ keyFor, source, profileFor, url, fits })),
      ),
    ),
  );

  test(`lets key, environment and base URL pass only if they agree: ${combinations.length} combinations`, () => {
    const wrong = combinations.filter(({ keyFor, source, profileFor, url, fits }) => {
      const agrees = (profileFor ?? keyFor) === keyFor && fits.includes(keyFor);
      const own = profileFor && { environment: profileFor, baseUrl: url };
      const stored = { version: 1 as const, profiles: { ...others, ...(own ? { own } : {}) } };
      const flags = { baseUrl: url, ...(own ? { profile: "own" } : {}) };
      const settings = resolveSettings(flags, {}, stored);
      // Without the profile itself, whose URL always is the one that is checked.
      return (
        isAccepted(keys[keyFor], source, settings, { version: 1, profiles: others }) !== agrees
      );
    });
    expect(wrong).toEqual([]);
    expect(combinations.length).toBeGreaterThan(100);
  });

  test("sends the production key of a profile only to the host of that profile", () => {
    const stored: Profiles = { version: 1, profiles: others };
    const settings = resolveSettings(
      { profile: "live", baseUrl: "https://new.example" },
      {},
      stored,
    );
    expect(isAccepted(liveKey, "profile live", settings, stored)).toBe(false);
    expect(isAccepted(liveKey, "the keychain entry of profile live", settings, stored)).toBe(false);
    expect(isAccepted(liveKey, "LENDEN_API_KEY", settings, stored)).toBe(true);
    const ownPath = resolveSettings(
      { profile: "live", baseUrl: "https://pay.example/v2" },
      {},
      stored,
    );
    expect(isAccepted(liveKey, "profile live", ownPath, stored)).toBe(true);
  });

  test("never shows the key", () => {
    const stored: Profiles = { version: 1, profiles: others };
    let rejected = 0;
    for (const value of [key, liveKey, "sk_live_SECRET-0123456789"])
      for (const url of ["http://new.example", "https://pay.example", "http://127.0.0.1", "none"]) {
        const settings: Settings = { ...chosen(url), environment: "production" };
        try {
          checkedAccount({ value, source: "LENDEN_API_KEY" }, settings, stored);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          rejected += 1;
          expect(error.message + JSON.stringify(error.details)).not.toContain(value.slice(11, 19));
        }
      }
    expect(rejected).toBeGreaterThan(0);
  });
});

describe("the base URL", () => {
  const check = (value: string) =>
    checkedAccount({ value: key, source: "LENDEN_API_KEY" }, chosen(value), none);

  test.each([
    ["https://new.example", "https://new.example/cp/api/v1"],
    ["https://new.example/", "https://new.example/cp/api/v1"],
    ["https://new.example/cp/api/v1/", "https://new.example/cp/api/v1"],
    ["https://new.example/cp/api/v2", "https://new.example/cp/api/v2"],
    ["HTTPS://New.Example:443", "https://new.example/cp/api/v1"],
  ])("%s is used as %s", (typed, baseUrl) => {
    expect(check(typed)).toMatchObject({ baseUrl, name: "environment variables" });
  });

  test.each([
    "",
    "new.example",
    "ftp://new.example",
    "https://user@new.example",
    "https://:password@new.example",
    "https://new.example/?a=1",
    "https://new.example/?",
    "https://new.example/#a",
    "https://new.example/#",
  ])("%j is rejected", (typed) => {
    expect(() => check(typed)).toThrow(expect.objectContaining({ reason: "account.base-url" }));
  });

  test("is required", () => {
    const settings: Settings = { ...chosen(""), baseUrl: undefined };
    const checkNone = () => checkedAccount({ value: key, source: "x" }, settings, none);
    expect(checkNone).toThrow(expect.objectContaining({ reason: "account.no-base-url" }));
  });
});

function isAccepted(value: string, source: string, settings: Settings, stored: Profiles): boolean {
  try {
    return checkedAccount({ value, source }, settings, stored).apiKey === value;
  } catch (error) {
    if (error instanceof Failure && error.kind === "access") return false;
    throw error;
  }
}

function chosen(url: string): Settings {
  return resolveSettings({ baseUrl: url }, {}, none);
}
