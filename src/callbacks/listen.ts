import { EventEmitter, on } from "node:events";
import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { workerText } from "../domain/person.ts";
import { hasEnded, resources } from "../domain/statuses.ts";
import { isLoopback, parseUrl } from "../domain/url.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Handled, Handling } from "./handle.ts";
import { Listener, type ListenerOptions, usualLimits as limits } from "./listener.ts";
import { poll, pollOnce, type Watched } from "./poll.ts";
import { openReceiver } from "./receiver.ts";

const retryPauseMs = 5_000;
/** So many of each kind are polled; older ones are updated by `list --refresh`. */
const mostPolled = 200;

/** @throws Failure if callbacks would be forwarded to the listener itself */
export function rejectCircle(forwardTo: string | undefined, port: number): void {
  const url = forwardTo === undefined ? undefined : parseUrl(forwardTo);
  if (!url || !isLoopback(url) || url.port !== String(port)) return;
  const message = "--forward-to is the URL of the listener itself.";
  const hint = "Use the URL of your handler, for example http://127.0.0.1:3000/callback.";
  throw new Failure("callback.forwards-to-itself", message, { hint });
}

/** @throws Failure `callback.listener-running` if another process listens for this account */
export async function claimListening({ callbacks }: Pick<Ledger, "callbacks">): Promise<void> {
  const other = await callbacks.listen();
  if (!other) return;
  const holder = `${workerText(other)}, since ${formatTime(other.since)}`;
  const message = `Another process is listening for callbacks of this account: ${holder}.`;
  const hint = "Stop it first, or wait for one payment with 'lenden pay wait'.";
  throw new Failure("callback.listener-running", message, { hint });
}

interface Wanted {
  /** Undefined: no port is opened. */
  port: number | undefined;
  /** True if the API is polled. */
  polls: boolean;
  /** The payment that is waited for. */
  awaited: string | undefined;
}

interface Options extends Handling, Pick<ListenerOptions, "sleep" | "notice"> {
  /** Aborts at the deadline of the run, which ends the results. */
  cutOff: AbortSignal;
}

/**
 * Starts to receive and to poll.
 *
 * @returns `results`: each callback that was handled, until the run ends
 */
export async function startListening(
  { port, polls, awaited }: Wanted,
  ledger: Ledger,
  { cutOff, ...handling }: Options,
) {
  const events = new EventEmitter();
  const handled: AsyncIterable<Handled[]> = on(events, "handled", { close: ["end"] });
  const { sleep } = handling;
  const over = new AbortController();
  const stopping = AbortSignal.any([handling.stopping, over.signal]);
  const options = {
    ...handling,
    stopping,
    limits,
    onHandled: (one: Handled) => void events.emit("handled", one),
    isKnown: async ({ kind, id }: Pick<Watched, "kind" | "id">) =>
      (await ledger.recordHolder(kind, id)) !== undefined,
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
  const polling = polls ? poll({ ...options, open, listener }) : Promise.resolve();
  const working = [
    retryUntilStopped(),
    polling.catch((error: unknown) => {
      problem = error;
      events.emit("end");
    }),
  ];
  const end = () => void events.emit("end");
  cutOff.addEventListener("abort", end, { once: true });
  if (cutOff.aborted) end();
  return {
    results: each(handled),
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

async function* each(handled: AsyncIterable<Handled[]>): AsyncIterable<Handled> {
  for await (const [one] of handled) if (one) yield one;
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

function unknownPayment(id: string): Failure {
  return new Failure("callback.payment-unknown", `The API does not know payment ${id}.`, {
    hint: "Check the ID, the profile and the base URL.",
    operation: id,
  });
}

/** Only what was retrieved ends the wait; what the callback claims does not matter. */
export function endedStatus(awaited: string | undefined, { records }: Handled): string | undefined {
  const own = records.find(({ kind, id }) => kind === "payment" && id === awaited)?.verified;
  return own && hasEnded(own) ? own.status : undefined;
}

/** The error of a listener that ends before what it waits for; it was stopped, or its time elapsed. */
export function nothingArrived(awaited: string | undefined, isStopped: boolean): Failure {
  const what =
    awaited === undefined
      ? "a verified callback arrived"
      : `payment ${awaited} was Completed or Cancelled`;
  if (isStopped) return new Failure("callback.stopped", `Stopped before ${what}.`);
  return new Failure(
    "callback.wait-timed-out",
    `The time limit (--timeout) elapsed before ${what}.`,
    {
      hint: "Run the command again to continue. To see what arrived, run 'lenden callback list'.",
      ...(awaited === undefined ? {} : { operation: awaited }),
    },
  );
}
