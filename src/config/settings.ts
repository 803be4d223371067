import { readAmount } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { type LedgerUrl, readLedgerUrl } from "../domain/ledger-url.ts";
import type { NumberFormat } from "../domain/mobile.ts";
import { defaultTimeZone } from "../domain/time-zone.ts";
import { isLoopback, parseUrl } from "../domain/url.ts";
import {
  findProfile,
  type Profile,
  type Profiles,
  requireProfile,
  type SecretSource,
} from "./profiles.ts";

/** A value, and where it came from: a flag, an environment variable, a profile, a default. */
export interface Sourced<Value> {
  value: Value;
  source: string;
}

/** The effective settings of a run, before a secret is fetched. */
export type Settings = ReturnType<typeof resolveSettings>;

/** A ledger on PostgreSQL. */
export interface LedgerSettings {
  url: Sourced<LedgerUrl>;
  password: Sourced<SecretSource> | undefined;
  /** A file with a CA certificate. */
  ca: Sourced<string> | undefined;
}

interface GlobalFlags {
  profile?: string | undefined;
  baseUrl?: string | undefined;
}

type Env = Record<string, string | undefined>;

/** The variable that names the account, whatever the profile stored. */
export const accountVariable = "LENDEN_ACCOUNT";

/**
 * Precedence: flag, environment variable, profile, default.
 *
 * LENDEN_API_KEY with LENDEN_BASE_URL needs no profile, and takes nothing from the current one. With a profile that is
 * named, or without LENDEN_BASE_URL, what no variable gives comes from the profile: also the secret beside another
 * key, which only a notice (`shadows`) tells.
 */
export function resolveSettings(flags: GlobalFlags, env: Env, stored: Profiles) {
  const profile = chosenProfile(flags, env, stored);
  const own = profile && requireProfile(profile.value, stored, profile.source);
  const from = `profile ${profile?.value}`;
  const ofProfile = <Value>(value: Value | undefined) => sourced(value, from);
  const secretOf = (variable: string) => {
    const text = env[variable];
    return text === undefined ? undefined : { value: { text }, source: variable };
  };

  const apiKey = secretOf("LENDEN_API_KEY");
  const payoutSecret = secretOf("LENDEN_PAYOUT_SECRET");
  const ledger = ledgerOf(env, own, from);
  const givenUrl =
    sourced(flags.baseUrl, "--base-url") ?? sourced(env.LENDEN_BASE_URL, "LENDEN_BASE_URL");
  const baseUrl = givenUrl ?? ofProfile(own?.baseUrl);
  const confirmAbove = own?.confirmAbove === undefined ? undefined : readAmount(own.confirmAbove);
  const shadow = (what: string, over: Sourced<unknown> | undefined, under: unknown) =>
    over && over.source !== from && under !== undefined
      ? [`${over.source} overrides the ${what} of ${from}.`]
      : [];

  return {
    /** Undefined if LENDEN_API_KEY and LENDEN_BASE_URL replace it. */
    profile,
    environment: own?.environment,
    /** True if the profile remembers that its environment had limits. */
    hadLimits: own?.hadLimits === true,
    baseUrl,
    apiKey: apiKey ?? ofProfile(own?.apiKey),
    payoutSecret: payoutSecret ?? ofProfile(own?.payoutSecret),
    /** Signs forwarded callbacks. */
    callbackSecret:
      sourced(env.LENDEN_CALLBACK_SECRET, "LENDEN_CALLBACK_SECRET") ??
      ofProfile(own?.callbackSecret),
    redirectUrl: ofProfile(own?.redirectUrl) ?? onLoopback(baseUrl, "/return"),
    callbackUrl: ofProfile(own?.callbackUrl) ?? onLoopback(baseUrl, "/callback"),
    method: ofProfile(own?.method),
    numberFormat: ofProfile(own?.numberFormat) ?? usual<NumberFormat>("local"),
    /** The zone of dates, an IANA name. */
    timeZone: ofProfile(own?.timeZone) ?? usual(defaultTimeZone),
    /** In production, larger amounts are confirmed by typing them. */
    confirmAbove: confirmAbove?.ok
      ? { value: confirmAbove.value, source: from }
      : usual(10_000_00n),
    /** Undefined if the ledger is a file of this machine. */
    ledger,
    /** The ledger's account of this run: LENDEN_ACCOUNT, or the one that the profile stored for its own key. */
    account: accountIn(env) ?? (apiKey ? undefined : ofProfile(own?.account)),
    /** Says what of the profile a flag or a variable overrides. */
    shadows: [
      ...(profile === undefined && stored.current !== undefined
        ? [
            `Using LENDEN_API_KEY and LENDEN_BASE_URL; profile ${stored.current} is ignored.`,
            ...(ledger === undefined && findProfile(stored.current, stored)?.ledger !== undefined
              ? ["Its ledger is ignored too. To use it, set LENDEN_LEDGER_URL."]
              : []),
          ]
        : []),
      ...shadow("ledger", ledger?.url, own?.ledger),
      ...shadow("base URL", givenUrl, own?.baseUrl),
      ...shadow("API key", apiKey, own?.apiKey),
      ...shadow("payout secret", payoutSecret, own?.payoutSecret),
    ],
  };
}

