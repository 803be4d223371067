import { readApiKey, readPayoutSecret } from "../../contract/keys.ts";
import type { Reading } from "../../contract/reading.ts";
import { usage } from "../../failure.ts";
import { defineCommand } from "../../frame/command.ts";
import { readWord } from "../../frame/common-flags.ts";
import type { Context, SecretSource } from "../../frame/context.ts";
import { argument, flag } from "../../frame/flag.ts";
import { readSmallText } from "../../frame/small-text.ts";
import { profileFlags, readProfileName } from "./flags.ts";
import { profileCard, shownProfile } from "./shown.ts";

export const profileAdd = defineCommand({
  name: "profile add",
  summary: "Keep an account's address, key and payout secret under a name",
  details:
    "A secret is never a flag: it comes from standard input, from a file, or from a command that prints it (run without a shell). With --key-stdin and --secret-stdin together, the key is the first line and the secret the second. The first profile becomes the one in use.",
  examples: [
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
      "A command that prints the API key, run when it is needed",
      readWord,
    ),
    secretCommand: flag.optional(
      "--secret-command <command>",
      "A command that prints the payout secret",
      readWord,
    ),
    ...profileFlags,
    replace: flag.toggle("--replace", "Replace a profile of this name"),
  },
  exits: ["access", "locked"],
  async run(input, context) {
    const { apiKey, payoutSecret } = await secretsOf(input, context);
    const { environment, baseUrl } = await context.profiles.check({ ...input, apiKey });
    const { redirectUrl, callbackUrl, method, numberFormat, confirmAbove } = input;
    const profile = {
      environment,
      baseUrl,
      apiKey,
      payoutSecret,
      redirectUrl,
      callbackUrl,
      method,
      numberFormat,
      confirmAbove,
    };
    const name = input.name ?? environment;
    await context.profiles.change((now) => {
      if (Object.hasOwn(now.profiles, name) && !input.replace) {
        throw usage(
          [`There already is a profile ${name}.`],
          "Choose another name, or add --replace.",
        );
      }
      return {
        ...now,
        current: now.current ?? name,
        profiles: { ...now.profiles, [name]: profile },
      };
    });
    return shownProfile(name, profile);
  },
  view: profileCard,
});

interface Sources {
  keyStdin: boolean;
  secretStdin: boolean;
  keyFile: string | undefined;
  secretFile: string | undefined;
  keyCommand: string | undefined;
  secretCommand: string | undefined;
}

/** The key and the secret from where the flags say; all that is wrong with them at once. */
async function secretsOf(
  given: Sources,
  { host }: Context,
): Promise<{ apiKey: SecretSource; payoutSecret: SecretSource | undefined }> {
  const problems = [
    ...tooMany("key", [given.keyStdin, given.keyFile, given.keyCommand]),
    ...tooMany("secret", [given.secretStdin, given.secretFile, given.secretCommand]),
  ];
  if (!given.keyStdin && !given.keyFile && !given.keyCommand) {
    problems.push("There is no API key: give --key-stdin, --key-file or --key-command.");
  }
  if (problems.length > 0) throw usage(problems);
  const lines =
    given.keyStdin || given.secretStdin
      ? (await readSmallText("-", "standard input", host)).split(/\r?\n/)
      : [];
  const key = given.keyStdin
    ? lines.shift()
    : given.keyFile && (await readSmallText(given.keyFile, "--key-file", host));
  const secret = given.secretStdin
    ? lines.shift()
    : given.secretFile && (await readSmallText(given.secretFile, "--secret-file", host));
  if (given.keyStdin && !key) problems.push("--key-stdin: standard input has no API key.");
  if (given.secretStdin && !secret)
    problems.push("--secret-stdin: standard input has no payout secret.");
  const apiKey = sourceOf(key, given.keyCommand, readApiKey, problems);
  const payoutSecret = sourceOf(secret, given.secretCommand, readPayoutSecret, problems);
  if (problems.length > 0 || !apiKey) throw usage(problems);
  return { apiKey, payoutSecret };
}

function tooMany(what: string, ways: (boolean | string | undefined)[]): string[] {
  return ways.filter(Boolean).length > 1
    ? [`Give one of --${what}-stdin, --${what}-file and --${what}-command, not several.`]
    : [];
}

function sourceOf(
  text: string | undefined,
  command: string | undefined,
  read: (text: string) => Reading<unknown>,
  problems: string[],
): SecretSource | undefined {
  if (command !== undefined) return { command };
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const reading = read(trimmed);
  if (!reading.ok) problems.push(reading.problem);
  return { text: trimmed };
}
