import { readWord } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, type Input } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import type { Profile, Profiles, SecretSource } from "../../config/profiles.ts";
import { readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Result } from "../../domain/result.ts";
import { isLocalSandbox, isSameServer, readUrl } from "../../domain/url.ts";
import {
  findProfile,
  profileCard,
  profileFlags,
  readProfileName,
  requireFreeName,
  shownProfile,
  tidyEntries,
} from "./stored.ts";

/** No flag takes a secret itself: other users could read it. */
const flags = {
  keyStdin: flag.toggle("--key-stdin", "Read the API key from standard input"),
  secretStdin: flag.toggle("--secret-stdin", "Read the payout secret from standard input"),
  keyFile: flag.optional("--key-file <file>", "Read the API key from a file", readWord, "file"),
  secretFile: flag.optional(
    "--secret-file <file>",
    "Read the payout secret from a file",
    readWord,
    "file",
  ),
  keyCommand: flag.optional(
    "--key-command <command>",
    "Command that prints the API key, run when needed",
    readWord,
  ),
  secretCommand: flag.optional(
    "--secret-command <command>",
    "Command that prints the payout secret, run when needed",
    readWord,
  ),
  keychain: flag.toggle("--keychain", "Store key and secret in the operating system's keychain"),
  ...profileFlags,
  replace: flag.toggle("--replace", "Replace the profile of this name"),
};

export const profileAdd = defineCommand({
  description:
    "In a terminal, lenden prompts for missing values and tests the key. No flag takes a secret: use standard input (first line key, second line secret), a file, or a command. The first profile becomes the default.",
  examples: {
    "Add a profile step by step, in a terminal": "lenden profile add",
    "Read the secrets from files":
      "lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-file key.txt --secret-file secret.txt",
    "Fetch the key from a password store at each run":
      'lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-command "pass show shop/key"',
  },
  arguments: {
    name: argument.optional("name", "Name (default: the environment)", readProfileName),
  },
  flags,

  async run(input, context) {
    const ask = namesSource(input) ? undefined : await context.ui.ask();
    const dialogue = ask && (await import("./add-dialogue.ts"));
    const { name, apiKey, payoutSecret, environment, baseUrl } = dialogue
      ? await dialogue.askProfile(input, ask, context)
      : await givenProfile(input, context);
    const { redirectUrl, callbackUrl, method, numberFormat, confirmAbove } = input;
    const settings = { redirectUrl, callbackUrl, method, numberFormat, confirmAbove };
    const profile = { environment, baseUrl, apiKey, payoutSecret, ...settings };
    const stored = await storeProfile(name, profile, input, context);
    await dialogue?.showAfterwards(name, profile, input, context);
    return shownProfile(name, stored);
  },
  view: profileCard,
});

type Given = Input<typeof flags> & { name: string | undefined };

type Secret = "key" | "secret";

/** The ways in which flags name a secret. */
function waysOf(of: Secret, given: Given) {
  const { keyStdin, keyFile, keyCommand, secretStdin, secretFile, secretCommand } = given;
  const ways =
    of === "key"
      ? { isStdin: keyStdin, file: keyFile, command: keyCommand }
      : { isStdin: secretStdin, file: secretFile, command: secretCommand };
  return { ...ways, count: Object.values(ways).filter(Boolean).length };
}

function namesSource(given: Given): boolean {
  return waysOf("key", given).count + waysOf("secret", given).count > 0;
}

/** @throws Failure `usage` with the problems of all flags and of what they name */
async function givenProfile(given: Given, { config, host }: Context) {
  const { name, replace, keychain, keyStdin, secretStdin } = given;
  const problems: string[] = [];
  let failure: Failure | undefined;
  const addFailure = (error: unknown): undefined => {
    if (!(error instanceof Failure)) throw error;
    failure = error;
    problems.push(error.message);
  };
  const readText = (file: string, flag: string) =>
    readSmallText(file, flag, host).catch(addFailure);
  const stdin = keyStdin || secretStdin ? await readText("-", "standard input") : "";
  const lines = stdin?.split(/\r?\n/) ?? [];
  const read = async (of: Secret, check: (text: string) => Result<unknown>) => {
    const { isStdin, file = "", command, count } = waysOf(of, given);
    if (count > 1)
      problems.push(`Use one of --${of}-stdin, --${of}-file and --${of}-command, not several.`);
    if (count !== 1) return undefined;
    if (command) return { command };
    const text = isStdin ? (lines.shift() ?? "") : await readText(file, `--${of}-file`);
    const result = text === undefined ? undefined : check(text.trim());
    if (result && !result.ok) problems.push(result.problem);
    return result?.ok ? { text: text?.trim() ?? "" } : undefined;
  };
  const apiKey: SecretSource | undefined = await read("key", readApiKey);
  const payoutSecret: SecretSource | undefined = await read("secret", readPayoutSecret);
  if (waysOf("key", given).count === 0)
    problems.push("No API key is given: use --key-stdin, --key-file or --key-command.");
  if (keychain && given.keyCommand && !secretStdin && !given.secretFile)
    problems.push("--keychain: there is no secret to store, because commands print them.");
  const stored = await config.profiles.read();
  if (name !== undefined && !replace && findProfile(name, stored))
    problems.push(`Profile ${name} already exists. Choose another name, or add --replace.`);
  const givenUrl = await config.profiles.baseUrlGiven();
  if (problems.length > 0 && givenUrl === undefined)
    problems.push("Missing required flag --base-url <url>.");
  if (problems.length > 0 && givenUrl !== undefined) {
    const url = readUrl(givenUrl);
    if (!url.ok) problems.push(`Base URL: ${url.problem}`);
    else if (apiKey && "text" in apiKey)
      await config.profiles.check({ ...given, apiKey }).catch(addFailure);
  }
  if (failure && problems.length === 1) throw failure;
  if (problems.length > 0 || !apiKey) throw usage(problems, "Nothing was stored.");
  const { environment, baseUrl } = await config.profiles.check({ ...given, apiKey, payoutSecret });
  return { apiKey, payoutSecret, environment, baseUrl, name: name ?? environment };
}

