import { EventEmitter, on } from "node:events";
import type { Handler } from "../../callbacks/forward.ts";
import type { Handled } from "../../callbacks/handle.ts";
import type { Watched } from "../../callbacks/poll.ts";
import { readWhole } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand, type Ending } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { Failure } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { formatTime } from "../../domain/local-time.ts";
import { workerText } from "../../domain/person.ts";
import { hasEnded, resources } from "../../domain/statuses.ts";
import { isLoopback, parseUrl } from "../../domain/url.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import {
  type CallbackEvent,
  eventLine,
  eventOf,
  eventOutput,
  forwardingFlags,
  handlingFor,
  openHandler,
} from "./callbacks.ts";

const usualPort = 4343;
const retryPauseMs = 5_000;
/** So many of each kind are polled; older ones are updated by `list --refresh`. */
const mostPolled = 200;

const description =
  "Receives callbacks (webhooks) on 127.0.0.1, through a tunnel or your reverse proxy. Each callback is stored and compared with the API's record. Your handler gets the same body, and signed headers with the result: trust only these headers (docs/callbacks.md).";

/** The first line of a listener. The URL is null if it only polls; a secret is shown if it is new. */
interface Started {
  event: "listening";
  url: string | null;
  pid: number;
  secret?: string;
}

/** The start, and then each callback; the last one decides how the command ends. */
type Shown = { shown: Started | CallbackEvent; ending?: Ending };

export const callbackListen = defineCommand({
  description,
  examples: {
    "Forward callbacks to your handler, until Ctrl-C":
      "lenden callback listen --forward-to http://127.0.0.1:3000/callback",
    "Poll the API, if it cannot reach this machine": "lenden callback listen --poll",
  },
  flags: {
    port: flag.optional(
      "--port <n>",
      `Port on 127.0.0.1; 0 for any free one (default: ${usualPort})`,
      readWhole(65_535),
    ),
    ...forwardingFlags,
    poll: flag.toggle("--poll", "Poll the API instead of listening; add --port to do both"),
    printJson: flag.toggle("--print-json", "Print one JSON document per line", { sameAs: "json" }),
    once: flag.toggle("--once", "End after the first verified callback", { unless: "for" }),
    for: flag.optional(
      "--for <transaction-id>",
      "End when this payment is Completed or Cancelled",
      readIdentifier,
      "payment",
    ),
  },
  mode: "serve",
  exitCodes: {
    conflict: "--for: the record differs from what was requested",
    pending: "--for: still Processing when --timeout elapsed",
    "not-found": "--for: the API does not know this payment",
    cancelled: "--for: the payment is Cancelled",
  },
  async *run(given, context): AsyncIterable<Shown> {
    const awaited =
      given.for === undefined ? undefined : await context.ledger.idOf("payment", given.for);
    const port = given.port ?? (given.poll ? undefined : usualPort);
    if (port !== undefined) rejectCircle(given.forwardTo, port);
    await claimListening(context);
    const { handler, newSecret } = await openHandler(given, context);
    const events = new EventEmitter();
    const results: AsyncIterable<Handled[]> = on(events, "handled", { close: ["end"] });
    const listening = await startListening({ ...given, port, handler, awaited }, events, context);
    const end = () => void events.emit("end");
    context.cutOff.addEventListener("abort", end, { once: true });
    if (context.cutOff.aborted) end();
    try {
      const { url } = listening;
      const secret = newSecret === undefined ? {} : { secret: newSecret };
      yield { shown: { event: "listening", url, pid: context.host.pid, ...secret } };
      for await (const [handled] of results) {
        if (!handled) continue;
        const ended = endedStatus(awaited, handled);
        const cancelled = ended === "Cancelled" ? "cancelled" : undefined;
        const ending = ended === undefined ? undefined : (handled.conflict ?? cancelled);
        yield { shown: eventOf(handled), ending };
        const isFirst = given.once && awaited === undefined && handled.verdict === "verified";
        if (ended || isFirst) return;
      }
      listening.check();
      if (given.once || awaited !== undefined) throw nothingArrived(awaited, context);
    } finally {
      await listening.close();
    }
  },
  output: (schema) => {
    const { z, text, textOrNull, count, warnings } = schema;
    return z.union([
      eventOutput(schema),
      z.strictObject({
        event: z.literal("listening"),
        url: textOrNull,
        pid: count,
        secret: z.optional(text),
        warnings,
      }),
    ]);
  },
  view: ({ shown }) => (shown.event === "callback" ? eventLine(shown) : startedCard(shown)),
  json: ({ shown }) => shown,
  ending: ({ ending }) => ending,
});

function startedCard({ url, pid, secret }: Started) {
  const [create, start] = ["lenden pay create --callback-url", "lenden sandbox start"];
  const uses = [
    field("payments", "Payments", text(`${create} ${url}/ …, or your tunnel's URL`)),
    field("refunds", "Refunds", text(`${start} --refund-callback-url ${url}/, or your dashboard`)),
  ];
  return card("Listening for callbacks (press Ctrl-C to stop)", url ?? "", [
    field("url", "Listening on", text(url)),
    ...(url === null ? [] : uses),
    ...(secret === undefined ? [] : [field("secret", "Signing secret", text(secret))]),
    field("pid", "Process", text(pid)),
  ]);
}

