import { readText } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/define-command.ts";
import { flag, type Input } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import type { Ask } from "../../cli/terminal/ask.ts";
import type { Account } from "../../config/account.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import { type Environment, readApiKey, readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure, usage, whatHappened } from "../../domain/failure.ts";
import { err, problemOf, type Result } from "../../domain/result.ts";
import { counted } from "../../domain/text.ts";

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

/** A key and a payout secret; an absent one was not given. */
export interface Credentials {
  apiKey: SecretSource | undefined;
  payoutSecret: SecretSource | undefined;
}

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

interface Replacing {
  /** The profile that keeps what is not typed. */
  before: Profile | undefined;
  /** The environment that the key must be of. */
  required: Environment | undefined;
  /** True if a profile is replaced, perhaps one that is named later. */
  replaces: boolean;
}

/**
 * Asks for key and secret. Nothing is stored here: to leave at any question changes nothing.
 */
export async function askCredentials(
  ask: Ask,
  { before, required, replaces }: Replacing,
  { ui }: Pick<Context, "ui">,
): Promise<Credentials> {
  ui.notice("Find both in the merchant dashboard: Settings → Development Info.");
  ui.notice("Nothing is stored before the last answer. To stop, press Ctrl-C.");
  const keeps = before?.apiKey ? " (Enter keeps the stored one)" : "";
  const typedKey = await ask.secret(`API key${keeps}:`, (text) => {
    if (keeps !== "" && text.trim() === "") return undefined;
    const read = readApiKey(text.trim());
    if (!read.ok) return read.problem;
    const { environment } = read.value;
    if (required === undefined || environment === required) return undefined;
    return before
      ? `This is a ${environment} key, but the profile is for ${required}.`
      : `This is a ${environment} key, but --environment is ${required}.`;
  });
  const key = readApiKey(typedKey.trim());
  if (key.ok) ui.notice(`This is a ${key.value.environment} key.`);
  const keepsSecret = before ? before.payoutSecret !== undefined : replaces;
  const skips = keepsSecret ? "Enter keeps the stored one" : "Enter skips it";
  const typedSecret = await ask.secret(`Payout secret (only for payouts; ${skips}):`, (text) =>
    text.trim() === "" ? undefined : problemOf(readPayoutSecret(text.trim())),
  );
  const payoutSecret = typedSecret.trim();
  return {
    apiKey: key.ok ? { text: key.value.text } : undefined,
    payoutSecret: payoutSecret === "" ? undefined : { text: payoutSecret },
  };
}

/** Where a dialogue stores what is typed. */
export function whereStored(keychain: boolean, { config, host }: Context): string {
  const file = `${config.profiles.file}${host.platform === "win32" ? "" : " (mode 0600)"}`;
  return keychain
    ? `API key and payout secret will be stored in this system's keychain, the settings in ${file}.`
    : `API key and payout secret will be stored in ${file}. To use this system's keychain, add --keychain.`;
}

/** Makes one request with a key. @throws Failure if the API does not accept it */
export async function testKey(
  account: Account,
  { api, ui }: Pick<Context, "api" | "ui">,
): Promise<void> {
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await api.depsOf(account, "");
  const { length } = dataOf(await client.listMethods({}));
  ui.notice(`The API accepts this key. The account has ${counted(length, "payment method")}.`);
}

/**
 * Tests a key before it is stored.
 *
 * @param effect what did not happen, as a sentence
 * @param untested how to store the key without this test, as a sentence
 * @throws Failure that says so, unless the API accepts the key
 */
export async function requireAccepted(
  account: Account,
  { effect, untested }: { effect: string; untested: string },
  context: Context,
): Promise<void> {
  try {
    await testKey(account, context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const hint =
      error.kind === "access"
        ? "Copy the key again. Unless the API is a local sandbox, also allow this machine's IP address in the merchant dashboard (Settings → Development Info)."
        : `${error.details.hint ?? ""} ${untested}`.trim();
    throw new Failure(error.reason, `${whatHappened(error)} ${effect}`, { ...error.details, hint });
  }
}
