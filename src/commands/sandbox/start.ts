import type { Context, RunningSandbox } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { isLoopback, parseUrl } from "../../domain/url.ts";
import { sandboxFlags, sandboxOptions } from "./options.ts";

const usualPort = 4242;
const profileName = "local";

/** The sandbox's own choices that a merchant meets first. */
const paymentsAndCallbacks =
  "The payment_url of a payment opens a page to pay or decline on; it then leads to the redirect URL, with transactionId and status in the query. When a payment or a refund is Completed or Cancelled, the record is posted to its callback URL, as JSON and unsigned. What is not answered with 2xx within 10 seconds is sent again after 1, 2, 4, 8, 16 and 32 seconds, until the sandbox stops. 'lenden sandbox requests' shows every try.";

export const sandboxStart = defineCommand({
  name: "sandbox start",
  summary: "Run the service's local sandbox on this machine until Ctrl-C",
  details: `It behaves as the service's interface says; where that is silent it makes a choice of its own, and /openapi.json says which. It writes the profile '${profileName}'. 'lenden help faults' has the kinds of faults.\n\n${paymentsAndCallbacks}`,
  examples: [
    {
      line: "lenden sandbox start",
      says: `on port ${usualPort}; then 'lenden methods --profile local' elsewhere`,
    },
    {
      line: "lenden sandbox start --port 0 --json",
      says: "any free port; one line of JSON once it accepts requests",
    },
    {
      line: "lenden sandbox start --auto-complete 2s --fault createPayout:lost-reply:0.3",
      says: "loses three in ten answers",
    },
    {
      line: "lenden sandbox start --refund-callback-url http://127.0.0.1:3000/callback --callback-fault duplicated:0.5",
      says: "tells of refunds too, and of every second record twice",
    },
  ],
  flags: sandboxFlags,
  untilStopped: true,
  exits: ["internal"],
  async *run(given, context) {
    const { host, stopping } = context;
    const sandbox = await context.startSandbox(
      sandboxOptions(given, { port: usualPort, now: host.now }),
    );
    try {
      await writeProfile(sandbox, context);
      const { baseUrl, apiKey, payoutSecret } = sandbox;
      yield { baseUrl, apiKey, payoutSecret, pid: host.pid };
      await stopped(stopping);
    } finally {
      await sandbox.close();
    }
  },
  view: (running) =>
    card("Local sandbox, until Ctrl-C", running.baseUrl, [
      field("baseUrl", "Base URL", text(running.baseUrl)),
      field("apiKey", "API key", text(running.apiKey)),
      field("payoutSecret", "Payout secret", text(running.payoutSecret)),
      field("pid", "Process", text(running.pid)),
    ]),
});

/** The profile `local`; never over one of that name which is somebody's real account. */
async function writeProfile(
  { baseUrl, apiKey, payoutSecret }: RunningSandbox,
  context: Context,
): Promise<void> {
  const before = (await context.profiles.read()).profiles[profileName];
  const url = before && parseUrl(before.baseUrl);
  if (before && (before.environment !== "sandbox" || !url || !isLoopback(url))) {
    return context.notice(`Profile ${profileName} is another account; it was left as it is.`);
  }
  const local = {
    ...before,
    environment: "sandbox" as const,
    baseUrl,
    apiKey: { text: apiKey },
    payoutSecret: { text: payoutSecret },
  };
  await context.profiles.change((now) => ({
    ...now,
    current: now.current ?? profileName,
    profiles: { ...now.profiles, [profileName]: local },
  }));
  context.notice(`Profile ${profileName} is ready: try 'lenden methods --profile ${profileName}'.`);
}

function stopped(stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) resolve();
    stopping.addEventListener("abort", () => resolve(), { once: true });
  });
}
