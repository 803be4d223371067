import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { constants } from "node:os";
import { systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { temporaryDirectory } from "../platform/files.ts";
import type { Host } from "../platform/host.ts";
import type { RunningSandbox } from "./server.ts";

/** What a program needs to use a sandbox, and no profile. */
export function environmentFor(
  { baseUrl, apiKey, payoutSecret }: Pick<RunningSandbox, "baseUrl" | "apiKey" | "payoutSecret">,
  env: Host["env"],
  dataDirectory: string,
): Host["env"] {
  return {
    ...env,
    LENDEN_PROFILE: undefined,
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: apiKey,
    LENDEN_PAYOUT_SECRET: payoutSecret,
    LENDEN_DATA_DIR: dataDirectory,
  };
}

/** The error of a program that cannot be started. */
export function notRun(program: string, error: unknown): Failure {
  const message = `Cannot run the command ${program}: ${systemReason(error)}.`;
  const hint = "Check that the program is installed and on the PATH.";
  return new Failure("sandbox.command-not-run", message, { hint });
}

/** Runs a program with the account of a sandbox and no profile. @returns its exit code */
export function runWith(
  sandbox: RunningSandbox,
  [program, ...args]: [string, ...string[]],
  host: Host,
  notice: (text: string) => void,
): Promise<number> {
  return withDataDirectory(host.env, notice, (dataDirectory) => {
    const env = environmentFor(sandbox, host.env, dataDirectory);
    return runCommand(program, args, env, host);
  });
}

/** Runs it with our streams, forwards signals, and returns its exit code as a shell would. */
function runCommand(
  program: string,
  args: string[],
  env: Record<string, string | undefined>,
  host: Host,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env });
    let signals = 0;
    const stopListening = host.onSignal((signal) => {
      signals += 1;
      if (signals > 2) child.kill("SIGKILL");
      // A terminal sends Ctrl-C to the command as well, and two would mean "stop at once".
      if (signal !== "SIGINT" || host.stdin.isTTY !== true) child.kill(signal);
    });
    child.on("error", (error) => {
      stopListening();
      reject(notRun(program, error));
    });
    child.on("exit", (code, signal) => {
      stopListening();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** In LENDEN_DATA_DIR, or else in a temporary directory: a test must not write the user's own ledger. */
async function withDataDirectory<Result>(
  env: Host["env"],
  notice: (text: string) => void,
  work: (dataDirectory: string) => Promise<Result>,
): Promise<Result> {
  if (env.LENDEN_DATA_DIR !== undefined) return work(env.LENDEN_DATA_DIR);
  const temporary = temporaryDirectory("sandbox");
  try {
    return await work(temporary);
  } finally {
    try {
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      notice(`Cannot remove the temporary directory ${temporary}: ${systemReason(error)}.`);
    }
  }
}
