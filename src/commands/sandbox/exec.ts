import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Context, RunningSandbox } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { accepted } from "../../domain/reading.ts";
import type { Host } from "../../platform/host.ts";
import { sandboxFlags, sandboxOptions } from "./options.ts";

export const sandboxExec = defineCommand({
  name: "sandbox exec",
  summary: "Run a command against a local sandbox of its own",
  details:
    "It starts one on a free port, sets LENDEN_BASE_URL, LENDEN_API_KEY and LENDEN_PAYOUT_SECRET for the command, stops it afterwards, and exits with the command's own code. Nothing of it stays, unless --data keeps it. The command gets a temporary ledger, unless LENDEN_DATA_DIR is set. 'lenden help faults' has the kinds of faults.",
  examples: [
    { line: "lenden sandbox exec -- lenden methods", says: "one command" },
    { line: "lenden sandbox exec --auto-complete 1s -- npm test", says: "your own tests, in CI" },
  ],
  arguments: {
    command: argument.rest("command", "The command and its arguments, after --", accepted<string>),
  },
  flags: sandboxFlags,
  async run({ command, ...given }, context) {
    const [program, ...args] = command;
    if (program === undefined) {
      throw new Failure("usage", "There is no command to run.", {
        hint: "Write it after --: lenden sandbox exec -- npm test",
      });
    }
    const { host } = context;
    const sandbox = await context.startSandbox(sandboxOptions(given, { port: 0, now: host.now }));
    try {
      return await withDataDir(context, (dataDir) =>
        runCommand({ program, args }, environmentFor(sandbox, host, dataDir), host),
      );
    } finally {
      await sandbox.close();
    }
  },
  ending: (code) => code,
});

/** Runs it with our streams, passes signals on, and returns its exit code as a shell would. */
async function runCommand(
  { program, args }: { program: string; args: string[] },
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
      // A terminal sends Ctrl-C to the command as well, and two would mean "leave at once".
      if (signal !== "SIGINT" || host.stdin.isTTY !== true) child.kill(signal);
    });
    child.on("error", (error) => {
      stopListening();
      reject(notRunnable(program, error));
    });
    child.on("exit", (code, signal) => {
      stopListening();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** The account is the sandbox's alone: no profile, and no proxy in between. */
function environmentFor(
  sandbox: RunningSandbox,
  { env }: Host,
  dataDir: string,
): Record<string, string | undefined> {
  const { LENDEN_PROFILE: _, ...others } = env;
  return {
    ...others,
    LENDEN_BASE_URL: sandbox.baseUrl,
    LENDEN_API_KEY: sandbox.apiKey,
    LENDEN_PAYOUT_SECRET: sandbox.payoutSecret,
    LENDEN_DATA_DIR: dataDir,
  };
}

/**
 * Runs something with the data directory that the user has set, or else with a temporary one: a test
 * must not leave its operations in the user's own ledger.
 */
async function withDataDir<Result>(
  { host, notice }: Context,
  work: (dataDir: string) => Promise<Result>,
): Promise<Result> {
  if (host.env.LENDEN_DATA_DIR !== undefined) return work(host.env.LENDEN_DATA_DIR);
  const dataDir = mkdtempSync(join(tmpdir(), "lenden-sandbox-"));
  try {
    return await work(dataDir);
  } finally {
    try {
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      const code = errorCode(error) ?? "unknown";
      notice(`Cannot remove the temporary directory ${dataDir} (${code}).`);
    }
  }
}

function notRunnable(program: string, error: Error): Failure {
  const code = errorCode(error) ?? "unknown";
  return new Failure("usage", `The command ${program} cannot be run (${code}).`, {
    hint: "Is it installed, and on the PATH?",
  });
}
