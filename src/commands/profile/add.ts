import { readText } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import { argument, flag, type Input, oneOf } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import type { Ask } from "../../cli/terminal/ask.ts";
import type { Account } from "../../config/account.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import { environments, readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, usage, whatHappened, whyAndHint } from "../../domain/failure.ts";
import { err, problemOf, type Result } from "../../domain/result.ts";
import { counted } from "../../domain/text.ts";
import { basePath, isLocalSandbox, isSameServer, readUrl } from "../../domain/url.ts";
import {
  findProfile,
  profileCard,
  profileFlags,
  readProfileName,
  requireFreeName,
  settable,
  settingsIn,
  shownProfile,
  tidyEntries,
} from "./profiles.ts";

/** No flag takes a secret itself: other users could read it. */
const flags = {
  keyStdin: flag.toggle("--key-stdin", "Read the API key from standard input"),
  secretStdin: flag.toggle("--secret-stdin", "Read the payout secret from standard input"),
  keyFile: flag.optional("--key-file <file>", "Read the API key from a file", readText, "file"),
  secretFile: flag.optional(
    "--secret-file <file>",
    "Read the payout secret from a file",
    readText,
    "file",
  ),
  keyCommand: flag.optional(
    "--key-command <command>",
    "Program that prints the API key, run when needed",
    readText,
  ),
  secretCommand: flag.optional(
    "--secret-command <command>",
    "Program that prints the payout secret, run when needed",
    readText,
  ),
  keychain: flag.toggle("--keychain", "Store key and payout secret in the system's keychain"),
  environment: flag.optional(
    "--environment <environment>",
    `Environment: {${environments.join(" | ")}} (default: from the key)`,
    oneOf(environments),
  ),
  ...profileFlags,
  check: flag.toggle("--check", "Store the profile only if the API accepts the key"),
  replace: flag.toggle("--replace", "Replace an existing profile of this name"),
};

type Given = Input<typeof flags> & { name: string | undefined };

const exampleBaseUrl = `https://api.example${basePath}`;
const nameHint = "Choose another name, or add --replace.";

export const profileAdd = defineCommand({
  description:
    "In a terminal, lenden prompts for the values and tests the key. With --key-stdin and --secret-stdin, the key is the first line of standard input, and the payout secret is the second. The first profile becomes the default.",
  examples: {
    "Add a profile step by step, in a terminal": "lenden profile add",
    "Read the secrets from files":
      "lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-file key.txt --secret-file secret.txt",
  },
  arguments: {
    name: argument.optional(
      "name",
      "Name of the profile (default: sandbox or production)",
      readProfileName,
    ),
  },
  flags,

  async run(input, context) {
    const hasSource = waysOf("key", input).length + waysOf("secret", input).length > 0;
    const ask = hasSource ? undefined : await context.ui.ask();
    const { name, apiKey, payoutSecret, environment, baseUrl } = ask
      ? await askProfile(input, ask, context)
      : await givenProfile(input, context);
    const profile = { environment, baseUrl, apiKey, payoutSecret, ...settingsIn(input) };
    const stored = await storeProfile(name, profile, input, context);
    if (stored.ledger !== undefined)
      await context.ledger.warnIfUnmoved(stored.environment, stored.ledger);
    if (ask) await showAfterwards(name, profile, input, context);
    return shownProfile(name, stored);
  },
  view: profileCard,
});

