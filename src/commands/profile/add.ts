import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import { argument, flag, type Input, oneOf } from "../../cli/command/flag.ts";
import { requireAccepted, requireOwnCredentials } from "../../config/key-change.ts";
import {
  agreed,
  environmentOf,
  exampleBaseUrl,
  type GivenProfile,
  nameHint,
  readProfileName,
  requireEnvironment,
} from "../../config/profile.ts";
import { findProfile } from "../../config/profiles.ts";
import { shownProfile } from "../../config/shown.ts";
import { environments } from "../../domain/api-keys.ts";
import { usage } from "../../domain/failure.ts";
import { readUrl } from "../../domain/url.ts";
import { confirmNewKey, confirmOtherLedger, storeConfirmed } from "./confirmed.ts";
import {
  type CredentialProblems,
  credentialFlags,
  namesSource,
  noKeyGiven,
  readCredentials,
  rejectProblems,
} from "./credentials.ts";
import { askProfile, type NewProfile, testKey } from "./dialogue.ts";
import { profileCard, profileFlags, profileOutput, settable, settingsIn } from "./flags.ts";

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
  needsPerson: "only a person changes profiles",

  async run(input, context) {
    const ask = namesSource(input) ? undefined : await context.ui.ask();
    const { name, before, ...found } = ask
      ? await askProfile(input, ask, context)
      : await givenProfile(input, context);
    const profile = { ...settingsIn(input), ...found.profile };
    if (before && profile.ledger !== undefined)
      await confirmOtherLedger(name, before, profile.ledger, context);
    const knownAccount = before && (await confirmNewKey(name, before, profile, context));
    const storing = { ...input, knownAccount };
    const { stored, kept } = await storeConfirmed(name, profile, storing, context);
    if (kept.length > 0) context.ui.notice(`Profile ${name} keeps: ${kept.join(", ")}.`);
    if (stored.ledger !== undefined)
      await context.ledger.warnIfUnmoved(stored.environment, stored.ledger);
    if (ask) await showAfterwards(name, profile, input, context);
    return { ...shownProfile(name, stored), ...(before ? { kept } : {}) };
  },
  output: profileOutput,
  view: profileCard,
});

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
    await requireAccepted(() => testKey(account, context), {
      effect: "The profile was not stored.",
      untested: "To store the profile untested, omit --check.",
    });
  return { name: name ?? account.environment, before, profile: checked };
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
