import { type ApiKey, type Environment, masked, readApiKey } from "../domain/api-keys.ts";
import { Failure } from "../domain/failure.ts";
import {
  basePath,
  isLocalSandbox,
  isLoopback,
  isSameServer,
  parseUrl,
  shownUrl,
} from "../domain/url.ts";
import type { Profile, Profiles } from "./profiles.ts";
import { accountVariable, type Settings, type Sourced } from "./settings.ts";

/** An account that requests may be sent for: key, environment and base URL agree. */
export interface Account {
  apiKey: string;
  environment: Environment;
  baseUrl: string;
  /** The profile's name, or `environment variables`. */
  name: string;
  /** What decides the account in the ledger, in this order. */
  ledgerAccount: LedgerAccount;
  /** True if the profile remembers that its environment had limits. */
  hadLimits?: boolean;
}

interface LedgerAccount {
  /** LENDEN_ACCOUNT. */
  named?: string | undefined;
  /** The account that the profile stored, if the key is the profile's own. */
  joins?: string | undefined;
  /** The profile, if the key is its own: a new account gets its name. */
  proposed?: string | undefined;
}

/** Whose records are read, as far as that is known without fetching a secret. */
export interface RecordsOwner extends Pick<Account, "name" | "ledgerAccount" | "hadLimits"> {
  apiKey: string | undefined;
  environment: Environment | undefined;
}

type Chosen = Pick<
  Settings,
  "profile" | "environment" | "baseUrl" | "shadows" | "account" | "hadLimits"
>;

/** The account of a command that only reads the ledger, which needs no key. */
export function recordsOwner(settings: Settings): RecordsOwner {
  const { apiKey, profile } = settings;
  const key = apiKey && "text" in apiKey.value ? readApiKey(apiKey.value.text) : undefined;
  const known = key?.ok ? key.value : undefined;
  return {
    apiKey: known?.text,
    environment: known?.environment ?? settings.environment,
    name: nameOf(settings),
    hadLimits: settings.hadLimits,
    ledgerAccount: { ...accountOf(settings), proposed: profile?.value },
  };
}

/** The same for a profile with the key that it stores, whatever overrides it in this run. */
export function recordsOwnerOf(
  name: string,
  { apiKey, environment, account, hadLimits }: Profile,
): RecordsOwner {
  const key = apiKey && "text" in apiKey ? readApiKey(apiKey.text) : undefined;
  return {
    apiKey: key?.ok ? key.value.text : undefined,
    environment,
    name,
    ...(hadLimits && { hadLimits }),
    ledgerAccount: { joins: account, proposed: name },
  };
}

/**
 * The environment lock: the key's prefix, the profile's environment and the base URL must agree, wherever
 * each of them came from, or nothing is sent (exit 4).
 */
export function checkedAccount(key: Sourced<string>, settings: Chosen, stored: Profiles): Account {
  const read = readApiKey(key.value);
  if (!read.ok)
    throw new Failure(
      "account.invalid-key",
      `Cannot use the API key from ${key.source}. ${read.problem}`,
      { hint: "Copy it from the merchant dashboard: Settings → Development Info." },
    );
  if (!settings.baseUrl)
    throw new Failure("account.no-base-url", "No base URL is set.", {
      hint: "Use --base-url, set LENDEN_BASE_URL, or add a profile with 'lenden profile add'.",
    });
  const { text: apiKey, environment } = read.value;
  const url = readBaseUrl(settings.baseUrl.value, settings.baseUrl.source);
  checkEnvironment(read.value, key.source, settings);
  checkHost(read.value, isOwnKey(key, settings), url, settings, stored);
  const baseUrl = baseUrlText(url);
  return {
    apiKey,
    environment,
    baseUrl,
    name: nameOf(settings),
    hadLimits: settings.hadLimits,
    ledgerAccount: ledgerAccountOf(key, settings, isLocalSandbox({ environment, baseUrl })),
  };
}

/** Checks a profile before it is stored by the same rules, whatever it replaces. */
export function candidateAccount(
  { name = "the new profile", apiKey, environment, baseUrl }: CandidateProfile,
  stored: Profiles,
  notice: (text: string) => void,
): Account {
  const { [name]: _, ...others } = stored.profiles;
  const settings = {
    profile: { value: name, source: "" },
    environment,
    baseUrl: baseUrl === undefined ? undefined : { value: baseUrl, source: "your input" },
    shadows: [],
    account: undefined,
    hadLimits: false,
  };
  for (const text of noticesOf(settings)) notice(text);
  return checkedAccount(apiKey, settings, { ...stored, profiles: others });
}

