import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { createScrubber } from "../../cli/output/scrub.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { isLoopback, isSameServer, parseUrl } from "../../domain/url.ts";
import type { RunningSandbox } from "../../sandbox/server.ts";
import { exchangeText } from "./exchanges.ts";
import { sandboxFlags, sandboxOptions } from "./options.ts";

const usualPort = 4242;
const profileName = "local";

export const sandboxStart = defineCommand({
  description: `Runs the API on this machine and writes the profile '${profileName}'. On the payment page you pay or decline. Status changes are sent as callbacks. 'lenden help faults' lists the faults.`,
  examples: {
    "Start on port 4242, and use --profile local in another terminal": "lenden sandbox start",
    "Start on any free port, and print one line of JSON": "lenden sandbox start --port 0 --json",
  },
  flags: sandboxFlags(usualPort),
  exitCodes: { locked: "another sandbox uses the file of --data" },
  untilStopped: true,
  showsSecrets: true,

  async *run(given, context) {
    const { host, stopping } = context;
    const { startSandbox } = await import("../../sandbox/server.ts");
    const { log } = context.ui;
    const scrubber = createScrubber();
    const sandbox = await startSandbox({
      ...sandboxOptions(given, { port: usualPort, now: host.now }),
      onExchange: log && ((exchange) => log(shortened(scrubber.scrub(exchangeText(exchange))))),
    });
    for (const secret of [sandbox.apiKey, sandbox.payoutSecret]) scrubber.learn(secret);
    try {
      await writeProfile(sandbox, context);
      const { baseUrl, apiKey, payoutSecret } = sandbox;
      yield { baseUrl, apiKey, payoutSecret, pid: host.pid };
      await new Promise<void>((resolve) => {
        if (stopping.aborted) resolve();
        stopping.addEventListener("abort", () => resolve(), { once: true });
      });
    } finally {
      await sandbox.close();
    }
  },
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
