import * as z from "zod/mini";
import { systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import type { KeychainAnswer, KeychainQuestion } from "../platform/subprocesses/keychain.ts";
import type { SecretSource } from "./profiles.ts";
import type { Sourced } from "./settings.ts";

/** What is needed to run a program. */
interface Surroundings {
  env: Record<string, string | undefined>;
  /** Ends early when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** How long the run may still take, in milliseconds. */
  leftMs(): number;
}

/** The single-file binary has no program for the keychain. */
export interface KeychainSource extends Surroundings {
  keychain?: { program: string; args: string[] };
}

/** A person may have to unlock something first. */
const commandTimeoutMs = 60_000;
const keychainTimeoutMs = 3_000;
const maxPrintedBytes = 64 * 1024;

/**
 * Fetches a secret from the profile's file, from the keychain, or from a command, which runs without a shell
 * and prints the secret as its first line.
 */
export async function fetchSecret(
  { value, source }: Sourced<SecretSource>,
  around: KeychainSource,
): Promise<Sourced<string>> {
  if ("text" in value) return { value: value.text, source };
  if ("keychain" in value) {
    const secret = await createKeychain(around).read(value.keychain);
    return { value: secret, source: `the keychain entry of ${source}` };
  }
  const printed = await firstLineOf(value.command, around);
  return { value: printed, source: `the command of ${source}` };
}

async function firstLineOf(command: string, around: Surroundings): Promise<string> {
  const { parseArgsStringToArgv } = await import("string-argv");
  const [program = "", ...args] = parseArgsStringToArgv(command);
  const printed = await runProgram({ program, args, timeoutMs: commandTimeoutMs }, around);
  const line = "text" in printed ? (printed.text.split(/\r?\n/)[0]?.trim() ?? "") : "";
  if (line) return line;
  const why = "problem" in printed ? printed.problem : "its output is empty";
  throw new Failure(
    "secret.command-failed",
    `The program ${program} did not print a secret: ${why}.`,
    {
      hint: "Run the command yourself to see why. lenden runs it without a shell and reads the first line.",
    },
  );
}

const keychainAnswer: z.ZodMiniType<KeychainAnswer> = z.union([
  z.strictObject({ secret: z.string() }),
  z.strictObject({ done: z.literal(true) }),
  z.strictObject({ absent: z.literal(true) }),
  z.strictObject({ missing: z.string() }),
  z.strictObject({ refused: z.string() }),
]);

/**
 * The operating system's keychain. Its functions block, sometimes until a person types a password, so a
 * subprocess calls them (platform/subprocesses/keychain.ts) and is killed after three seconds.
 */
export function createKeychain({ keychain, ...around }: KeychainSource) {
  const ask = async (question: KeychainQuestion): Promise<KeychainAnswer> => {
    if (!keychain) return { missing: "this executable has no keychain; the npm package has it" };
    const call = { ...keychain, input: JSON.stringify(question), timeoutMs: keychainTimeoutMs };
    const printed = await runProgram(call, around);
    if ("problem" in printed) return { refused: printed.problem };
    const read = keychainAnswer.safeParse(jsonIn(printed.text)?.value);
    return read.success ? read.data : { refused: "invalid response" };
  };
  return {
    /** @throws Failure (exit 4) without the secret: also if the entry was deleted */
    read: async (entry: string): Promise<string> => {
      const answer = await ask({ wanted: "read", entry });
      if ("secret" in answer) return answer.secret;
      throw keychainFailure(answer, entry);
    },
    store: async (entry: string, secret: string): Promise<void> => {
      const answer = await ask({ wanted: "store", entry, secret });
      if (!("done" in answer)) throw keychainFailure(answer, entry);
    },
    /** False if there is no keychain; true also if there is no such entry. */
    remove: async (entry: string): Promise<boolean> => {
      const answer = await ask({ wanted: "remove", entry });
      if ("done" in answer || "absent" in answer) return true;
      if ("missing" in answer) return false;
      throw keychainFailure(answer, entry);
    },
  };
}

function keychainFailure(answer: KeychainAnswer, entry: string): Failure {
  if ("missing" in answer)
    return new Failure("keychain.unavailable", `Cannot reach a keychain (${answer.missing}).`, {
      hint: "Run lenden in a session with a keychain such as GNOME Keyring. Otherwise add the profile without --keychain, or with --key-command.",
    });
  if ("absent" in answer)
    return new Failure("keychain.no-entry", `The keychain has no entry ${entry}.`, {
      hint: "The entry was deleted. Store key and secret again with 'lenden profile rotate <name> --keychain'.",
    });
  const why = "refused" in answer ? answer.refused : "invalid response";
  return new Failure("keychain.failed", `The keychain failed (${why}).`, {
    hint: "Unlock the keychain, then run the same command again.",
  });
}

/** The program of one secret does not get the others. The URL of a ledger may contain a password. */
function withoutSecrets(env: Surroundings["env"]): Surroundings["env"] {
  const {
    LENDEN_API_KEY: _key,
    LENDEN_PAYOUT_SECRET: _secret,
    LENDEN_CALLBACK_SECRET: _callback,
    LENDEN_LEDGER_PASSWORD: _password,
    LENDEN_LEDGER_URL: _url,
    ...others
  } = env;
  return others;
}

interface ProgramCall {
  program: string;
  args: string[];
  /** For its standard input: other users can read arguments. */
  input?: string;
  timeoutMs: number;
}

/**
 * Runs a program without a shell and returns what it printed. Its stderr is ignored, because it may show
 * the secret. A program that takes too long or prints too much is killed.
 */
async function runProgram(
  { program, args, input = "", timeoutMs }: ProgramCall,
  { env, sleep, leftMs }: Surroundings,
): Promise<{ text: string } | { problem: string }> {
  if (program === "") return { problem: "no program is named" };
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: withoutSecrets(env),
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const ended = new AbortController();
    const end = (result: { text: string } | { problem: string }): void => {
      ended.abort();
      child.kill("SIGKILL");
      child.stdout.destroy();
      resolve(result);
    };
    const limitMs = Math.min(timeoutMs, leftMs());
    void sleep(limitMs, ended.signal).then(() =>
      end({ problem: `no response in ${Math.ceil(limitMs / 1000)} s` }),
    );
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxPrintedBytes) end({ problem: `more than ${maxPrintedBytes / 1024} KiB` });
    });
    child.on("error", (error) => end({ problem: systemReason(error) }));
    child.on("close", (code, signal) => {
      if (code === 0) end({ text: Buffer.concat(chunks).toString("utf8") });
      else end({ problem: signal ? `ended by ${signal}` : `exit code ${code}` });
    });
    child.stdin.on("error", () => {}).end(input); // a program need not read its input
  });
}
