import { readText } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/define-command.ts";
import { flag, type Input } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import type { Credentials } from "../../config/profile.ts";
import type { SecretSource } from "../../config/profiles.ts";
import { readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { err, type Result } from "../../domain/result.ts";

/** No flag takes a secret itself: other users could read it. */
export const credentialFlags = {
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
};

type Given = Input<typeof credentialFlags>;

/** What is wrong with a command line. If it is one file alone, its failure has the better hint. */
export interface CredentialProblems {
  problems: string[];
  failures: Failure[];
}

/** True if the command line says where the key or the secret comes from; otherwise a terminal asks. */
export function namesSource(given: Given): boolean {
  return waysOf("key", given).length + waysOf("secret", given).length > 0;
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

/** Reads what the flags name. */
export async function readCredentials(
  given: Given,
  { problems, failures }: CredentialProblems,
  { host }: Pick<Context, "host">,
): Promise<Credentials> {
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
  if (
    given.keychain &&
    (apiKey || payoutSecret) &&
    [apiKey, payoutSecret].every((one) => !one || "command" in one)
  )
    problems.push("--keychain: there is no secret to store, because commands print them.");
  return { apiKey, payoutSecret };
}

export const noKeyGiven = "No API key is given: use --key-stdin, --key-file or --key-command.";

/** @throws Failure `usage` with all problems, or that of the one file that cannot be read */
export function rejectProblems({ problems, failures }: CredentialProblems, command: string): void {
  if (failures[0] && problems.length === 1) throw failures[0];
  if (problems.length > 0) throw usage(problems, `For all flags, run 'lenden ${command} --help'.`);
}
