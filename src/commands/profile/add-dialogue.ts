import type { Context } from "../../cli/command/context.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import type { Ask } from "../../cli/prompts/ask.ts";
import type { Account } from "../../config/account.ts";
import type { Profile } from "../../config/profiles.ts";
import { type Environment, readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import { readUrl } from "../../domain/url.ts";
import { readProfileName, requireFreeName } from "./stored.ts";

interface Given {
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
export async function askProfile(given: Given, ask: Ask, context: Context) {
  const stored = await context.config.profiles.read();
  const taken = given.replace ? {} : stored.profiles;
  if (given.name !== undefined && !given.replace)
    requireFreeName(given.name, stored, "Choose another name, or add --replace.");
  context.ui.notice(await whereStored(given, context));
  context.ui.notice("Find both in the merchant dashboard: Settings → Development Info.");
  context.ui.notice("Nothing is stored before the last answer. To stop, press Ctrl-C.");
  const { text: apiKey, environment } = await askKey(given, ask);
  context.ui.notice(`This is a ${environment} key.`);
  const payoutSecret = await askSecret(ask);
  const name = given.name ?? (await askName(environment, taken, ask));
  const secrets = {
    apiKey: { text: apiKey },
    payoutSecret: payoutSecret === "" ? undefined : { text: payoutSecret },
  };
  const account = await askAccount({ name, environment, ...secrets }, ask, context);
  await tryKey(account, payoutSecret, ask, context);
  return { name, environment, baseUrl: account.baseUrl, ...secrets };
}

/** Shows the command line that does the same, and which profile is in use if it is not the new one. */
export async function showAfterwards(
  name: string,
  profile: Profile,
  given: Given,
  context: Context,
): Promise<void> {
  const words = ["profile", "add", name, "--base-url", profile.baseUrl, "--key-stdin"];
  if (profile.payoutSecret) words.push("--secret-stdin");
  const flags: [string, string | undefined][] = [
    ["--environment", given.environment],
    ["--redirect-url", profile.redirectUrl],
    ["--callback-url", profile.callbackUrl],
    ["--method", profile.method],
    ["--number-format", profile.numberFormat],
    ["--confirm-above", profile.confirmAbove],
  ];
  for (const [flag, value] of flags) if (value !== undefined) words.push(flag, value);
  if (given.keychain) words.push("--keychain");
  if (given.replace) words.push("--replace");
  showSame([words], context.ui);
  const { current = name } = await context.config.profiles.read();
  if (current !== name)
    context.ui.notice(
      `Profile ${current} is in use. To change that: 'lenden profile use ${name}'.`,
    );
}

async function whereStored(
  { keychain }: Given,
  { config: { profiles }, host }: Context,
): Promise<string> {
  const mode = host.platform === "win32" ? "" : " (mode 0600)";
  const file = `${profiles.file}${mode}`;
  return keychain
    ? `API key and payout secret will be stored in this system's keychain, the settings in ${file}.`
    : `API key and payout secret will be stored in ${file}. To use this system's keychain, add --keychain.`;
}

async function askKey({ environment }: Given, ask: Ask) {
  const typed = await ask.secret("API key:", (text) => {
    const read = readApiKey(text.trim());
    if (!read.ok) return read.problem;
    return environment === undefined || read.value.environment === environment
      ? undefined
      : `This is a ${read.value.environment} key, but --environment is ${environment}.`;
  });
  const read = readApiKey(typed.trim());
  if (read.ok) return read.value;
  throw new Error("the prompt accepted an invalid key");
}

async function askSecret(ask: Ask): Promise<string> {
  const typed = await ask.secret("Payout secret (only for payouts; Enter skips it):", (text) => {
    const read = readPayoutSecret(text.trim());
    return text.trim() === "" || read.ok ? undefined : read.problem;
  });
  return typed.trim();
}

function askName(preset: string, taken: object, ask: Ask): Promise<string> {
  const check = (text: string) => {
    const read = readProfileName(text);
    if (!read.ok) return read.problem;
    return Object.hasOwn(taken, text)
      ? `Profile ${text} already exists. To replace it, start again with --replace.`
      : undefined;
  };
  return ask.text("Profile name:", { preset, check });
}

type Candidate = Omit<Parameters<Context["config"]["profiles"]["check"]>[0], "baseUrl">;

/** Asks until key, environment and base URL agree, unless the base URL was given. */
async function askAccount(candidate: Candidate, ask: Ask, context: Context): Promise<Account> {
  if ((await context.config.profiles.baseUrlGiven()) !== undefined)
    return context.config.profiles.check(candidate);
  const check = (text: string) => {
    const read = readUrl(text);
    return read.ok ? undefined : read.problem;
  };
  for (;;) {
    const baseUrl = await ask.text("Base URL of the API:", { check });
    try {
      return await context.config.profiles.check({ ...candidate, baseUrl });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      context.ui.notice(whyAndHint(error));
    }
  }
}

async function tryKey(
  account: Account,
  payoutSecret: string,
  ask: Ask,
  context: Context,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await context.api.depsOf(account, payoutSecret);
  try {
    const { length } = dataOf(await client.listMethods({}));
    const methods = length === 1 ? "1 payment method" : `${length} payment methods`;
    context.ui.notice(`The API accepts this key. The account has ${methods}.`);
  } catch (error) {
    if (!(error instanceof Failure) || context.stopping.aborted) throw error;
    context.ui.notice(whyAndHint(error));
    if (await ask.yes("The key could not be tested. Store it anyway?")) return;
    throw new Failure("profile.not-added", "The profile was not added.", {
      hint: "Nothing was stored.",
    });
  }
}

function whyAndHint({ message, details }: Failure): string {
  return [message, details.hint].filter(Boolean).join(" ");
}
