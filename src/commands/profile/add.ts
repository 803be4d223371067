import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import type { Environment } from "../../domain/api-keys.ts";
import { profileFlags, readProfileName } from "./flags.ts";
import { keepProfile } from "./keeping.ts";
import { namesSource, readSecrets, secretFlags } from "./secret-flags.ts";
import { profileCard, shownProfile } from "./shown.ts";

export const profileAdd = defineCommand({
  name: "profile add",
  summary: "Keep an account's address, key and payout secret under a name",
  details:
    "At a terminal, with nothing said of where the key comes from, it asks for all it needs, tries the key out and says where it will be kept. A secret is never a flag: it comes from standard input, from a file, or from a command that prints it (run without a shell). With --key-stdin and --secret-stdin together, the key is the first line and the secret the second. The first profile becomes the one in use. --keychain with --replace moves the secrets of a profile into the keychain.",
  examples: [
    { line: "lenden profile add", says: "asks, at a terminal" },
    {
      line: "lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-file key.txt --secret-file secret.txt",
      says: "from files",
    },
    {
      line: 'lenden profile add shop --base-url https://sandbox.example/cp/api/v1 --key-command "pass show shop/key"',
      says: "from a password store, at every run",
    },
  ],
  arguments: {
    name: argument.optional("name", "Its name (the environment's, if left out)", readProfileName),
  },
  flags: {
    ...secretFlags,
    ...profileFlags,
    replace: flag.toggle("--replace", "Replace a profile of this name"),
  },
  exits: ["access", "locked"],
  async run(input, context) {
    const ask = namesSource(input) ? undefined : await context.ask();
    const dialogue = ask && (await import("./dialogue.ts"));
    const { name, apiKey, payoutSecret, environment, baseUrl } = dialogue
      ? await dialogue.askProfile(input, ask, context)
      : await givenProfile(input, context);
    const { redirectUrl, callbackUrl, method, numberFormat, confirmAbove } = input;
    const settings = { redirectUrl, callbackUrl, method, numberFormat, confirmAbove };
    const profile = { environment, baseUrl, apiKey, payoutSecret, ...settings };
    const kept = await keepProfile(name, profile, input, context);
    dialogue?.showSameAdd(name, profile, input, context);
    if (dialogue) await dialogue.showInUse(name, context);
    return shownProfile(name, kept);
  },
  view: profileCard,
});

type Given = Parameters<typeof readSecrets>[0] & {
  name: string | undefined;
  environment: Environment | undefined;
};

async function givenProfile(input: Given, context: Context) {
  const hasUrl = (await context.profiles.baseUrlGiven()) !== undefined;
  const missing = hasUrl ? [] : ["--base-url is missing: the service's address."];
  const secrets = await readSecrets(input, missing, context);
  const { environment, baseUrl } = await context.profiles.check({ ...input, ...secrets });
  return { ...secrets, environment, baseUrl, name: input.name ?? environment };
}