interface CandidateProfile {
  name: string | undefined;
  apiKey: Sourced<string>;
  environment: Environment | undefined;
  baseUrl: string | undefined;
}

/** What a user should know before anything is sent: overridden values, a completed base URL. */
export function noticesOf({ baseUrl, shadows }: Chosen): string[] {
  const url = baseUrl && parseUrl(baseUrl.value);
  if (url?.pathname !== "/") return shadows;
  return [...shadows, `The base URL from ${baseUrl?.source} has no path: ${basePath} is added.`];
}

/** @throws Failure `account.base-url` if no key may be sent there */
export function readBaseUrl(text: string, source?: string): URL {
  const url = parseUrl(text);
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  if (!isPlain || /[?#\s\p{C}]/u.test(text)) {
    const from = source === undefined ? [] : `from ${source}`;
    const shown = ["The base URL", from, shownUrl(text) ?? []].flat().join(" ");
    throw new Failure("account.base-url", `${shown} is not a valid https: URL.`, {
      hint: `Use the form https://host${basePath}, without a user name, '?' or '#'.`,
    });
  }
  if (url.protocol === "http:" && !isLoopback(url))
    throw new Failure(
      "account.not-https",
      `The base URL would send the key unencrypted to ${url.host}.`,
      {
        hint: "Use an https: URL. Only URLs of this machine, such as http://127.0.0.1, may use http:.",
      },
    );
  if (url.pathname === "/") url.pathname = basePath; // docs/api.md §9
  return url;
}

/** The base URL as the ledger and the method cache know it. */
export function baseUrlText(url: URL): string {
  return url.href.replace(/\/+$/, "");
}

/** The name of the account of a run without a profile. */
export const withoutProfile = "environment variables";

function nameOf({ profile }: Chosen): string {
  return profile?.value ?? withoutProfile;
}

function isOwnKey({ source }: Sourced<string>, { profile }: Chosen): boolean {
  return profile !== undefined && source.endsWith(`profile ${profile.value}`);
}

/**
 * An unknown key from the environment never joins the account of a profile. A local sandbox is a new account
 * at each start, so the next key of its profile does not join either.
 */
function ledgerAccountOf(key: Sourced<string>, settings: Chosen, isLocal: boolean): LedgerAccount {
  const { named, joins } = accountOf(settings);
  if (!isOwnKey(key, settings)) return { named };
  return { named, joins: isLocal ? undefined : joins, proposed: settings.profile?.value };
}

/** LENDEN_ACCOUNT overrides what the profile stored. */
function accountOf({ account }: Chosen): Pick<LedgerAccount, "named" | "joins"> {
  return account?.source === accountVariable ? { named: account.value } : { joins: account?.value };
}

function checkEnvironment(apiKey: ApiKey, source: string, { profile, environment }: Chosen): void {
  if (!environment || environment === apiKey.environment) return;
  throw new Failure(
    "account.environment-differs",
    `Profile ${profile?.value} is for ${environment}, but ${source} has a ${apiKey.environment} key (${masked(apiKey.text)}).`,
    { hint: `Use a ${environment} key, or a ${apiKey.environment} profile.` },
  );
}

function checkHost(
  { environment }: ApiKey,
  isOwn: boolean,
  url: URL,
  { profile }: Chosen,
  { profiles }: Profiles,
): void {
  const stored = Object.entries(profiles);
  const isHere = ([, { baseUrl }]: [string, Profile]) => isSameServer(baseUrl, url.href);
  if (environment === "production") {
    const own = isOwn && stored.find(([name]) => name === profile?.value);
    if (own && !isHere(own))
      throw new Failure(
        "account.host-differs",
        `Profile ${own[0]} has a production key for a different host, not for ${url.host}.`,
        {
          hint: `Omit --base-url and LENDEN_BASE_URL. To move the profile, run 'lenden profile add ${own[0]} --replace --base-url <url> --key-file <file>', with --secret-file <file> for its payout secret.`,
        },
      );
    if (url.protocol !== "https:")
      throw new Failure("account.not-https", "A production key is only sent over https:.", {
        hint: `Use an https: URL, or a sandbox key.`,
      });
  }
  const other = stored.find((one) => one[1].environment !== environment && isHere(one));
  if (!other) return;
  throw new Failure(
    "account.environment-differs",
    `Profile ${other[0]} uses ${url.origin} for ${other[1].environment}, but this is a ${environment} key.`,
    { hint: `Use the base URL of your ${environment} account.` },
  );
}
