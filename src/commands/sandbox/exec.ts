import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import type { Host } from "../../platform/host.ts";
import { sandboxFlags, sandboxOptions } from "./options.ts";

export const sandboxExec = defineCommand({
  description:
    "The command gets the sandbox's URL, API key and payout secret in its environment. lenden exits with its code. Records are temporary without --data, and so is the ledger without LENDEN_DATA_DIR.",
  examples: {
    "Run one command": "lenden sandbox exec -- lenden methods",
    "Run your tests in CI": "lenden sandbox exec --auto-complete 1s -- npm test",
  },
  arguments: {
    command: argument.rest("command", "Command and its arguments, after --", ok<string>),
  },
  flags: sandboxFlags(0),
  sameFlagsAs: "sandbox start",
  async run({ command: [program, ...args], ...given }, context) {
    const { host } = context;
    if (program === undefined) {
      throw new Failure("sandbox.no-command", "The command to run is missing.", {
        hint: "Write the command after --, for example 'lenden sandbox exec -- npm test'.",
      });
    }
    const { startSandbox } = await import("../../sandbox/server.ts");
    const sandbox = await startSandbox(sandboxOptions(given, { port: 0, now: host.now }));
    try {
      return await withDataDirectory(context, (dataDirectory) => {
        // Only the sandbox's account: no profile.
        const env = {
          ...host.env,
          LENDEN_PROFILE: undefined,
          LENDEN_BASE_URL: sandbox.baseUrl,
          LENDEN_API_KEY: sandbox.apiKey,
          LENDEN_PAYOUT_SECRET: sandbox.payoutSecret,
          LENDEN_DATA_DIR: dataDirectory,
        };
        return runCommand(program, args, env, host);
      });
    } finally {
      await sandbox.close();
    }
  },
  ending: (code) => code,
});

/** Runs it with our streams, forwards signals, and returns its exit code as a shell would. */
async function runCommand(
  program: string,
  args: string[],
  env: Record<string, string | undefined>,
  host: Host,
): Promise<number> {
  const { spawn } = await import("node:child_process");
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
      const message = `Cannot run the command ${program}: ${systemReason(error)}.`;
      const hint = "Check that the program is installed and on the PATH.";
      reject(new Failure("sandbox.command-not-run", message, { hint }));
    });
    child.on("exit", (code, signal) => {
      stopListening();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** In LENDEN_DATA_DIR, or else in a temporary directory: a test must not write the user's own ledger. */
async function withDataDirectory<Result>(
  { host, ui }: Context,
  work: (dataDirectory: string) => Promise<Result>,
): Promise<Result> {
  if (host.env.LENDEN_DATA_DIR !== undefined) return work(host.env.LENDEN_DATA_DIR);
  const temporary = mkdtempSync(join(tmpdir(), "lenden-sandbox-"));
  try {
    return await work(temporary);
  } finally {
    try {
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      ui.notice(`Cannot remove the temporary directory ${temporary}: ${systemReason(error)}.`);
    }
  }
}