/** For --check. @throws Failure that says that nothing was stored, unless the API accepts the key */
async function requireAccepted(account: Account, context: Context): Promise<void> {
  try {
    await testKey(account, "", context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const hint =
      error.kind === "access"
        ? "Copy the key again. Unless the API is a local sandbox, also allow this machine's IP address in the merchant dashboard (Settings → Development Info)."
        : `${error.details.hint ?? ""} To store the profile untested, omit --check.`.trim();
    const message = `${whatHappened(error)} The profile was not stored.`;
    throw new Failure(error.reason, message, { ...error.details, hint });
  }
}

/** The ways in which the command line names a secret. */
function waysOf(of: "key" | "secret", given: Given) {
  const { keyStdin, keyFile, keyCommand, secretStdin, secretFile, secretCommand } = given;
  const [isStdin, file, command] =
    of === "key" ? [keyStdin, keyFile, keyCommand] : [secretStdin, secretFile, secretCommand];
  return [
    ...(isStdin ? [{ file: "-" }] : []),
    ...(file === undefined ? [] : [{ file }]),
    ...(command === undefined ? [] : [{ command }]),
  ];
}

/** @throws Failure `usage` with the problems of all flags and of what they name */
async function givenProfile(given: Given, context: Context) {
  const { config, host } = context;
  const { name, replace, keychain } = given;
  const problems: string[] = [];
  const failures: Failure[] = [];
  const textOf = async (file: string, flagName: string): Promise<string | undefined> => {
    try {
      return await readSmallText(file, flagName, host);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      problems.push(error.message);
      return undefined;
    }
  };
  let lines: string[] | undefined;
  const lineOfStdin = async () => {
    lines ??= (await textOf("-", "standard input"))?.split(/\r?\n/) ?? [];
    return lines.shift() ?? "";
  };
  const read = async (
    of: "key" | "secret",
    check: (text: string) => Result<unknown>,
  ): Promise<SecretSource | undefined> => {
    const [way, ...others] = waysOf(of, given);
    if (others.length > 0)
      problems.push(`Use one of --${of}-stdin, --${of}-file and --${of}-command, not several.`);
    if (!way || others.length > 0) return undefined;
    if ("command" in way) return { command: way.command };
    const text = way.file === "-" ? await lineOfStdin() : await textOf(way.file, `--${of}-file`);
    if (text === undefined) return undefined;
    const flagName = way.file === "-" ? `--${of}-stdin` : `--${of}-file`;
    const secret = text.trim();
    const result = /\n/.test(secret)
      ? err("The file has several lines. Save only the secret in it.")
      : check(secret);
    if (secret === "")
      problems.push(`${flagName}: The ${way.file === "-" ? "line" : "file"} is empty.`);
    else if (!result.ok) problems.push(`${flagName}: ${result.problem}`);
    return { text: secret };
  };
  const apiKey = await read("key", readApiKey);
  const payoutSecret = await read("secret", readPayoutSecret);
  if (waysOf("key", given).length === 0)
    problems.push("No API key is given: use --key-stdin, --key-file or --key-command.");
  if (keychain && apiKey && [apiKey, payoutSecret].every((one) => !one || "command" in one))
    problems.push("--keychain: there is no secret to store, because commands print them.");
  if (name !== undefined && !replace && findProfile(name, await config.profiles.read()))
    problems.push(`Profile ${name} already exists. ${nameHint}`);
  const givenUrl = config.profiles.baseUrlGiven;
  const url = givenUrl === undefined ? undefined : readUrl(givenUrl, exampleBaseUrl);
  if (url === undefined) problems.push("Missing required flag --base-url <url>.");
  else if (!url.ok && problems.length > 0) problems.push(`Base URL: ${url.problem}`);
  if (failures[0] && problems.length === 1) throw failures[0];
  if (problems.length > 0 || !apiKey)
    throw usage(problems, "For all flags, run 'lenden profile add --help'.");
  const account = await config.profiles.check({ ...given, apiKey, payoutSecret });
  if (given.check) await requireAccepted(account, context);
  const { environment, baseUrl } = account;
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
  const { profiles } = context.config;
  const before = await profiles.read();
  if (!replace) requireFreeName(name, before, nameHint);
  const approved = await approvedAccount(name, findProfile(name, before), profile, context);
  const stored = keychain ? await intoKeychain(name, profile, context) : profile;
  let replaced: Profile | undefined;
  try {
    await profiles.change((now) => {
      if (!replace) requireFreeName(name, now, nameHint);
      replaced = findProfile(name, now);
      const joins =
        replaced && (isSameMerchant(replaced, profile) || replaced.account === approved);
      const account = joins ? replaced?.account : undefined;
      // A handler has the callback secret, so it stays for the same environment.
      const isSame = replaced?.environment === stored.environment;
      const callbackSecret = isSame ? replaced?.callbackSecret : undefined;
      const all = { ...now.profiles, [name]: { ...stored, account, callbackSecret } };
      return { ...now, current: now.current ?? name, profiles: all };
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
  const isSame = await ask?.yes(`Is the account on ${to} the same as ${account} on ${from}?`);
  if (isSame !== undefined) return isSame ? account : undefined;
  throw new Failure(
    "profile.other-server",
    `Profile ${name} is for account ${account} on ${from}, and the new base URL is on ${to}. The profile is unchanged.`,
    {
      hint: `If the account is the same, set LENDEN_ACCOUNT=${account}. Otherwise choose another profile name.`,
    },
  );
}

async function intoKeychain(name: string, profile: Profile, context: Context): Promise<Profile> {
  const id = Buffer.from(context.host.randomBytes(6)).toString("hex");
  const moved = async (what: string, source: SecretSource | undefined) => {
    if (!source || !("text" in source)) return source;
    const entry = `${name}/${what}/${id}`;
    await context.config.keychain().store(entry, source.text);
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

/**
 * Asks for a profile in a terminal, and tries its key. Nothing is stored here: to leave at any question
 * changes nothing.
 *
 * @throws Failure `profile.not-added` if the key does not work and is not to be stored anyway
 */
async function askProfile(given: Given, ask: Ask, context: Context) {
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
async function askAccount(candidate: Candidate, ask: Ask, { config: { profiles }, ui }: Context) {
  if (profiles.baseUrlGiven !== undefined) return profiles.check(candidate);
  for (;;) {
    const baseUrl = await ask.text("Base URL of the API:", {
      check: (text) => problemOf(readUrl(text, exampleBaseUrl)),
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
async function testKey(
  account: Account,
  payoutSecret: string,
  { api, ui }: Pick<Context, "api" | "ui">,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await api.depsOf(account, payoutSecret);
  const { length } = dataOf(await client.listMethods({}));
  ui.notice(`The API accepts this key. The account has ${counted(length, "payment method")}.`);
}

async function tryKey(account: Account, payoutSecret: string, ask: Ask, context: Context) {
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
async function showAfterwards(
  name: string,
  profile: Profile,
  given: Given,
  { config, ui }: Context,
): Promise<void> {
  const settings = Object.entries(settable).flatMap(([name, { key }]) => {
    const value = profile[key];
    const text = typeof value === "object" && "command" in value ? value.command : value;
    return typeof text === "string" ? [`--${name}`, text] : [];
  });
  const line = [
    ...["profile", "add", name, ...settings.slice(0, 2), "--key-stdin"],
    ...(profile.payoutSecret ? ["--secret-stdin"] : []),
    ...(given.environment ? ["--environment", given.environment] : []),
    ...settings.slice(2),
    ...(given.keychain ? ["--keychain"] : []),
    ...(given.replace ? ["--replace"] : []),
  ];
  showSame([line], ui);
  const { current = name } = await config.profiles.read();
  if (current !== name)
    ui.notice(`Profile ${current} is in use. To change that: 'lenden profile use ${name}'.`);
}
