import { type CallbackEvent, eventOf } from "../../callbacks/plain.ts";
import { readWhole } from "../../cli/command/common-flags.ts";
import { defineCommand, type Ending } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { eventLine, eventOutput, forwardingFlags, handlingFor, openHandler } from "./callbacks.ts";

const usualPort = 4343;

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
    const { claimListening, endedStatus, nothingArrived, rejectCircle, startListening } =
      await import("../../callbacks/listen.ts");
    const port = given.port ?? (given.poll ? undefined : usualPort);
    if (port !== undefined) rejectCircle(given.forwardTo, port);
    const ledger = await context.ledger.own();
    await claimListening(ledger);
    const { handler, newSecret } = await openHandler(given, context);
    const { host, ui, cutOff, stopping } = context;
    const options = {
      ...(await handlingFor(context, handler)),
      cutOff,
      sleep: host.sleep,
      notice: (message: string) => ui.notice(message, "callback.not-handled"),
    };
    const polls = given.poll;
    const listening = await startListening({ port, polls, awaited }, ledger, options);
    try {
      const { url } = listening;
      const secret = newSecret === undefined ? {} : { secret: newSecret };
      yield { shown: { event: "listening", url, pid: host.pid, ...secret } };
      for await (const handled of listening.results) {
        const ended = endedStatus(awaited, handled);
        const cancelled = ended === "Cancelled" ? "cancelled" : undefined;
        const ending = ended === undefined ? undefined : (handled.conflict ?? cancelled);
        yield { shown: eventOf(handled), ending };
        const isFirst = given.once && awaited === undefined && handled.verdict === "verified";
        if (ended || isFirst) return;
      }
      listening.check();
      if (given.once || awaited !== undefined) throw nothingArrived(awaited, stopping.aborted);
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