function sourced<Value>(value: Value | undefined, source: string): Sourced<Value> | undefined {
  return value === undefined ? undefined : { value, source };
}

function usual<Value>(value: Value): Sourced<Value> {
  return { value, source: "default" };
}

function chosenProfile(
  flags: GlobalFlags,
  env: Env,
  stored: Profiles,
): Sourced<string> | undefined {
  const named =
    sourced(flags.profile, "--profile") ?? sourced(env.LENDEN_PROFILE, "LENDEN_PROFILE");
  if (named) return named;
  if (env.LENDEN_API_KEY !== undefined && env.LENDEN_BASE_URL !== undefined) return undefined;
  return sourced(stored.current, "default profile");
}

/** A ledger that the command line names. */
export function namedLedger(
  url: LedgerUrl,
  { ledgerPasswordCommand: command, ledgerCa }: LedgerLoginFlags,
  { LENDEN_LEDGER_PASSWORD: text }: Env,
): LedgerSettings {
  const ofCommand = command === undefined ? undefined : { command };
  return {
    url: { value: url, source: "<url>" },
    password:
      sourced(ofCommand, "--ledger-password-command") ??
      sourced(text === undefined ? undefined : { text }, "LENDEN_LEDGER_PASSWORD"),
    ca: sourced(ledgerCa, "--ledger-ca"),
  };
}

/** The ledger in use logs in as its settings say, also if the command line names it. */
export function withLoginOf(inUse: LedgerSettings | undefined, named: LedgerSettings) {
  if (inUse?.url.value.text !== named.url.value.text) return named;
  return { ...named, password: named.password ?? inUse.password, ca: named.ca ?? inUse.ca };
}

export interface LedgerLoginFlags {
  ledgerPasswordCommand: string | undefined;
  ledgerCa: string | undefined;
}

/** Password command and CA of a profile are for its own server: for another one they are not used. */
function ledgerOf(env: Env, own: Profile | undefined, from: string): LedgerSettings | undefined {
  const url = ledgerUrlIn(env, own, from);
  if (!url) return undefined;
  const { value, source } = url;
  const inUrl = sourced(value.password, source);
  const given = inUrl ?? sourced(env.LENDEN_LEDGER_PASSWORD, "LENDEN_LEDGER_PASSWORD");
  const ofServer = source === from ? own : undefined;
  return {
    url,
    password: given
      ? { value: { text: given.value }, source: given.source }
      : sourced(ofServer?.ledgerPassword, from),
    ca: sourced(ofServer?.ledgerCa, from),
  };
}

function ledgerUrlIn(
  { LENDEN_LEDGER_URL: given }: Env,
  own: Profile | undefined,
  from: string,
): Sourced<LedgerUrl> | undefined {
  const [text, source] = given === undefined ? [own?.ledger, from] : [given, "LENDEN_LEDGER_URL"];
  if (text === undefined) return undefined;
  const read = readLedgerUrl(text, true);
  if (read.ok) return { value: read.value, source };
  throw usage([`${source}: ${read.problem}`]);
}

function accountIn({ [accountVariable]: name }: Env): Sourced<string> | undefined {
  if (name === undefined || /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    return sourced(name, accountVariable);
  throw usage([
    `${accountVariable}: ${JSON.stringify(name)} is not a valid account name. Use 1 to 64 letters, digits, dots, hyphens and underscores.`,
  ]);
}

/** With an API on this machine, customers and callbacks go to that server. Elsewhere no URL is guessed. */
function onLoopback(baseUrl: Sourced<string> | undefined, path: string) {
  const url = baseUrl && parseUrl(baseUrl.value);
  if (!url || !isLoopback(url)) return undefined;
  return { value: url.origin + path, source: "default on loopback" };
}
