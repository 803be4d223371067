import { type Environment, readApiKey } from "../domain/api-keys.ts";
import { Failure, usage } from "../domain/failure.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { basePath } from "../domain/url.ts";
import type { Account } from "./account.ts";
import { findProfile, type Profile, type Profiles, type SecretSource } from "./profiles.ts";
import type { Settings } from "./settings.ts";

/** What a command gives of a profile: a profile that is replaced keeps the rest. */
export type GivenProfile = Partial<Profile> & Pick<Profile, "environment" | "baseUrl">;

/** A key and a payout secret; an absent one was not given. */
export interface Credentials {
  apiKey: SecretSource | undefined;
  payoutSecret: SecretSource | undefined;
}

/** The names by which users know what a profile has, besides its environment and its account. */
export const settingNames = {
  baseUrl: "base-url",
  apiKey: "api-key",
  payoutSecret: "payout-secret",
  callbackSecret: "callback-secret",
  redirectUrl: "redirect-url",
  callbackUrl: "callback-url",
  method: "method",
  numberFormat: "number-format",
  timeZone: "time-zone",
  confirmAbove: "confirm-above",
  ledger: "ledger",
  ledgerPassword: "ledger-password-command",
  ledgerCa: "ledger-ca",
} as const satisfies Record<
  Exclude<keyof Profile, "environment" | "account" | "hadLimits">,
  string
>;

/** Without dots: conf would take them for paths. */
export function readProfileName(text: string): Result<string> {
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(text)
    ? ok(text)
    : err(
        `${quoted(text)} is not a valid name. Use 1 to 32 lowercase letters, digits, hyphens and underscores. Example: shop.`,
      );
}

export const exampleBaseUrl = `https://api.example${basePath}`;

export const nameHint = "Choose another name, or add --replace.";

/** @throws Failure `usage` if there is a profile of this name */
export function requireFreeName(name: string, stored: Profiles, hint = "Choose another name.") {
  if (findProfile(name, stored)) throw usage([`Profile ${name} already exists.`], hint);
}

/** The environment of a key; an absent key, and one that a program prints, have none yet. */
export function environmentOf(apiKey: SecretSource | undefined): Environment | undefined {
  if (!apiKey || !("text" in apiKey)) return undefined;
  const read = readApiKey(apiKey.text);
  return read.ok ? read.value.environment : undefined;
}

/** What a profile stores of an account that was checked. */
export function agreed({
  environment,
  baseUrl,
}: Account): Pick<Profile, "environment" | "baseUrl"> {
  return { environment, baseUrl };
}

/**
 * A profile keeps its environment: its ledger, its account and its settings belong to it.
 *
 * @throws Failure `account.environment-differs`; the profile is unchanged
 */
export function requireEnvironment(
  name: string | undefined,
  before: Profile | undefined,
  given: Environment | undefined,
): void {
  if (!before || given === undefined || given === before.environment) return;
  throw new Failure(
    "account.environment-differs",
    `Profile ${name} is for ${before.environment}, but --environment is ${given}. The profile is unchanged.`,
    { hint: `Add the ${given} key under another name with 'lenden profile add'.` },
  );
}

/** @throws Failure `usage` if the command line has a base URL, for a command that uses the stored one */
export function requireStoredUrl({ baseUrl }: Pick<Settings, "baseUrl">): void {
  if (baseUrl?.source === "--base-url")
    throw usage(
      ["--base-url: this command uses the base URL of the profile."],
      "To change it, run 'lenden profile set base-url <url>'.",
    );
}

/**
 * The name of the profile that a command without a name changes.
 *
 * @param command how it names one: `set`, with --profile, or `rotate`, with an argument
 * @throws Failure `profile.none-in-use`; variables that take its place are named
 */
export function profileInUse(
  command: "set" | "rotate",
  { profile }: Pick<Settings, "profile">,
  { current }: Profiles,
  env: Record<string, string | undefined>,
): string {
  if (profile) return profile.value;
  if (env.LENDEN_API_KEY === undefined || current === undefined)
    throw new Failure("profile.none-in-use", "No profile is in use.", {
      hint: "Name one with --profile, or add one with 'lenden profile add'.",
    });
  const how =
    command === "set" ? `add --profile ${current}` : `run 'lenden profile rotate ${current}'`;
  throw new Failure(
    "profile.none-in-use",
    "LENDEN_API_KEY and LENDEN_BASE_URL are set, so this command uses no profile.",
    { hint: `To change profile ${current}, ${how}. Otherwise unset LENDEN_API_KEY.` },
  );
}
