import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { Failure } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { sandboxFlags } from "./options.ts";

export const sandboxExec = defineCommand({
  description:
    "The program gets the sandbox's URL, API key and payout secret as environment variables. lenden exits with the program's exit code. Without --data and LENDEN_DATA_DIR, records and ledger are temporary.",
  examples: {
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
