import type { Context } from "../../cli/command/context.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import type { Ask } from "../../cli/prompts/ask.ts";
import type { Account } from "../../config/account.ts";
import type { Profile } from "../../config/profiles.ts";
import { type Environment, readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, whyAndHint } from "../../domain/failure.ts";
import { problemOf } from "../../domain/result.ts";
import { readUrl } from "../../domain/url.ts";
import { findProfile, readProfileName, requireFreeName } from "./profiles.ts";

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
  const { config, ui } = context;
  const stored = await config.profiles.read();
  if (given.name !== undefined && !given.replace)
    requireFreeName(given.name, stored, "Choose another name, or add --replace.");
  ui.notice(whereStored(given, context));
  ui.notice("Find both in the merchant dashboard: Settings → Development Info.");
  ui.notice("Nothing is stored before the last answer. To stop, press Ctrl-C.");
  const typedKey = await ask.secret("API key:", (text) => {
    const read = readApiKey(text.trim());
    if (!read.ok) return read.problem;
    const { environment = read.value.environment } = given;
    return environment === read.value.environment
      ? undefined
      : `This is a ${read.value.environment} key, but --environment is ${environment}.`;
  });
  const key = readApiKey(typedKey.trim());
  if (!key.ok) throw new TypeError("the prompt accepted an invalid key");
  const { text: apiKey, environment } = key.value;
  ui.notice(`This is a ${environment} key.`);
  const typedSecret = await ask.secret(
    "Payout secret (only for payouts; Enter skips it):",
    (text) => (text.trim() === "" ? undefined : problemOf(readPayoutSecret(text.trim()))),
  );
  const payoutSecret = typedSecret.trim();
  const checkName = (text: string) =>
    !given.replace && findProfile(text, stored)
      ? `Profile ${text} already exists. To replace it, start again with --replace.`
      : problemOf(readProfileName(text));
  const name =
    given.name ?? (await ask.text("Profile name:", { preset: environment, check: checkName }));
  const secrets = {
    apiKey: { text: apiKey },
    payoutSecret: payoutSecret === "" ? undefined : { text: payoutSecret },
  };
  const account = await askAccount({ name, environment, ...secrets }, ask, context);
  await tryKey(account, payoutSecret, ask, context);
  return { name, environment, baseUrl: account.baseUrl, ...secrets };
}

function whereStored({ keychain }: Given, { config, host }: Context): string {
  const file = `${config.profiles.file}${host.platform === "win32" ? "" : " (mode 0600)"}`;
  return keychain
    ? `API key and payout secret will be stored in this system's keychain, the settings in ${file}.`
    : `API key and payout secret will be stored in ${file}. To use this system's keychain, add --keychain.`;
}

type Candidate = Omit<Parameters<Context["config"]["profiles"]["check"]>[0], "baseUrl">;

/** Asks until key, environment and base URL agree, unless the base URL was given. */
async function askAccount(
  candidate: Candidate,
  ask: Ask,
  { config: { profiles }, ui }: Context,
): Promise<Account> {
  if (profiles.baseUrlGiven !== undefined) return profiles.check(candidate);
  for (;;) {
    const baseUrl = await ask.text("Base URL of the API:", {
      check: (text) => problemOf(readUrl(text)),
    });
    try {
      return await profiles.check({ ...candidate, baseUrl });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ui.notice(whyAndHint(error));
    }
  }
}

/** Makes one request with a key. @throws Failure if the API does not accept it */
export async function testKey(
  account: Account,
  payoutSecret: string,
  { api, ui }: Pick<Context, "api" | "ui">,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await api.depsOf(account, payoutSecret);
  const { length } = dataOf(await client.listMethods({}));
  const methods = length === 1 ? "1 payment method" : `${length} payment methods`;
  ui.notice(`The API accepts this key. The account has ${methods}.`);
}

async function tryKey(
  account: Account,
  payoutSecret: string,
  ask: Ask,
  context: Context,
): Promise<void> {
  const { ui, stopping } = context;
  try {
    await testKey(account, payoutSecret, context);
  } catch (error) {
    if (!(error instanceof Failure) || stopping.aborted) throw error;
    ui.notice(whyAndHint(error));
    if (await ask.yes("The key could not be tested. Store it anyway?")) return;
    throw new Failure("profile.not-added", "The profile was not added. Nothing was stored.", {
      hint: "Check key and base URL, then run 'lenden profile add' again.",
    });
  }
}

/** Shows the command line that does the same, and which profile is in use if it is not the new one. */
export async function showAfterwards(
  name: string,
  profile: Profile,
  given: Given,
  { config, ui }: Context,
): Promise<void> {
  const { baseUrl, redirectUrl, callbackUrl, method, numberFormat, timeZone, confirmAbove } =
    profile;
  const { ledger, ledgerPassword, ledgerCa } = profile;
  const values = {
    environment: given.environment,
    "redirect-url": redirectUrl,
    "callback-url": callbackUrl,
    method,
    "number-format": numberFormat,
    "time-zone": timeZone,
    "confirm-above": confirmAbove,
    ledger,
    "ledger-password-command": ledgerPassword?.command,
    "ledger-ca": ledgerCa,
  };
  const line = [
    ...["profile", "add", name, "--base-url", baseUrl, "--key-stdin"],
    ...(profile.payoutSecret ? ["--secret-stdin"] : []),
    ...Object.entries(values).flatMap(([flag, value]) => (value ? [`--${flag}`, value] : [])),
    ...(given.keychain ? ["--keychain"] : []),
    ...(given.replace ? ["--replace"] : []),
  ];
  showSame([line], ui);
  const { current = name } = await config.profiles.read();
  if (current !== name)
    ui.notice(`Profile ${current} is in use. To change that: 'lenden profile use ${name}'.`);
}
