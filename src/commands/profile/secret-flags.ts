import { readWord } from "../../cli/command/common-flags.ts";
import type { Context, SecretSource } from "../../cli/command/context.ts";
import { flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { usage } from "../../domain/failure.ts";
import type { Reading } from "../../domain/reading.ts";

/** Where the key and the secret come from: never from a flag itself, which others could read. */
export const secretFlags = {
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
  keychain: flag.toggle(
    "--keychain",
    "Keep them in the operating system's keychain, not in the profile's file",
  ),
};

export interface SecretInput {
  keyStdin: boolean;
  secretStdin: boolean;
  keyFile: string | undefined;
  secretFile: string | undefined;
  keyCommand: string | undefined;
  secretCommand: string | undefined;
  keychain: boolean;
}

export interface Secrets {
  apiKey: SecretSource;
  payoutSecret: SecretSource | undefined;
}

/** Whether any flag says where a secret comes from: then nobody is asked for one. */
export function namesSource(given: SecretInput): boolean {
  const { keyStdin, keyFile, keyCommand, secretStdin, secretFile, secretCommand } = given;
  return [keyStdin, keyFile, keyCommand, secretStdin, secretFile, secretCommand].some(Boolean);
}

/**
 * The key and the secret from where the flags say.
 *
 * @param missing what else is, to be said together with what is wrong here
 * @throws Failure `usage` with all that is wrong with them
 */
export async function readSecrets(
  given: SecretInput,
  missing: string[],
  { host }: Context,
): Promise<Secrets> {
  const problems = contradictions(given);
  if (problems.length > 0) throw usage([...problems, ...missing]);
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

function contradictions(given: SecretInput): string[] {
  const { keyStdin, keyFile, keyCommand, secretStdin, secretFile, secretCommand } = given;
  const problems = [
    ...tooMany("key", [keyStdin, keyFile, keyCommand]),
    ...tooMany("secret", [secretStdin, secretFile, secretCommand]),
  ];
  if (!keyStdin && !keyFile && !keyCommand)
    problems.push("There is no API key: give --key-stdin, --key-file or --key-command.");
  if (given.keychain && keyCommand && !secretStdin && !secretFile)
    problems.push("--keychain: there is nothing to keep in it, for a command keeps its own.");
  return problems;
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
