import { usage } from "../domain/failure.ts";
import { isSameServer } from "../domain/url.ts";
import type { Account } from "./account.ts";
import { requireOwnCredentials } from "./key-change.ts";
import { requireFreeName } from "./profile.ts";
import { type Profile, type Profiles, requireProfile, type SecretSource } from "./profiles.ts";

/** The profiles with one in use. */
export function withCurrent(name: string, now: Profiles): Profiles {
  requireProfile(name, now);
  return { ...now, current: name };
}

/** The profiles with a setting of one changed; an undefined value removes it. */
export function withSetting(
  name: string,
  key: keyof Profile,
  value: string | { command: string } | undefined,
  now: Profiles,
): Profiles {
  const before = requireProfile(name, now);
  const changed: Profile = { ...before, [key]: value };
  // Another server may be another merchant: the next key does not join this account.
  if (!isSameServer(before.baseUrl, changed.baseUrl)) delete changed.account;
  return { ...now, profiles: { ...now.profiles, [name]: changed } };
}

export function renamed(old: string, name: string, now: Profiles): Profiles {
  const profile = requireProfile(old, now);
  requireFreeName(name, now);
  const { [old]: _, ...others } = now.profiles;
  const current = now.current === old ? name : now.current;
  return { ...now, current, profiles: { ...others, [name]: profile } };
}

export function without(name: string, now: Profiles): Profiles {
  requireProfile(name, now);
  const { [name]: _, ...others } = now.profiles;
  return { ...now, current: now.current === name ? undefined : now.current, profiles: others };
}

/**
 * The base URL that a profile gets, after the environment lock has checked it with the profile's key.
 *
 * @throws Failure `usage` or `access`; the profile is unchanged
 */
export async function checkedUrl(
  name: string,
  before: Profile,
  baseUrl: string | undefined,
  check: (candidate: Candidate) => Promise<Pick<Account, "baseUrl">>,
): Promise<string> {
  const { apiKey, environment } = before;
  if (baseUrl === undefined)
    throw usage(["Cannot remove the base URL of a profile: each profile needs one."]);
  if (!apiKey)
    throw usage(
      [`Cannot check the new base URL: profile ${name} has no API key.`],
      `Add the key with 'lenden profile rotate ${name}'.`,
    );
  const checked = await check({ name, apiKey, environment, baseUrl });
  requireOwnCredentials(name, before, { baseUrl: checked.baseUrl });
  return checked.baseUrl;
}

interface Candidate extends Pick<Profile, "environment" | "baseUrl"> {
  name: string;
  apiKey: SecretSource;
}
