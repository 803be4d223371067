import { expect, test } from "vitest";
import { callbackSecretOf } from "../../src/config/callback-secret.ts";
import { findProfile, type Profiles } from "../../src/config/profiles.ts";

const environment = "sandbox";
const profile = { environment, baseUrl: "https://shop.example/cp/api/v1" } as const;

test("a profile may have the name of a property that every object has", () => {
  const stored: Profiles = { version: 1, profiles: { constructor: profile } };
  expect(findProfile("constructor", stored)).toBe(profile);
  for (const name of ["tostring", "toString", "__proto__", "hasOwnProperty"])
    expect(findProfile(name, stored)).toBeUndefined();
});

test("a callback secret is not stored in a profile that another process removed", async () => {
  const changed: Profiles[] = [];
  const stored: Profiles = { version: 1, profiles: { shop: profile } };
  const change = async (work: (now: Profiles) => Profiles) => void changed.push(work(stored));
  const account = () => Promise.reject(new Error("not needed"));
  const secrets = ["constructor", "shop"].map((value) =>
    callbackSecretOf(
      { profile: { value, source: "--profile" } },
      { profiles: { change }, account },
      () => new Uint8Array(32),
    ),
  );
  const [secret] = await Promise.all(secrets);
  expect(changed).toEqual([
    stored,
    { ...stored, profiles: { shop: { ...profile, callbackSecret: secret } } },
  ]);
});
