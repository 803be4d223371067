import { type Paisa, readAmount } from "../domain/amount.ts";
import { type Environment, repeatable } from "../domain/api-keys.ts";
import { Failure, usage } from "../domain/failure.ts";
import type { NumberFormat } from "../domain/mobile.ts";
import { didYouMean } from "../domain/nearest.ts";
import { isLoopback, parseUrl } from "../domain/url.ts";
import type { Profile, Profiles, SecretSource } from "./profile.ts";

/** A value, and where it came from: a flag, an environment variable, a profile, a default. */
export interface Sourced<Value> {
  value: Value;
  source: string;
}

/** What a run goes by, before any secret is fetched. */
export interface Settings {
  /** Undefined when LENDEN_API_KEY and LENDEN_BASE_URL alone say it all. */
  profile: Sourced<string> | undefined;
  environment: Environment | undefined;
  baseUrl: Sourced<string> | undefined;
  apiKey: Sourced<SecretSource> | undefined;
  payoutSecret: Sourced<SecretSource> | undefined;
  redirectUrl: Sourced<string> | undefined;
  callbackUrl: Sourced<string> | undefined;
  method: Sourced<string> | undefined;
  numberFormat: Sourced<NumberFormat>;
  /** Larger sums are typed by the person who sends them with real money. */
  confirmAbove: Sourced<Paisa>;
  /** The ledger's account of this run: LENDEN_ACCOUNT, or the one that the profile stored for its own key. */
  account: Sourced<string> | undefined;
  /** Values of the profile that an environment variable or a flag hides, as sentences. */
  shadows: string[];
}

type Env = Record<string, string | undefined>;

/**
 * Resolves flag > environment variable > profile > default; pure.
 *
 * LENDEN_API_KEY together with LENDEN_BASE_URL and no named profile needs none, and takes nothing
 * from the current one: the key of one account never meets the secret of another.
 */
export function resolveSettings(
  flags: { profile?: string | undefined; baseUrl?: string | undefined },
  env: Env,
  stored: Profiles,
): Settings {
  const profile = chosenProfile(flags, env, stored);
  const own = profile && ownProfile(profile, stored);
  const from = `profile ${profile?.value}`;
  const of = <Value>(value: Value | undefined): Sourced<Value> | undefined =>
    value === undefined ? undefined : { value, source: from };
  const ofEnv = (name: string): Sourced<string> | undefined => {
    const value = env[name];
    return value === undefined ? undefined : { value, source: name };
  };

  const flagUrl =
    flags.baseUrl === undefined ? undefined : { value: flags.baseUrl, source: "--base-url" };
  const apiKey = asText(ofEnv("LENDEN_API_KEY"));
  const payoutSecret = asText(ofEnv("LENDEN_PAYOUT_SECRET"));
  const baseUrl = flagUrl ?? ofEnv("LENDEN_BASE_URL");
  const shadow = (what: string, over: Sourced<unknown> | undefined, under: unknown): string[] =>
    over && under !== undefined ? [`${over.source} hides the ${what} of ${from}.`] : [];

  const url = baseUrl ?? of(own?.baseUrl);

  return {
    profile,
    environment: own?.environment,
    baseUrl: url,
    apiKey: apiKey ?? of(own?.apiKey),
    payoutSecret: payoutSecret ?? of(own?.payoutSecret),
    redirectUrl: of(own?.redirectUrl) ?? onThisMachine(url, "/return"),
    callbackUrl: of(own?.callbackUrl) ?? onThisMachine(url, "/callback"),
    method: of(own?.method),
    numberFormat: of(own?.numberFormat) ?? { value: "local", source: "default" },
    confirmAbove: of(paisaIn(own?.confirmAbove)) ?? { value: 10_000_00n, source: "default" },
    account: accountIn(env) ?? (apiKey ? undefined : of(own?.account)),
    shadows: [
      ...hiddenProfile(profile, stored),
      ...shadow("base URL", baseUrl, own?.baseUrl),
      ...shadow("API key", apiKey, own?.apiKey),
      ...shadow("payout secret", payoutSecret, own?.payoutSecret),
    ],
  };
}

/** Names the account, whatever the profile stored. */
export const accountVariable = "LENDEN_ACCOUNT";

function accountIn({ [accountVariable]: name }: Env): Sourced<string> | undefined {
  if (name === undefined) return undefined;
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    return { value: name, source: accountVariable };
  throw usage([
    `${accountVariable}: ${JSON.stringify(name)} is not a valid account name. Use 1 to 64 letters, digits, dots, hyphens and underscores.`,
  ]);
}

function chosenProfile(
  flags: { profile?: string | undefined },
  env: Env,
  stored: Profiles,
): Sourced<string> | undefined {
  if (flags.profile !== undefined) return { value: flags.profile, source: "--profile" };
  if (env.LENDEN_PROFILE !== undefined)
    return { value: env.LENDEN_PROFILE, source: "LENDEN_PROFILE" };
  if (env.LENDEN_API_KEY !== undefined && env.LENDEN_BASE_URL !== undefined) return undefined;
  return stored.current === undefined
    ? undefined
    : { value: stored.current, source: "profile use" };
}

/** Who forgot the two variables in a shell would believe that the profile in use counts. */
function hiddenProfile(chosen: Sourced<string> | undefined, { current }: Profiles): string[] {
  return chosen === undefined && current !== undefined
    ? [`LENDEN_API_KEY and LENDEN_BASE_URL hide profile ${current}, which is in use.`]
    : [];
}

function ownProfile(profile: Sourced<string>, stored: Profiles): Profile {
  const own = Object.hasOwn(stored.profiles, profile.value) && stored.profiles[profile.value];
  if (own) return own;
  const names = Object.keys(stored.profiles);
  throw new Failure(
    "access",
    `There is no profile ${repeatable(profile.value)} (from ${profile.source}).`,
    {
      hint:
        names.length > 0
          ? `There are: ${names.join(", ")}.${didYouMean(profile.value, names)}`
          : "Make one with 'lenden profile add'.",
    },
  );
}

/**
 * Who works against a service on this very machine often has no web site yet: the customer's
 * return and the callbacks then go to that service itself. Anywhere else nothing is guessed.
 */
function onThisMachine(
  baseUrl: Sourced<string> | undefined,
  path: string,
): Sourced<string> | undefined {
  const url = baseUrl && parseUrl(baseUrl.value);
  if (!url || !isLoopback(url)) return undefined;
  return { value: url.origin + path, source: "default on loopback" };
}

function paisaIn(text: string | undefined): Paisa | undefined {
  const reading = text === undefined ? undefined : readAmount(text);
  return reading?.ok ? reading.value : undefined;
}

function asText(sourced: Sourced<string> | undefined): Sourced<SecretSource> | undefined {
  return sourced && { value: { text: sourced.value }, source: sourced.source };
}
