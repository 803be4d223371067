import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import type { Input } from "../../cli/command/flag.ts";
import { requireAccepted } from "../../config/key-change.ts";
import { type Credentials, profileInUse, requireStoredUrl } from "../../config/profile.ts";
import type { Profile } from "../../config/profiles.ts";
import { shownProfile } from "../../config/shown.ts";
import { usage } from "../../domain/failure.ts";
import { confirmNewKey, storeConfirmed } from "./confirmed.ts";
import {
  type CredentialProblems,
  credentialFlags,
  namesSource,
  noKeyGiven,
  readCredentials,
  rejectProblems,
} from "./credentials.ts";
import { askCredentials, testKey, whereStored } from "./dialogue.ts";
import { nameOrInUse, profileCard, profileOutput } from "./flags.ts";

type Given = Input<typeof credentialFlags>;

export const profileRotate = defineCommand({
  description:
    "The API must accept the key, or nothing changes. A new key does not send payouts of unknown outcome again: resolve them first.",
  examples: {
    "Read both from files":
      "lenden profile rotate shop --key-file key.txt --secret-file secret.txt",
  },
  arguments: { name: nameOrInUse },
  flags: credentialFlags,
  sameFlagsAs: "profile add",
  needsPerson: "only a person changes profiles",
  async run(input, context) {
    const { profiles } = context.config;
    const settings = await context.config.settings();
    requireStoredUrl(settings);
    const stored = await profiles.read();
    const name = input.name ?? profileInUse("rotate", settings, stored, context.host.env);
    const before = profiles.require(name, stored);
    const given = await credentialsOf(input, name, before, context);
    const { environment, baseUrl } = before;
    const apiKey = given.apiKey ?? before.apiKey;
    if (!apiKey) throw usage([noKeyGiven]);
    const account = await profiles.check({ ...given, name, apiKey, environment, baseUrl });
    await requireAccepted(() => testKey(account, context), {
      effect: `Profile ${name} is unchanged.`,
      untested: "A key is stored only after this test.",
    });
    const after = { ...given, environment, baseUrl: account.baseUrl };
    const knownAccount = await confirmNewKey(name, before, after, context);
    const keychain = usesKeychain(input, before);
    const storing = { replace: true, keychain, knownAccount };
    const rotated = await storeConfirmed(name, after, storing, context);
    context.ui.notice(`Profile ${name} keeps: ${rotated.kept.join(", ")}.`);
    noteSecret(given, rotated.stored, context);
    for (const sentence of (await context.config.settings(name)).shadows)
      context.ui.notice(sentence);
    return { ...shownProfile(name, rotated.stored), kept: rotated.kept };
  },
  output: profileOutput,
  view: profileCard,
});

async function credentialsOf(
  input: Given,
  name: string,
  before: Profile,
  context: Context,
): Promise<Credentials> {
  const ask = namesSource(input) ? undefined : await context.ui.ask();
  if (!ask) {
    const found: CredentialProblems = { problems: [], failures: [] };
    const given = await readCredentials(input, found, context);
    if (!namesSource(input)) found.problems.push(noKeyGiven);
    rejectProblems(found, "profile rotate");
    return given;
  }
  context.ui.notice(`Profile ${name} (${before.environment}), ${before.baseUrl}.`);
  context.ui.notice(whereStored(usesKeychain(input, before), context));
  const given = await askCredentials(
    ask,
    { before, required: before.environment, replaces: true },
    context,
  );
  if (!given.apiKey && !given.payoutSecret)
    throw usage([`No key and no secret was typed. Profile ${name} is unchanged.`]);
  const line = [
    ...["profile", "rotate", name],
    ...(given.apiKey ? ["--key-stdin"] : []),
    ...(given.payoutSecret ? ["--secret-stdin"] : []),
    ...(input.keychain ? ["--keychain"] : []),
  ];
  showSame([line], context.ui);
  return given;
}

/** A secret of the keychain is replaced there. */
function usesKeychain({ keychain }: Given, { apiKey, payoutSecret }: Profile): boolean {
  return keychain || [apiKey, payoutSecret].some((source) => source && "keychain" in source);
}

function noteSecret(given: Credentials, { payoutSecret }: Profile, { ui }: Context): void {
  if (!payoutSecret) return;
  ui.notice(
    given.payoutSecret
      ? "The payout secret cannot be tested without a payout: the API has not confirmed it."
      : "The payout secret is the earlier one. Only a payout can test it with the new key.",
    "profile.secret-untested",
  );
}
