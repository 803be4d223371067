import { once } from "node:events";
import {
  callbackFaultKinds,
  faultRules,
  readCallbackFault,
  readFault,
} from "../../api/contract/fault.ts";
import { readText, readWhole } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, takes } from "../../cli/command/flag.ts";
import { createScrubber } from "../../cli/output/scrub.ts";
import { readDuration } from "../../cli/output/time.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { Failure } from "../../domain/failure.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { readUrl } from "../../domain/url.ts";
import { exchangeText } from "../../sandbox/exchange-text.ts";

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
      const { storeLocalProfile } = await import("../../config/local-profile.ts");
      await storeLocalProfile(profileName, sandbox, context.config.profiles, context.ui.notice);
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
    const { runWith } = await import("../../sandbox/run-with.ts");
    const { startSandbox } = await import("../../sandbox/server.ts");
    const sandbox = await startSandbox({ ...given, now: host.now });
    try {
      return await runWith(sandbox, [program, ...args], host, context.ui.notice);
    } finally {
      await sandbox.close();
    }
  },
  ending: (code) => code,
});
