import { type ApiKey, type Environment, masked, readApiKey } from "../domain/api-keys.ts";
import { Failure } from "../domain/failure.ts";
import { basePath, isLocalSandbox, isLoopback, parseUrl } from "../domain/url.ts";
import { baseUrlText, readBaseUrl } from "./base-url.ts";
import type { Profiles } from "./profile.ts";
import { accountVariable, type Settings, type Sourced } from "./settings.ts";

/** An account that a request may be sent for: key, environment and base URL agree. */
export interface Account {
  apiKey: string;
  environment: Environment;
  baseUrl: string;
  /** The profile's name, or `environment variables`. */
  name: string;
  /** What names its account in the ledger (product.md §6). */
  ledgerAccount: LedgerAccount;
}

interface LedgerAccount {
  /** LENDEN_ACCOUNT. */
  named?: string | undefined;
  /** The account that the profile stored, if the key is the profile's own. */
  joins?: string | undefined;
  /** The profile, if the key is its own: a new account gets its name. */
  proposed?: string | undefined;
}

/** Whose records are read: as far as it is known without asking a keychain, a program or the API. */
export interface RecordsOwner extends Omit<Account, "apiKey" | "environment" | "baseUrl"> {
  apiKey: string | undefined;
  environment: Environment | undefined;
}

/** The account of a command that only reads the ledger, which needs no key. */
export function recordsOwner(settings: Settings): RecordsOwner {
  const { apiKey, profile, account } = settings;
  const key = apiKey && "text" in apiKey.value ? readApiKey(apiKey.value.text) : undefined;
  const environment = key?.ok ? key.value.environment : settings.environment;
  return {
    apiKey: key?.ok ? key.value.text : undefined,
    environment,
    name: profile?.value ?? "environment variables",
    ledgerAccount: { ...accountsOf(account), proposed: profile?.value },
  };
}

type Chosen = Pick<Settings, "profile" | "environment" | "baseUrl" | "shadows" | "account">;

/**
 * The environment lock: the key's prefix, the profile's environment and the base URL must agree,
 * wherever each of them came from, or nothing is sent (exit 4).
 */
export function lockedAccount(key: Sourced<string>, settings: Chosen, stored: Profiles): Account {
  const apiKey = readKey(key);
  const { baseUrl } = settings;
  if (!baseUrl) {
    throw new Failure("access", "No base URL is set.", {
      hint: "Give --base-url, set LENDEN_BASE_URL, or make a profile with 'lenden profile add'.",
    });
  }
  const url = readBaseUrl(baseUrl.value);
  checkEnvironment(apiKey, key.source, settings);
  checkOwnPlace(apiKey, { keySource: key.source, url }, settings, stored);
  checkUrl(apiKey, url, stored);
  const place = { environment: apiKey.environment, baseUrl: baseUrlText(url) };
  return {
    apiKey: apiKey.text,
    ...place,
    name: settings.profile?.value ?? "environment variables",
    ledgerAccount: ledgerAccountOf(key.source, settings, isLocalSandbox(place)),
  };
}

/**
 * An unknown key from the environment never joins the account of a profile. Every local sandbox is an account
 * of its own, so that the next key of a profile for one does not join either.
 */
function ledgerAccountOf(
  keySource: string,
  { profile, account }: Chosen,
  isLocal: boolean,
): LedgerAccount {
  const { named, joins } = accountsOf(account);
  if (!profile || !keySource.endsWith(`profile ${profile.value}`)) return { named };
  return { named, joins: isLocal ? undefined : joins, proposed: profile.value };
}

/** What LENDEN_ACCOUNT names goes before what the profile stored. */
function accountsOf(account: Settings["account"]): Pick<LedgerAccount, "named" | "joins"> {
  return account?.source === accountVariable ? { named: account.value } : { joins: account?.value };
}