/**
 * Stores a profile. Secrets in the keychain get new entries: until the file names them, a profile that is
 * replaced stays as it was.
 *
 * @returns the profile as it is stored, without its account
 */
async function storeProfile(
  name: string,
  profile: Profile,
  { replace, keychain }: Given,
  context: Context,
): Promise<Profile> {
  const requireName = (now: Profiles): void => {
    if (!replace) requireFreeName(name, now, "Choose another name, or add --replace.");
  };
  const before = await context.config.profiles.read();
  requireName(before);
  const approved = await approvedAccount(name, findProfile(name, before), profile, context);
  const stored = keychain ? await intoKeychain(name, profile, context) : profile;
  let replaced: Profile | undefined;
  try {
    await context.config.profiles.change((now) => {
      requireName(now);
      replaced = findProfile(name, now);
      const joins =
        replaced && (isSameMerchant(replaced, profile) || replaced.account === approved);
      const account = joins ? replaced?.account : undefined;
      // A handler has the callback secret, so it stays for the same environment.
      const isSame = replaced?.environment === stored.environment;
      const callbackSecret = isSame ? replaced?.callbackSecret : undefined;
      const profiles = { ...now.profiles, [name]: { ...stored, account, callbackSecret } };
      return { ...now, current: now.current ?? name, profiles };
    });
  } catch (error) {
    if (keychain) await tidyEntries(stored, context);
    throw error;
  }
  if (replaced) await tidyEntries(replaced, context);
  return stored;
}

/** True if the new key of a replaced profile joins its account, so that rotating a key changes nothing. */
function isSameMerchant(before: Profile, after: Profile): boolean {
  return mayBeSameMerchant(before, after) && isSameServer(before.baseUrl, after.baseUrl);
}

/** False for another environment, and for a local sandbox, which is a new account at each start. */
function mayBeSameMerchant(before: Profile, after: Profile): boolean {
  return before.environment === after.environment && !isLocalSandbox(after);
}

/**
 * The account of a replaced profile if the new base URL is on another server, which may be another merchant,
 * and a user says that the account is the same.
 *
 * @throws Failure `profile.other-server` non-interactively, unless LENDEN_ACCOUNT says it
 */
async function approvedAccount(
  name: string,
  before: Profile | undefined,
  after: Profile,
  { host, ui }: Context,
): Promise<string | undefined> {
  const account = before?.account;
  if (!before || account === undefined || !mayBeSameMerchant(before, after)) return undefined;
  if (isSameMerchant(before, after)) return account;
  const named = host.env.LENDEN_ACCOUNT;
  if (named !== undefined) return named === account ? account : undefined;
  const [from, to] = [before, after].map(({ baseUrl }) => new URL(baseUrl).host);
  const ask = await ui.ask();
  if (ask)
    return (await ask.yes(`Is the account on ${to} the same as ${account} on ${from}?`))
      ? account
      : undefined;
  throw new Failure(
    "profile.other-server",
    `Profile ${name} is for account ${account} on ${from}, and the new base URL is on ${to}.`,
    {
      hint: `If the account is the same, set LENDEN_ACCOUNT=${account}. Otherwise choose another profile name. Nothing was changed.`,
    },
  );
}

async function intoKeychain(name: string, profile: Profile, context: Context): Promise<Profile> {
  const keychain = context.config.keychain();
  const id = Buffer.from(context.host.randomBytes(6)).toString("hex");
  const moved = async (what: string, source: SecretSource | undefined) => {
    if (!source || !("text" in source)) return source;
    const entry = `${name}/${what}/${id}`;
    await keychain.store(entry, source.text);
    return { keychain: entry };
  };
  const apiKey = await moved("api-key", profile.apiKey);
  try {
    return { ...profile, apiKey, payoutSecret: await moved("payout-secret", profile.payoutSecret) };
  } catch (error) {
    await tidyEntries({ ...profile, apiKey, payoutSecret: undefined }, context);
    throw error;
  }
}
