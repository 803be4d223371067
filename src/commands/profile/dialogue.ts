import type { Account, Context, Profile } from "../../cli/command/context.ts";
import { showSame } from "../../cli/command/same-command.ts";
import type { Ask } from "../../cli/prompts/ask.ts";
import {
  type ApiKey,
  type Environment,
  readApiKey,
  readPayoutSecret,
} from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import { readUrl } from "../../domain/url.ts";
import { readProfileName } from "./flags.ts";
import { nameTaken } from "./keeping.ts";

interface Given {
  name: string | undefined;
  environment: Environment | undefined;
  replace: boolean;
  keychain: boolean;
}

/**
 * Asks a person at a terminal for an account, and tries its key out. Nothing is written here: who
 * leaves at any question has changed nothing.
 *
 * @throws Failure `access` when the key does not work and is not to be kept anyway
 */
export async function askProfile(given: Given, ask: Ask, context: Context) {
  const taken = given.replace ? {} : (await context.profiles.read()).profiles;
  if (given.name !== undefined && Object.hasOwn(taken, given.name)) throw nameTaken(given.name);
  context.notice(await whereKept(given, context));
  context.notice("Both are in the merchant dashboard, under Settings → Development Info.");
  context.notice("Nothing is written before the last answer; Ctrl-C leaves.");
  const { text: apiKey, environment } = await askKey(given, ask);
  context.notice(`This is a ${environment} key.`);
  const payoutSecret = await askSecret(ask);
  const name = given.name ?? (await askName(environment, taken, ask));
  const secrets = {
    apiKey: { text: apiKey },
    payoutSecret: payoutSecret === "" ? undefined : { text: payoutSecret },
  };
  const account = await askAccount({ name, environment, ...secrets }, ask, context);
  await tryOut(account, payoutSecret, ask, context);
  return { name, environment, baseUrl: account.baseUrl, ...secrets };
}

/** Says which profile the next command goes by, where that is not the new one. */
export async function showInUse(name: string, context: Context): Promise<void> {
  const { current } = await context.profiles.read();
  if (current === undefined || current === name) return; // the first one is in use at once
  context.notice(`In use is still ${current}; 'lenden profile use ${name}' changes that.`);
}

/** Shows the command line that does the same; the secrets come to it on standard input. */
export function showSameAdd(name: string, profile: Profile, given: Given, context: Context): void {
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
  showSame([words], context);
}

async function whereKept({ keychain }: Given, { profiles, host }: Context): Promise<string> {
  const mode = host.platform === "win32" ? "" : " (mode 0600, for you alone)";
  const file = `${await profiles.file()}${mode}`;
  return keychain
    ? `Key and payout secret will be kept in this system's keychain, everything else in ${file}.`
    : `Key and payout secret will be kept in ${file}; with --keychain, in this system's keychain.`;
}

async function askKey({ environment }: Given, ask: Ask): Promise<ApiKey> {
  const typed = await ask.secret("API key:", (text) => {
    const read = readApiKey(text.trim());
    if (!read.ok) return read.problem;
    return environment === undefined || read.value.environment === environment
      ? undefined
      : `This is a ${read.value.environment} key, and --environment says ${environment}.`;
  });
  const read = readApiKey(typed.trim());
  if (read.ok) return read.value;
  throw new Error("an answer that its own check refuses");
}

async function askSecret(ask: Ask): Promise<string> {
  const message = "Payout secret (only payouts need it; Enter leaves it out):";
  const typed = await ask.secret(message, (text) => {
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
      ? `There already is a profile ${text}; --replace would replace it.`
      : undefined;
  };
  return ask.text("Name of the profile:", { preset, check });
}

type Candidate = Omit<Parameters<Context["profiles"]["check"]>[0], "baseUrl">;

/** Asks until key, environment and base URL agree; an address that was given is not asked for. */
async function askAccount(candidate: Candidate, ask: Ask, context: Context): Promise<Account> {
  if ((await context.profiles.baseUrlGiven()) !== undefined)
    return context.profiles.check(candidate);
  const baseUrl = await ask.text("Base URL of the service:", { check: problemOfUrl });
  try {
    return await context.profiles.check({ ...candidate, baseUrl });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.notice(sentences(error));
    return askAccount(candidate, ask, context);
  }
}

function problemOfUrl(text: string): string | undefined {
  const read = readUrl(text);
  return read.ok ? undefined : read.problem;
}

async function tryOut(
  account: Account,
  payoutSecret: string,
  ask: Ask,
  context: Context,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await context.worldOf(account, payoutSecret);
  try {
    const { length } = dataOf(await client.listMethods({}));
    const methods = length === 1 ? "1 payment method" : `${length} payment methods`;
    context.notice(`The service takes this key; the account has ${methods}.`);
  } catch (error) {
    if (!(error instanceof Failure) || context.stopping.aborted) throw error;
    context.notice(sentences(error));
    if (await ask.yes("The key could not be tried out. Keep it anyway?")) return;
    throw new Failure("access", "The profile was not added.", { hint: "Nothing was written." });
  }
}

function sentences({ message, details }: Failure): string {
  return [message, details.hint].filter(Boolean).join(" ");
}
