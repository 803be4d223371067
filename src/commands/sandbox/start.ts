import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import {
  callbackFaultKinds,
  faultRules,
  readCallbackFault,
  readFault,
} from "../../api/contract/fault.ts";
import { readText, readWhole } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, takes } from "../../cli/command/flag.ts";
import { createScrubber } from "../../cli/output/scrub.ts";
import { readDuration } from "../../cli/output/time.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { isLoopback, isSameServer, parseUrl, readUrl } from "../../domain/url.ts";
import type { Host } from "../../platform/host.ts";
import type { RunningSandbox } from "../../sandbox/server.ts";
import { exchangeText } from "./exchanges.ts";

const mostLatencyMs = 600_000;

/** The flags of `sandbox start` and `sandbox exec`: the options of a sandbox. */
const sandboxFlags = (usualPort: number) => ({
  port: flag.optional(
    "--port <n>",
    `Port on 127.0.0.1; 0 for any free one (default: ${usualPort})`,
    readWhole(65_535),
  ),
  dataFile: flag.optional(
    "--data <file>",
    "File to store the data in (default: in memory)",
    readText,
    "file",
  ),
  autoCompleteMs: flag.optional(
    "--auto-complete <duration>",
    "Complete Processing records after this time",
    readDuration,
  ),
  latencyMs: flag.optional("--latency <duration>", "Delay of each response", readLatency),
  faults: flag.many(
    "--fault <rule>",
    "Make requests fail: <endpoint>:<kind>[:<rate>]",
    takes(faultRules, readFault),
  ),
  callbackFaults: flag.many(
    "--callback-fault <rule>",
    "Make callbacks fail: <kind>[:<rate>]",
    takes(Object.keys(callbackFaultKinds), readCallbackFault),
  ),
  refundCallbackUrl: flag.optional(
    "--refund-callback-url <url>",
    "URL for refund callbacks; payments have their own",
    readUrl,
  ),
  seed: flag.optional(
    "--seed <n>",
    "Seed: the same number gives the same IDs and faults",
    readWhole(2 ** 32),
  ),
});

function readLatency(text: string): Result<number> {
  const reading = readDuration(text);
  return reading.ok && reading.value > mostLatencyMs
    ? err("The duration is too long: at most 10m.")
    : reading;
}

const usualPort = 4242;
const profileName = "local";

export const sandboxStart = defineCommand({
  description: `Runs a copy of the API on this machine, and creates the profile '${profileName}' for it. On its payment page, you can pay or decline. Status changes are sent as callbacks. 'lenden help faults' lists the rules of --fault.`,
  examples: {
    "Start, then use --profile local in another terminal": "lenden sandbox start",
    "Start on any free port, and print one line of JSON": "lenden sandbox start --port 0 --json",
  },
  flags: sandboxFlags(usualPort),
  mode: "serve",
  showsSecrets: true,

  async *run(given, context) {
    const { host, stopping } = context;
    const { startSandbox } = await import("../../sandbox/server.ts");
    const { log } = context.ui;
    const scrubber = createScrubber();
    const sandbox = await startSandbox({
      ...given,
      port: given.port ?? usualPort,
      now: host.now,
      onExchange: log && ((exchange) => log(shortened(scrubber.scrub(exchangeText(exchange))))),
    });
    for (const secret of [sandbox.apiKey, sandbox.payoutSecret]) scrubber.learn(secret);
    try {
      await writeProfile(sandbox, context);
      const { baseUrl, apiKey, payoutSecret } = sandbox;
      yield { baseUrl, apiKey, payoutSecret, pid: host.pid };
      if (!stopping.aborted) await once(stopping, "abort");
    } finally {
      await sandbox.close();
    }
  },
  output: ({ z, text, count, each, warnings }) =>
    z.strictObject({ ...each(text, "baseUrl apiKey payoutSecret"), pid: count, warnings }),
  view: (running) =>
    card("Local sandbox running (press Ctrl-C to stop)", running.baseUrl, [
      field("baseUrl", "Base URL", text(running.baseUrl)),
      field("apiKey", "API key", text(running.apiKey)),
      field("payoutSecret", "Payout secret", text(running.payoutSecret)),
      field("pid", "Process", text(running.pid)),
    ]),
});

const longestLine = 200;

/** A path can be as long as its sender likes. */
function shortened(line: string): string {
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** Writes the profile, but not over one of the same name for another account. */
async function writeProfile(
  { baseUrl, apiKey, payoutSecret }: RunningSandbox,
  { config: { profiles }, ui: { notice } }: Context,
): Promise<void> {
  const before = (await profiles.read()).profiles[profileName];
  const url = before && parseUrl(before.baseUrl);
  if (before && (before.environment !== "sandbox" || !url || !isLoopback(url)))
    return notice(`Profile ${profileName} belongs to another account and was not changed.`);
  const isSameAccount = before?.apiKey && "text" in before.apiKey && before.apiKey.text === apiKey;
  if (before && !isSameAccount && !isSameServer(before.baseUrl, baseUrl))
    notice(
      `Profile ${profileName} now uses this sandbox, not the one at ${before.baseUrl}. To use both, add that one under another name: 'lenden profile add other --base-url ${before.baseUrl} --key-stdin'.`,
    );
  const local = {
    ...before,
    environment: "sandbox" as const,
    baseUrl,
    apiKey: { text: apiKey },
    payoutSecret: { text: payoutSecret },
  };
  await profiles.change((now) => ({
    ...now,
    current: now.current ?? profileName,
    profiles: { ...now.profiles, [profileName]: local },
  }));
  notice(`Profile ${profileName} is ready. Try 'lenden methods --profile ${profileName}'.`);
}

export const sandboxExec = defineCommand({
  description:
    "The program gets the sandbox's URL, API key and payout secret as environment variables. lenden exits with the program's exit code. Without --data, the records are temporary. Without LENDEN_DATA_DIR, the ledger is temporary too.",
  examples: {
    "Run one command": "lenden sandbox exec -- lenden methods",
    "Run your tests in CI": "lenden sandbox exec --auto-complete 1s -- npm test",
  },
  arguments: {
    command: argument.rest("command", "Program and its arguments, after --", ok<string>),
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
    const sandbox = await startSandbox({ ...given, now: host.now });
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
