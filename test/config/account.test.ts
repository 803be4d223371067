import { describe, expect, test } from "vitest";
import { lockedAccount } from "../../src/config/account.ts";
import type { Profiles } from "../../src/config/profile.ts";
import { fetchSecret } from "../../src/config/secrets.ts";
import { resolveSettings, type Settings } from "../../src/config/settings.ts";
import { type Environment, environments } from "../../src/domain/api-keys.ts";
import { Failure } from "../../src/domain/failure.ts";

const keys = {
  sandbox: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ",
  production: "public-ABC-ABCDEFGHIJKL-XYZ",
};
const hosts = { sandbox: "https://sandbox.example", production: "https://pay.example" };

/** Two profiles of other people's making, whose addresses must never see a key of the other kind. */
const others: Profiles["profiles"] = {
  test: { environment: "sandbox", baseUrl: `${hosts.sandbox}/cp/api/v1` },
  live: { environment: "production", baseUrl: `${hosts.production}/cp/api/v1` },
};

const urls: [string, { for: Environment | "any"; safeFor: Environment[] }][] = [
  ["https://new.example/cp/api/v1", { for: "any", safeFor: [...environments] }],
  ["http://new.example/cp/api/v1", { for: "any", safeFor: [] }],
  ["http://127.0.0.1:4242/cp/api/v1", { for: "any", safeFor: ["sandbox"] }],
  ["http://localhost:4242/cp/api/v1", { for: "any", safeFor: ["sandbox"] }],
  ["http://[::1]:4242/cp/api/v1", { for: "any", safeFor: ["sandbox"] }],
  ["https://127.0.0.1:4242/cp/api/v1", { for: "any", safeFor: [...environments] }],
  [`${hosts.sandbox}/cp/api/v1`, { for: "sandbox", safeFor: [...environments] }],
  [`${hosts.sandbox}:443/another/path`, { for: "sandbox", safeFor: [...environments] }],
  ["HTTPS://SANDBOX.example/", { for: "sandbox", safeFor: [...environments] }],
  [`${hosts.production}/cp/api/v1`, { for: "production", safeFor: [...environments] }],
  ["https://PAY.example", { for: "production", safeFor: [...environments] }],
];
const sources = ["environment", "profile", "command"] as const;

const combinations = environments.flatMap((keyFor) =>
  sources.flatMap((source) =>
    [undefined, ...environments].flatMap((profileFor) =>
      urls.flatMap(([url, fits]) =>
        // A key of a profile has a profile.
        source !== "environment" && profileFor === undefined
          ? []
          : [{ keyFor, source, profileFor, url, fits }],
      ),
    ),
  ),
);

test(`key, environment and base URL agree or nothing is sent: ${combinations.length} combinations`, async () => {
  const wrong: string[] = [];
  for (const combination of combinations) {
    const { keyFor, profileFor, fits } = combination;
    const agrees =
      (profileFor === undefined || profileFor === keyFor) &&
      fits.safeFor.includes(keyFor) &&
      (fits.for === "any" || fits.for === keyFor);
    const sent = await isSent(combination);
    if (sent !== agrees) wrong.push(JSON.stringify({ sent, ...combination }));
  }
  expect(wrong).toEqual([]);
  expect(combinations.length).toBeGreaterThan(100);
});

async function isSent({
  keyFor,
  source,
  profileFor,
  url,
}: (typeof combinations)[number]): Promise<boolean> {
  const text = keys[keyFor];
  const kept = source === "command" ? { command: `printf %s ${text}` } : { text };
  const own = profileFor && {
    environment: profileFor,
    baseUrl: url,
    ...(source === "environment" ? {} : { apiKey: kept }),
  };
  const stored: Profiles = { version: 1, profiles: { ...others, ...(own ? { own } : {}) } };
  const env = source === "environment" ? { LENDEN_API_KEY: text } : {};
  const flags = { baseUrl: url, ...(own ? { profile: "own" } : {}) };
  // The profile's own address counts for nothing here: it is the same as the one that is asked for.
  const { own: _, ...rest } = stored.profiles;
  const settings = resolveSettings(flags, env, stored);
  if (!settings.apiKey) throw new Error("no key");
  const key = await fetchSecret(settings.apiKey, {
    env: { PATH: process.env.PATH },
    sleep: neverEnds,
  });
  try {
    const account = lockedAccount(key, settings, { ...stored, profiles: rest });
    return account.apiKey === text && account.environment === keyFor;
  } catch (error) {
    if (error instanceof Failure && error.kind === "access") return false;
    throw error;
  }
}

describe("the base URL", () => {
  const lock = (value: string) =>
    lockedAccount({ value: keys.sandbox, source: "LENDEN_API_KEY" }, chosen(value), {
      version: 1,
      profiles: {},
    });

  test.each([
    ["https://new.example", "https://new.example/cp/api/v1"],
    ["https://new.example/", "https://new.example/cp/api/v1"],
    ["https://new.example/cp/api/v1/", "https://new.example/cp/api/v1"],
    ["https://new.example/cp/api/v2", "https://new.example/cp/api/v2"],
    ["HTTPS://New.Example:443", "https://new.example/cp/api/v1"],
  ])("%s goes out as %s", (typed, baseUrl) => {
    expect(lock(typed)).toMatchObject({ baseUrl, name: "environment variables" });
  });

  test.each([
    "",
    "new.example",
    "ftp://new.example",
    "https://user@new.example",
    "https://user:password@new.example",
    "https://:password@new.example",
    "https://new.example/?a=1",
    "https://new.example/?",
    "https://new.example/#a",
    "https://new.example/#",
  ])("%j is refused", (typed) => {
    expect(() => lock(typed)).toThrow(expect.objectContaining({ kind: "access" }));
  });

  test("none at all is said, with what to do", () => {
    const settings: Settings = { ...chosen(""), baseUrl: undefined };
    const stored: Profiles = { version: 1, profiles: {} };
    const lockNone = () => lockedAccount({ value: keys.sandbox, source: "x" }, settings, stored);
    expect(lockNone).toThrow(expect.objectContaining({ kind: "access" }));
  });
});

test("no refusal shows the key", () => {
  for (const key of [keys.sandbox, keys.production, "sk_live_SECRET-0123456789"]) {
    for (const url of [
      "http://new.example",
      "https://pay.example",
      "http://127.0.0.1",
      "nothing",
    ]) {
      try {
        const stored: Profiles = { version: 1, profiles: others };
        const settings: Settings = { ...chosen(url), environment: "production" };
        lockedAccount({ value: key, source: "LENDEN_API_KEY" }, settings, stored);
      } catch (error) {
        const { message, details } = error instanceof Failure ? error : new Failure("internal", "");
        expect(message + JSON.stringify(details)).not.toContain(key.slice(11, 19));
      }
    }
  }
});

function chosen(url: string): Settings {
  return resolveSettings({ baseUrl: url }, {}, { version: 1, profiles: {} });
}

/** No command of these tests reaches its time limit. */
function neverEnds(): Promise<void> {
  return new Promise(() => {});
}
