import { subscribe } from "node:diagnostics_channel";
import { setFlagsFromString } from "node:v8";
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
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
  const deadline = deadlineFor(asked.signal);
  const tracked = track(() =>
    request.call(dispatcher, {
      origin: asked.url.origin,
      path: asked.url.pathname + asked.url.search,
      method: asked.method,
      headers: { ...asked.headers, "accept-encoding": "identity" },
      body: asked.body ?? null,
      signal: deadline.signal,
    }),
  );
  let status: number | undefined;
  try {
    // undici notices only once the connection is made; what was cut off before is then not sent.
    const answer = await Promise.race([tracked.result, deadline.passed]);
    status = answer.statusCode;
    const bytes = await readWhole(answer.body);
    return { kind: "answer", status, headers: answer.headers, bytes };
  } catch (error) {
    const sent = status !== undefined || tracked.wasSent();
    const fault = faultOf(error, {
      stopped: asked.signal.aborted,
      timedOut: deadline.signal.aborted,
      answering: status !== undefined,
    });
    return { kind: "broken", sent, fault, ...(status === undefined ? {} : { status }) };
  } finally {
    deadline.end();
  }
}

interface Deadline {
  signal: AbortSignal;
  /** Rejects when the signal fires. */
  passed: Promise<never>;
  end: () => void;
}

/**
 * Fires when the caller's signal does, or when the answer takes too long. Made by hand:
 * AbortSignal.any over AbortSignal.timeout never fires on Node 20.
 */
function deadlineFor(stop: AbortSignal): Deadline {
  const own = new AbortController();
  const abort = () => own.abort();
  const timer = setTimeout(abort, limits.answerMs);
  if (stop.aborted) abort();
  stop.addEventListener("abort", abort);
  const passed = new Promise<never>((_, reject) => {
    // A moment later, so that undici has said by then whether the head had left.
    const fail = () => setImmediate(() => reject(own.signal.reason));
    if (own.signal.aborted) fail();
    own.signal.addEventListener("abort", fail, { once: true });
  });
  passed.catch(() => {});
  return {
    signal: own.signal,
    passed,
    end: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", abort);
    },
  };
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
function track<Result>(start: () => Result): { result: Result; wasSent: () => boolean } {
  let own: object | undefined;
  onCreate = (made) => {
    own ??= made; // a tunnel through a proxy makes another one, after ours
  };
  const result = start();
  onCreate = undefined;
  return { result, wasSent: () => own === undefined || headsSent.has(own) };
}

function requestOf(event: unknown): object | undefined {
  if (typeof event !== "object" || event === null || !("request" in event)) return undefined;
  return typeof event.request === "object" && event.request !== null ? event.request : undefined;
}

async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limits.answerBytes) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
