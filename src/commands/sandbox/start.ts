import { once } from "node:events";
import { defineCommand } from "../../cli/command/define-command.ts";
import { createScrubber } from "../../cli/output/scrub.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { exchangeText } from "../../sandbox/exchange-text.ts";
import { sandboxFlags } from "./options.ts";

const usualPort = 4242;
const profileName = "local";

export const sandboxStart = defineCommand({
  description: `Runs a copy of the API on this machine, and creates the profile '${profileName}' for it. A payment page and callbacks are included. 'lenden help faults' lists the rules of --fault.`,
  examples: {
    "Start, then use --profile local in another terminal": "lenden sandbox start",
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
