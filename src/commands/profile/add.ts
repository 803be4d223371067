import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import { argument, flag, type Input, oneOf } from "../../cli/command/flag.ts";
import type { Ask } from "../../cli/terminal/ask.ts";
import type { Account } from "../../config/account.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import { type Environment, environments, readApiKey } from "../../domain/api-keys.ts";
import { Failure, usage, whyAndHint } from "../../domain/failure.ts";
import { problemOf } from "../../domain/result.ts";
import { basePath, readUrl } from "../../domain/url.ts";
import {
  askCredentials,
  type CredentialProblems,
  credentialFlags,
  namesSource,
  noKeyGiven,
  readCredentials,
  rejectProblems,
  requireAccepted,
  testKey,
  whereStored,
} from "./credentials.ts";
import { confirmNewKey, confirmOtherLedger, requireOwnCredentials } from "./key-change.ts";
import {
  findProfile,
  profileCard,
  profileFlags,
  readProfileName,
  requireFreeName,
  settable,
  settingsIn,
  shownProfile,
} from "./profiles.ts";
import { type GivenProfile, nameHint, storeProfile } from "./store.ts";

const flags = {
  ...credentialFlags,
  environment: flag.optional(
    "--environment <environment>",
    `Environment: {${environments.join(" | ")}} (default: from the key)`,
    oneOf(environments),
  ),
  ...profileFlags,
  check: flag.toggle("--check", "Store the profile only if the API accepts the key"),
  replace: flag.toggle("--replace", "Change an existing profile; what is not given stays"),
};

type Given = Input<typeof flags> & { name: string | undefined };

const exampleBaseUrl = `https://api.example${basePath}`;

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
    const ask = namesSource(input) ? undefined : await context.ui.ask();
    const { name, before, profile } = ask
      ? await askProfile(input, ask, context)
      : await givenProfile(input, context);
    const knownAccount = before && (await confirmReplacement(name, before, profile, context));
    const { stored, kept } = await storeProfile(name, profile, { ...input, knownAccount }, context);
    if (kept.length > 0) context.ui.notice(`Profile ${name} keeps: ${kept.join(", ")}.`);
    if (stored.ledger !== undefined)
      await context.ledger.warnIfUnmoved(stored.environment, stored.ledger);
    if (ask) await showAfterwards(name, profile, input, context);
    return { ...shownProfile(name, stored), ...(before ? { kept } : {}) };
  },
  view: profileCard,
});

/** @returns the account that the ledger knows for the earlier key */
async function confirmReplacement(
  name: string,
  before: Profile,
  { apiKey, baseUrl, ledger }: GivenProfile,
  context: Context,
): Promise<string | undefined> {
  if (ledger !== undefined) await confirmOtherLedger(name, before, ledger, context);
  return confirmNewKey(name, before, { apiKey, baseUrl }, context);
}

/** A new profile, or what changes of an earlier one. */
interface NewProfile {
  name: string;
  before: Profile | undefined;
  profile: GivenProfile;
}

/** @throws Failure `usage` with the problems of all flags and of what they name */
async function givenProfile(given: Given, context: Context): Promise<NewProfile> {
  const { profiles } = context.config;
  const { replace } = given;
  const found: CredentialProblems = { problems: [], failures: [] };
  const { apiKey, payoutSecret } = await readCredentials(given, found, context);
  const name = given.name ?? given.environment ?? environmentOf(apiKey);
  const existing = name === undefined ? undefined : findProfile(name, await profiles.read());
  const before = replace ? existing : undefined;
  const key = apiKey ?? before?.apiKey;
  const { problems } = found;
  if (!key && !given.keyStdin && given.keyFile === undefined) problems.push(noKeyGiven);
  if (given.name !== undefined && existing && !replace)
    problems.push(`Profile ${name} already exists. ${nameHint}`);
  if (name === undefined && replace)
    problems.push("Missing required argument <name>: --replace needs the name of the profile.");
  const givenUrl = profiles.baseUrlGiven ?? before?.baseUrl;
  const url = givenUrl === undefined ? undefined : readUrl(givenUrl, exampleBaseUrl);
  if (url === undefined) problems.push("Missing required flag --base-url <url>.");
  else if (!url.ok && problems.length > 0) problems.push(`Base URL: ${url.problem}`);
  rejectProblems(found, "profile add");
  if (!key) throw usage([noKeyGiven]);
  requireEnvironment(name, before, given.environment);
  const account = await profiles.check({
    name,
    apiKey: key,
    payoutSecret,
    environment: before?.environment ?? given.environment,
    ...(givenUrl === undefined ? {} : { baseUrl: givenUrl }),
  });
  const checked = { ...agreed(account), apiKey, payoutSecret };
  requireOwnCredentials(account.name, before, checked);
  if (given.check)
    await requireAccepted(
      account,
      {
        effect: "The profile was not stored.",
        untested: "To store the profile untested, omit --check.",
      },
      context,
    );
  const profile = { ...settingsIn(given), ...checked };
  return { name: name ?? account.environment, before, profile };
}

/** An absent key, and one that a program prints, have none yet. */
function environmentOf(apiKey: SecretSource | undefined): Environment | undefined {
  if (!apiKey || !("text" in apiKey)) return undefined;
  const read = readApiKey(apiKey.text);
  return read.ok ? read.value.environment : undefined;
}

function agreed({ environment, baseUrl }: Account): Pick<Account, "environment" | "baseUrl"> {
  return { environment, baseUrl };
}

/** A profile keeps its environment: its ledger, its account and its settings belong to it. */
function requireEnvironment(
  name: string | undefined,
  before: Profile | undefined,
  given: Environment | undefined,
): void {
  if (!before || given === undefined || given === before.environment) return;
  throw new Failure(
    "account.environment-differs",
    `Profile ${name} is for ${before.environment}, but --environment is ${given}. The profile is unchanged.`,
    { hint: `Add the ${given} key under another name with 'lenden profile add'.` },
  );
}

/**
 * Asks for a profile in a terminal, and tries its key. Nothing is stored here: to leave at any question
 * changes nothing.
 *
 * @throws Failure `profile.not-added` if the key does not work and is not to be stored anyway
 */
async function askProfile(given: Given, ask: Ask, context: Context): Promise<NewProfile> {
  const { config, ui } = context;
  const stored = await config.profiles.read();
  const existing = given.name === undefined ? undefined : findProfile(given.name, stored);
  if (given.name !== undefined && !given.replace)
    requireFreeName(given.name, stored, "Choose another name, or add --replace.");
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
  return { name, before, profile: { ...settingsIn(given), ...agreed(account), ...typed } };
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

/** Shows the command line that does the same, and which profile is in use if it is not the new one. */
async function showAfterwards(
  name: string,
  profile: GivenProfile,
  given: Given,
  { config, ui }: Context,
): Promise<void> {
  const settings = Object.entries(settable).flatMap(([name, { key }]) => {
    const value = profile[key];
    const text = typeof value === "object" && "command" in value ? value.command : value;
    return typeof text === "string" ? [`--${name}`, text] : [];
  });
  const line = [
    ...["profile", "add", name, ...settings.slice(0, 2)],
    ...(profile.apiKey ? ["--key-stdin"] : []),
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