function rejectCircle(forwardTo: string | undefined, port: number): void {
  const url = forwardTo === undefined ? undefined : parseUrl(forwardTo);
  if (!url || !isLoopback(url) || url.port !== String(port)) return;
  const message = "--forward-to is the URL of the listener itself.";
  const hint = "Use the URL of your handler, for example http://127.0.0.1:3000/callback.";
  throw new Failure("callback.forwards-to-itself", message, { hint });
}

/** @throws Failure `callback.listener-running` if another process listens for this account */
async function claimListening(context: Context): Promise<void> {
  const other = await (await context.ledger.own()).callbacks.listen();
  if (!other) return;
  const holder = `${workerText(other)}, since ${formatTime(other.since)}`;
  const message = `Another process is listening for callbacks of this account: ${holder}.`;
  const hint = "Stop it first, or wait for one payment with 'lenden pay wait'.";
  throw new Failure("callback.listener-running", message, { hint });
}

interface ListeningOptions {
  /** Undefined: no port is opened. */
  port: number | undefined;
  poll: boolean;
  /** The payment that is waited for. */
  awaited: string | undefined;
  handler: Handler | undefined;
}

/** Starts to receive and to poll; each result is an event. */
async function startListening(
  { port, awaited, handler, ...given }: ListeningOptions,
  events: EventEmitter,
  context: Context,
) {
  const { Listener, usualLimits: limits } = await import("../../callbacks/listener.ts");
  const { poll, pollOnce } = await import("../../callbacks/poll.ts");
  const { openReceiver } = await import("../../callbacks/receiver.ts");
  const { sleep } = context.host;
  const over = new AbortController();
  const stopping = AbortSignal.any([context.stopping, over.signal]);
  const ledger = await context.ledger.own();
  const options = {
    ...(await handlingFor(context, handler)),
    stopping,
    limits,
    sleep,
    notice: (message: string) => context.ui.notice(message, "callback.not-handled"),
    onHandled: (one: Handled) => void events.emit("handled", one),
    isKnown: async ({ kind, id }: Pick<Watched, "kind" | "id">) =>
      (await ledger.ofRecord(kind, id)) !== undefined,
  };
  const listener = new Listener(options);
  if (awaited !== undefined) {
    // It may have ended earlier, and then no callback arrives any more.
    const watched = { kind: "payment", id: awaited, status: "Processing" } as const;
    if ((await pollOnce(watched, { ...options, listener })) === null) throw unknownPayment(awaited);
  }
  const receiver =
    port === undefined
      ? undefined
      : await openReceiver({ port, limits, take: (one) => listener.take(one, "received") });
  let problem: unknown;
  const retryUntilStopped = async (): Promise<void> => {
    for (; !stopping.aborted; await sleep(retryPauseMs, stopping)) await listener.retry();
  };
  const open = (): Promise<Watched[]> => openRecords(ledger, awaited);
  const polling = given.poll ? poll({ ...options, open, listener }) : Promise.resolve();
  const working = [
    retryUntilStopped(),
    polling.catch((error: unknown) => {
      problem = error;
      events.emit("end");
    }),
  ];
  return {
    url: receiver?.url ?? null,
    /** @throws what ended the polling, if anything did */
    check: (): void => {
      if (problem !== undefined) throw problem;
    },
    close: async (): Promise<void> => {
      const closed = receiver?.close();
      over.abort();
      await Promise.all([closed, listener.idle(), ...working]);
    },
  };
}

/** The records that are Processing; the one that is waited for may be from another machine. */
async function openRecords(ledger: Ledger, awaited: string | undefined): Promise<Watched[]> {
  const own: Watched[] = [];
  for (const kind of resources)
    for await (const found of ledger.list(kind, { status: "Processing", limit: mostPolled }))
      own.push({ kind, id: found.remoteId ?? "", status: found.status });
  const isKnown = awaited === undefined || own.some(({ id }) => id === awaited);
  return isKnown ? own : [...own, { kind: "payment", id: awaited, status: "Processing" }];
}

/** Only what was retrieved ends the wait; what the callback claims does not matter. */
function endedStatus(awaited: string | undefined, { records }: Handled): string | undefined {
  const own = records.find(({ kind, id }) => kind === "payment" && id === awaited)?.verified;
  return own && hasEnded(own) ? own.status : undefined;
}

function unknownPayment(id: string): Failure {
  return new Failure("callback.payment-unknown", `The API does not know payment ${id}.`, {
    hint: "Check the ID, the profile and the base URL.",
    operation: id,
  });
}

function nothingArrived(awaited: string | undefined, { stopping }: Context): Failure {
  const what =
    awaited === undefined
      ? "a verified callback arrived"
      : `payment ${awaited} was Completed or Cancelled`;
  if (stopping.aborted) return new Failure("callback.stopped", `Stopped before ${what}.`);
  return new Failure(
    "callback.wait-timed-out",
    `The time limit (--timeout) elapsed before ${what}.`,
    {
      hint: "Run the command again to continue. To see what arrived, run 'lenden callback list'.",
      ...(awaited === undefined ? {} : { operation: awaited }),
    },
  );
}
