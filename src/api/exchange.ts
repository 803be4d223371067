import type { Dispatcher } from "undici";
import { together } from "./flush-together.ts";
import { type Fault, faultOf, TooLarge } from "./network-error.ts";
import { track } from "./sent.ts";

export interface Request {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  /** A fresh connection for this request alone: a reused idle one makes avoidable doubt. */
  freshConnection: boolean;
  /** Cuts the exchange off, wherever it is. */
  signal: AbortSignal;
}

/** What happened on the wire, before anybody judges what it means. */
export type Exchange =
  | { kind: "answer"; status: number; headers: Headers; bytes: Uint8Array }
  | { kind: "broken"; sent: boolean; fault: Fault; status?: number };

export type Headers = Record<string, string | string[] | undefined>;

const limits = { answerMs: 30_000, answerBytes: 1024 * 1024 };

/** Sends one request and takes its whole answer in, or says how that broke. Never throws. */
export async function exchange(asked: Request, dispatcher: Dispatcher): Promise<Exchange> {
  const limit = limitOf(asked.signal);
  const received: Received = { status: undefined, headers: {}, chunks: [], bytes: 0 };
  let wasSent = () => true;
  try {
    await new Promise<void>((resolve, reject) => {
      const handler = receiver(received, limit, { resolve, reject });
      wasSent = track(() => dispatcher.dispatch(optionsOf(asked), handler));
    });
    const { status = 0, headers, chunks } = received;
    return { kind: "answer", status, headers, bytes: Buffer.concat(chunks) };
  } catch (error) {
    const { status } = received;
    const fault = faultOf(error, {
      stopped: asked.signal.aborted,
      timedOut: limit.isPassed(),
      answering: status !== undefined,
    });
    const sent = status !== undefined || wasSent();
    return { kind: "broken", sent, fault, ...(status === undefined ? {} : { status }) };
  } finally {
    limit.end();
  }
}

function optionsOf({ url, method, headers, body }: Request): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { "accept-encoding": "identity", ...headers },
    body: body ?? null,
  };
}

/** What has come of an answer so far. */
interface Received {
  status: number | undefined;
  headers: Headers;
  chunks: Uint8Array[];
  bytes: number;
}

/** Receives an answer from undici's lowest layer: its streams would cost a batch as much as sending. */
function receiver(
  received: Received,
  limit: Limit,
  { resolve, reject }: { resolve: () => void; reject: (error: Error) => void },
): Dispatcher.DispatchHandler {
  let abort = (_: Error): void => {};
  limit.whenPassed(() => {
    const error = new Error("cut off");
    abort(error);
    // undici notices only once the connection is made. A moment later it has said whether the head left.
    setImmediate(() => reject(error));
  });
  return {
    onRequestStart: (controller) => {
      abort = (error) => controller.abort(error);
      if (limit.isPassed()) abort(new Error("cut off"));
    },
    onResponseStart: (_, status, headers) => {
      if (status < 200) return; // only informs that an answer will come
      received.status = status;
      received.headers = headers;
    },
    onResponseData: (_, chunk) => {
      received.chunks.push(chunk);
      received.bytes += chunk.byteLength;
      if (received.bytes > limits.answerBytes) abort(new TooLarge());
    },
    onResponseEnd: () => {
      limit.end(); // the answer is whole, whatever happens while it waits for its turn
      together(resolve);
    },
    onResponseError: (_, error) => reject(error),
  };
}

/** When an exchange has taken long enough: the caller says so, or the answer takes too long. */
interface Limit {
  isPassed(): boolean;
  whenPassed(work: () => void): void;
  end(): void;
}

/** Made by hand: AbortSignal.any over AbortSignal.timeout never fires on Node 20. */
function limitOf(stop: AbortSignal): Limit {
  let isPassed = stop.aborted;
  let onPassed = (): void => {};
  const pass = (): void => {
    isPassed = true;
    onPassed();
  };
  const timer = setTimeout(pass, limits.answerMs);
  const waiting = waitingFor(stop);
  waiting.push(pass);
  return {
    isPassed: () => isPassed,
    whenPassed: (work) => {
      onPassed = work;
      if (isPassed) work();
    },
    end: () => {
      clearTimeout(timer);
      takeOut(pass, waiting);
    },
  };
}

type Waiting = (() => void)[];

const waitingBySignal = new WeakMap<AbortSignal, Waiting>();

/** One listener for all exchanges of a run: a signal with many of them is slow to let one go. */
function waitingFor(stop: AbortSignal): Waiting {
  const known = waitingBySignal.get(stop);
  if (known) return known;
  const waiting: Waiting = [];
  waitingBySignal.set(stop, waiting);
  stop.addEventListener("abort", () => {
    for (const pass of [...waiting]) pass();
  });
  return waiting;
}

/**
 * In a list of as many as are on the wire. Of a set, V8's quick collections would keep whatever was
 * taken out of it, a whole exchange each: a batch would spend a tenth of its time on that.
 */
function takeOut(pass: () => void, waiting: Waiting): void {
  const index = waiting.indexOf(pass);
  if (index === -1) return;
  const last = waiting.pop();
  if (last && last !== pass) waiting[index] = last;
}
