import { subscribe } from "node:diagnostics_channel";
import { setFlagsFromString } from "node:v8";
import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { isLoopback } from "../contract/url.ts";
import { type Fault, faultOf, TooLarge } from "./fault.ts";
import { type ProxySettings, proxied } from "./proxy.ts";

export interface Request {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  url: URL;
  headers: Record<string, string>;
  body?: string;
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

export interface Transport {
  exchange(request: Request): Promise<Exchange>;
  close(): Promise<void>;
}

const limits = { connectMs: 10_000, answerMs: 30_000, answerBytes: 1024 * 1024 };

const tls = { rejectUnauthorized: true, minVersion: "TLSv1.2", timeout: limits.connectMs } as const;

const agentOptions = {
  connect: tls,
  // A proxied connection ignores `connect`: without these two, NODE_TLS_REJECT_UNAUTHORIZED=0 rules.
  requestTls: tls,
  proxyTls: tls,
  // Both are coarse and the second is per chunk: one deadline over the whole exchange does better.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/**
 * Node 20 starts to optimise undici's HTTP parser (WebAssembly) at the first answer and waits for
 * that at its end: some 80 ms of a command that makes one call. A batch still reaches the budget.
 * Later Nodes do not wait, and setting a flag there would cost them their own code cache.
 */
export function avoidWaitingForWasm(nodeVersion: string): void {
  if (nodeVersion.startsWith("v20.")) setFlagsFromString("--wasm-tiering-budget=100000000");
}

/** Opens the transport of product.md §7: nothing is followed, decompressed, or trusted unseen. */
export function openTransport(proxy: ProxySettings): Transport {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = ({ url, freshConnection }: Request): Promise<Dispatcher> => {
    const direct = isLoopback(url);
    const name = `${direct ? "direct" : "outside"} ${freshConnection ? "fresh" : "kept"}`;
    const options = { ...agentOptions, ...(freshConnection ? { pipelining: 0 } : {}) };
    const agent = agents.get(name) ?? openAgent(direct ? undefined : proxy, options);
    agents.set(name, agent);
    return agent;
  };
  return {
    exchange: async (asked) => exchange(asked, await agentFor(asked)),
    close: async () => {
      // Not waited for: a connection that is still being made would keep it for ten seconds.
      for (const agent of agents.values()) void agent.then((one) => one.destroy()).catch(() => {});
    },
  };
}

async function openAgent(proxy: ProxySettings | undefined, options: Agent.Options) {
  return (proxy && (await proxied(proxy, options))) ?? new Agent(options);
}

async function exchange(asked: Request, dispatcher: Dispatcher): Promise<Exchange> {
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
    headers: { ...headers, "accept-encoding": "identity" },
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

/** Takes an answer in as undici's lowest layer tells it: its streams cost a batch as much as sending. */
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
    onResponseEnd: resolve,
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
  waiting.add(pass);
  return {
    isPassed: () => isPassed,
    whenPassed: (work) => {
      onPassed = work;
      if (isPassed) work();
    },
    end: () => {
      clearTimeout(timer);
      waiting.delete(pass);
    },
  };
}

const waitingBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/** One listener for all exchanges of a run: a signal with many of them is slow to let one go. */
function waitingFor(stop: AbortSignal): Set<() => void> {
  const known = waitingBySignal.get(stop);
  if (known) return known;
  const waiting = new Set<() => void>();
  waitingBySignal.set(stop, waiting);
  stop.addEventListener("abort", () => {
    for (const pass of [...waiting]) pass();
  });
  return waiting;
}

/** The requests whose head reached a socket. */
const headsSent = new WeakSet<object>();
/** Told of the request that undici makes next. */
let onCreate: ((made: object) => void) | undefined;

subscribe("undici:request:create", (event) => {
  const made = requestOf(event);
  if (made) onCreate?.(made);
});
subscribe("undici:client:sendHeaders", (event) => {
  const made = requestOf(event);
  if (made) headsSent.add(made);
});

/**
 * Starts a request and tells whether it left. Error codes cannot tell (ECONNRESET comes both ways),
 * undici's channels can: it makes its request while it is called, and announces that very object
 * when the head goes out. A request that was never seen made counts as sent.
 */
function track(start: () => void): () => boolean {
  let own: object | undefined;
  onCreate = (made) => {
    own ??= made; // a tunnel through a proxy makes another one, after ours
  };
  start();
  onCreate = undefined;
  return () => own === undefined || headsSent.has(own);
}

function requestOf(event: unknown): object | undefined {
  if (typeof event !== "object" || event === null || !("request" in event)) return undefined;
  return typeof event.request === "object" && event.request !== null ? event.request : undefined;
}
