import type { Taken } from "../../callbacks/handle.ts";
import { readWhole } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { Failure, type FailureKind, usage } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { isLoopback, parseUrl, readUrl } from "../../domain/url.ts";
import { type CallbackEvent, eventLine, eventOf } from "./event.ts";
import { type Begun, begunCard, listenDetails } from "./listen-words.ts";

const usualPort = 4343;

/** What was begun, and then each callback; the last may say how it ended. */
type Told = { told: Begun | CallbackEvent; ending?: FailureKind | undefined };

export const callbackListen = defineCommand({
  name: "callback listen",
  summary: "Receive callbacks on this machine, verify each, and pass it on",
  details: listenDetails,
  examples: [
    {
      line: "lenden callback listen --forward-to http://127.0.0.1:3000/callback",
      says: `on port ${usualPort}, until Ctrl-C`,
    },
    {
      line: "lenden callback listen --poll",
      says: "without an address that the service can reach: it is asked instead",
    },
    {
      line: "lenden callback listen --poll --for TX8F3K2Q --timeout 5m",
      says: "waits until this payment has ended; exit 8 if that takes longer than five minutes",
    },
  ],
  flags: {
    port: flag.optional(
      "--port <n>",
      `The port on 127.0.0.1 (default ${usualPort}); 0 takes any free one`,
      readWhole(65_535),
    ),
    forwardTo: flag.optional("--forward-to <url>", "Where to pass each callback on to", readUrl),
    poll: flag.toggle(
      "--poll",
      "Ask the service about all that is Processing in the ledger; listens too only with --port",
    ),
    printJson: flag.toggle("--print-json", "Print one JSON document a line, as --json does", {
      sameAs: "json",
    }),
    once: flag.toggle("--once", "End after the first verified one"),
    for: flag.optional(
      "--for <transactionId>",
      "End when this payment is Completed or Cancelled, as the service has it",
      readIdentifier,
      "payment",
    ),
  },
  untilStopped: true,
  exits: ["internal", "access", "pending", "not-found", "cancelled", "unreachable"],
  async *run(given, context): AsyncIterable<Told> {
    const awaited = given.for === undefined ? undefined : await context.idOf("payment", given.for);
    const isWaiting = given.once || awaited !== undefined;
    const { openChannel } = await import("../../callbacks/channel.ts");
    const { openListening } = await import("./listening.ts");
    const channel = openChannel<Taken>();
    const port = given.port ?? (given.poll ? undefined : usualPort);
    if (port !== undefined && isSelf(given.forwardTo, port)) throw circle();
    const options = { port, forwardTo: given.forwardTo, isPolling: given.poll, awaited };
    const listening = await openListening(options, channel, context);
    const deadline = await endAtDeadline(channel.end, context);
    try {
      yield { told: { event: "listening", url: listening.url, pid: context.host.pid } };
      for await (const taken of channel) {
        const end = awaited === undefined ? endOfOnce(taken, given.once) : endOf(awaited, taken);
        yield { told: eventOf(taken), ending: end?.ending };
        if (end) return;
      }
      listening.check();
      if (isWaiting) throw nothingCame(awaited, context);
    } finally {
      deadline.abort();
      channel.end();
      await listening.close();
    }
  },
  view: ({ told }) => (told.event === "callback" ? eventLine(told) : begunCard(told)),
  json: ({ told }) => told,
  ending: ({ ending }) => ending,
});

function isSelf(forwardTo: string | undefined, port: number): boolean {
  const url = forwardTo === undefined ? undefined : parseUrl(forwardTo);
  return url !== undefined && isLoopback(url) && url.port === String(port);
}

function circle(): Failure {
  return usage(["--forward-to: this is where it listens itself; callbacks would go in a circle."]);
}

interface End {
  ending: FailureKind | undefined;
}

function endOfOnce({ verdict }: Taken, once: boolean): End | undefined {
  return once && verdict === "verified" ? { ending: undefined } : undefined;
}

/** Only what was retrieved ends the wait; what the callback claims does not matter. */
function endOf(awaited: string, { records }: Taken): End | undefined {
  const own = records.find(({ kind, id }) => kind === "payment" && id === awaited);
  if (own?.verified?.status === "Completed") return { ending: undefined };
  return own?.verified?.status === "Cancelled" ? { ending: "cancelled" } : undefined;
}

/** Ends the wait when the time of --timeout is over, or when somebody stops it. */
async function endAtDeadline(end: () => void, context: Context): Promise<AbortController> {
  const { host, stopping } = context;
  const { deadlineMs } = await context.world();
  const over = new AbortController();
  stopping.addEventListener("abort", end, { signal: over.signal, once: true });
  if (stopping.aborted) end();
  if (Number.isFinite(deadlineMs)) void host.sleep(deadlineMs - host.now(), over.signal).then(end);
  return over;
}

function nothingCame(awaited: string | undefined, { stopping }: Pick<Context, "stopping">) {
  const what = awaited === undefined ? "a verified callback came" : `${awaited} had ended`;
  if (stopping.aborted) return new Failure("interrupted", `Stopped before ${what}.`);
  return new Failure("pending", `The time ran out before ${what}.`, {
    hint: "Run it again to go on waiting; 'lenden callback list' shows what came.",
    ...(awaited === undefined ? {} : { operation: awaited }),
  });
}
