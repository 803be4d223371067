import type { Context } from "../../cli/command/define-command.ts";
import type { Ask } from "../../cli/terminal/ask.ts";
import type { Account } from "../../config/account.ts";
import { requireOwnCredentials } from "../../config/key-change.ts";
import {
  agreed,
  type Credentials,
  environmentOf,
  exampleBaseUrl,
  type GivenProfile,
  nameHint,
  readProfileName,
  requireEnvironment,
  requireFreeName,
} from "../../config/profile.ts";
import { findProfile, type Profile } from "../../config/profiles.ts";
import { type Environment, readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, whyAndHint } from "../../domain/failure.ts";
import { problemOf } from "../../domain/result.ts";
import { counted } from "../../domain/text.ts";
import { readUrl } from "../../domain/url.ts";

interface Replacing {
  /** The profile that keeps what is not typed. */
  before: Profile | undefined;
  /** The environment that the key must be of. */
  required: Environment | undefined;
  /** True if a profile is replaced, perhaps one that is named later. */
  replaces: boolean;
}

/**
 * Asks for key and secret. Nothing is stored here: to leave at any question changes nothing.
 */
export async function askCredentials(
  ask: Ask,
  { before, required, replaces }: Replacing,
  { ui }: Pick<Context, "ui">,
): Promise<Credentials> {
  ui.notice("Find both in the merchant dashboard: Settings → Development Info.");
  ui.notice("Nothing is stored before the last answer. To stop, press Ctrl-C.");
  const keeps = before?.apiKey ? " (Enter keeps the stored one)" : "";
  const typedKey = await ask.secret(`API key${keeps}:`, (text) => {
    if (keeps !== "" && text.trim() === "") return undefined;
    const read = readApiKey(text.trim());
    if (!read.ok) return read.problem;
    const { environment } = read.value;
    if (required === undefined || environment === required) return undefined;
    return before
      ? `This is a ${environment} key, but the profile is for ${required}.`
      : `This is a ${environment} key, but --environment is ${required}.`;
  });
  const key = readApiKey(typedKey.trim());
  if (key.ok) ui.notice(`This is a ${key.value.environment} key.`);
  const keepsSecret = before ? before.payoutSecret !== undefined : replaces;
  const skips = keepsSecret ? "Enter keeps the stored one" : "Enter skips it";
  const typedSecret = await ask.secret(`Payout secret (only for payouts; ${skips}):`, (text) =>
    text.trim() === "" ? undefined : problemOf(readPayoutSecret(text.trim())),
  );
  const payoutSecret = typedSecret.trim();
  return {
    apiKey: key.ok ? { text: key.value.text } : undefined,
    payoutSecret: payoutSecret === "" ? undefined : { text: payoutSecret },
  };
}

/** Where a dialogue stores what is typed. */
export function whereStored(keychain: boolean, { config, host }: Context): string {
  const file = `${config.profiles.file}${host.platform === "win32" ? "" : " (mode 0600)"}`;
  return keychain
    ? `API key and payout secret will be stored in this system's keychain, the settings in ${file}.`
    : `API key and payout secret will be stored in ${file}. To use this system's keychain, add --keychain.`;
}

/** A new profile, or what changes of an earlier one. */
export interface NewProfile {
  name: string;
  before: Profile | undefined;
  profile: GivenProfile;
}

interface GivenNames {
  name: string | undefined;
  environment: Environment | undefined;
  replace: boolean;
  keychain: boolean;
}

/**
 * Asks for a profile in a terminal, and tries its key. Nothing is stored here: to leave at any question
 * changes nothing.
 *
 * @throws Failure `profile.not-added` if the key does not work and is not to be stored anyway
 */
export async function askProfile(
  given: GivenNames,
  ask: Ask,
  context: Context,
): Promise<NewProfile> {
  const { config, ui } = context;
  const stored = await config.profiles.read();
  const existing = given.name === undefined ? undefined : findProfile(given.name, stored);
  if (given.name !== undefined && !given.replace) requireFreeName(given.name, stored, nameHint);
  requireEnvironment(given.name, existing, given.environment);
  ui.notice(whereStored(given.keychain, context));
  const required = existing?.environment ?? given.environment;
  const typed = await askCredentials(
    ask,
    { before: existing, required, replaces: given.replace },
    context,
  );
  const environment = environmentOf(typed.apiKey) ?? existing?.environment;
  const checkName = (text: string) => {
    const found = findProfile(text, stored);
    if (found && !given.replace)
      return `Profile ${text} already exists. To replace it, start again with --replace.`;
    return found && found.environment !== environment
      ? `Profile ${text} is for ${found.environment}.`
      : problemOf(readProfileName(text));
  };
  const preset = environment === undefined ? {} : { preset: environment };
  const name = given.name ?? (await ask.text("Profile name:", { ...preset, check: checkName }));
  const before = existing ?? findProfile(name, stored);
  const apiKey = typed.apiKey ?? before?.apiKey;
  if (!apiKey) throw new TypeError("the prompt accepted no key");
  const candidate = { name, environment, apiKey, payoutSecret: typed.payoutSecret };
  const requireOwn = (account: Account) =>
    requireOwnCredentials(name, before, { ...typed, baseUrl: account.baseUrl });
  const account = await askAccount(candidate, before?.baseUrl, requireOwn, ask, context);
  await tryKey(account, ask, context);
  return { name, before, profile: { ...agreed(account), ...typed } };
}

type Candidate = Omit<Parameters<Context["config"]["profiles"]["check"]>[0], "baseUrl">;

/** Asks until key, environment and base URL agree, unless the base URL was given. */
async function askAccount(
  candidate: Candidate,
  preset: string | undefined,
  requireOwn: (account: Account) => void,
  ask: Ask,
  { config: { profiles }, ui }: Context,
) {
  const check = async (baseUrl: { baseUrl?: string }) => {
    const account = await profiles.check({ ...candidate, ...baseUrl });
    requireOwn(account);
    return account;
  };
  if (profiles.baseUrlGiven !== undefined) return check({});
  for (;;) {
    const baseUrl = await ask.text("Base URL of the API:", {
      ...(preset === undefined ? {} : { preset }),
      check: (text) => problemOf(readUrl(text, exampleBaseUrl)),
    });
    try {
      return await check({ baseUrl });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ui.notice(whyAndHint(error));
    }
  }
}

async function tryKey(account: Account, ask: Ask, context: Context) {
  const { ui, stopping } = context;
  try {
    await testKey(account, context);
  } catch (error) {
    if (!(error instanceof Failure) || stopping.aborted) throw error;
    ui.notice(whyAndHint(error));
    if (await ask.yes("The key could not be tested. Store it anyway?")) return;
    throw new Failure("profile.not-added", "The profile was not added. Nothing was stored.", {
      hint: "Check key and base URL, then run 'lenden profile add' again.",
    });
  }
}

/** Makes one request with a key. @throws Failure if the API does not accept it */
export async function testKey(
  account: Account,
  { api, ui }: Pick<Context, "api" | "ui">,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await api.depsOf(account, "");
  const { length } = dataOf(await client.listMethods({}));
  ui.notice(`The API accepts this key. The account has ${counted(length, "payment method")}.`);
}