/** Holds a profile that is to be kept against the same lock, whatever it replaces. */
export function profileAccount(
  candidate: {
    name: string | undefined;
    apiKey: Sourced<string>;
    environment: Environment | undefined;
    baseUrl: string | undefined;
  },
  stored: Profiles,
  notice: (text: string) => void,
): Account {
  const { name = "the new profile", apiKey, environment, baseUrl } = candidate;
  const { [name]: _, ...others } = stored.profiles;
  const settings = {
    profile: { value: name, source: "" },
    environment,
    baseUrl: baseUrl === undefined ? undefined : { value: baseUrl, source: "the profile" },
    shadows: [],
    account: undefined,
  };
  for (const text of noticesOf(settings)) notice(text);
  return lockedAccount(apiKey, settings, { ...stored, profiles: others });
}

/** What the person should know before anything is sent: hidden values, a completed base URL. */
export function noticesOf({ baseUrl, shadows }: Chosen): string[] {
  const url = baseUrl && parseUrl(baseUrl.value);
  const completed =
    url?.pathname === "/"
      ? [`The base URL of ${baseUrl?.source} has no path: ${basePath} is added.`]
      : [];
  return [...shadows, ...completed];
}

function readKey(key: Sourced<string>): ApiKey {
  const read = readApiKey(key.value);
  if (read.ok) return read.value;
  throw new Failure("access", `The API key of ${key.source} cannot be used. ${read.problem}`, {
    hint: "Copy it from the merchant dashboard: Settings → Development Info.",
  });
}

function checkEnvironment(apiKey: ApiKey, source: string, settings: Chosen): void {
  if (!settings.environment || settings.environment === apiKey.environment) return;
  throw new Failure(
    "access",
    `Profile ${settings.profile?.value} is for ${settings.environment}, but ${source} holds a ${apiKey.environment} key (${masked(apiKey.text)}).`,
    {
      hint: `Use the profile of the ${apiKey.environment} account, or the key of this one; nothing was sent.`,
    },
  );
}

/** A production key that a profile keeps goes nowhere but to that profile's own host. */
function checkOwnPlace(
  apiKey: ApiKey,
  { keySource, url }: { keySource: string; url: URL },
  { profile }: Chosen,
  stored: Profiles,
): void {
  const own =
    profile && Object.hasOwn(stored.profiles, profile.value)
      ? stored.profiles[profile.value]
      : undefined;
  if (
    !own ||
    apiKey.environment !== "production" ||
    !keySource.endsWith(`profile ${profile?.value}`)
  )
    return;
  if (isSamePlace(parseUrl(own.baseUrl), url)) return;
  throw new Failure(
    "access",
    `The production key of profile ${profile?.value} does not go to ${url.host}.`,
    {
      hint: "It is kept for the profile's own base URL; nothing was sent.",
    },
  );
}

/** The same host is the same place whatever the port; on this machine each port is a place of its own. */
function isSamePlace(one: URL | undefined, other: URL): boolean {
  if (!one) return false;
  const [host, otherHost] = [one, other].map(({ hostname }) => hostname.replace(/\.$/, ""));
  return isLoopback(one) && isLoopback(other) ? one.port === other.port : host === otherHost;
}

function checkUrl(apiKey: ApiKey, url: URL, stored: Profiles): void {
  if (apiKey.environment === "production" && url.protocol !== "https:") {
    throw new Failure("access", "A production key is only sent over https:.", {
      hint: `Change the base URL ${url.origin}; nothing was sent.`,
    });
  }
  const other = Object.entries(stored.profiles).find(
    ([, profile]) =>
      profile.environment !== apiKey.environment && isSamePlace(parseUrl(profile.baseUrl), url),
  );
  if (!other) return;
  const [name, { environment }] = other;
  throw new Failure(
    "access",
    `${url.origin} is the ${environment} address of profile ${name}, and this is a ${apiKey.environment} key.`,
    { hint: "A key of one environment never goes to an address of the other; nothing was sent." },
  );
}
