import { setFlagsFromString } from "node:v8";
import type { Dispatcher } from "undici";
// All of undici takes 21 ms more of each start on Node 20, and 17 ms on Node 24.
import Agent from "undici/lib/dispatcher/agent.js";
import { isLoopback } from "../domain/url.ts";
import { createConnector } from "./connector.ts";
import { type Fault, faultOf, TooLarge } from "./network-error.ts";
import { type ProxySettings, proxyAgent } from "./proxy.ts";
import { track } from "./sent.ts";

/** A request of this program: to the API, or a callback to a handler. */
interface WireRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  /** Uses a connection of its own: a reused idle connection may be closed already, after sending. */
  freshConnection: boolean;
  /** Cuts the exchange off, at any point. */
  signal: AbortSignal;
  /** How long connection and response may take together (default: 30 s). */
  timeoutMs?: number;
}

/** A request to the API. */
export interface Request extends WireRequest {
  body?: string | undefined;
}

export type Headers = Record<string, string | string[] | undefined>;

/** What happened on the wire. What it means is decided by `classify()`. */
export type Exchange =
  | { kind: "answer"; status: number; headers: Headers; text: string }
  /** `status`: the response started. `sent`: the head of the request reached a socket. */
  | { kind: "broken"; sent: boolean; fault: Fault; status?: number };

export interface Transport {
  /** Sends one request, once, and reads its whole response. Never throws. */
  exchange(request: WireRequest): Promise<Exchange>;
  close(): Promise<void>;
}

const limits = { connectMs: 10_000, responseMs: 30_000, responseBytes: 1024 * 1024 };

const tls = { rejectUnauthorized: true, minVersion: "TLSv1.2", timeout: limits.connectMs } as const;

/**
 * Node cuts off each address but the last after 250 ms, which a long or a mobile line exceeds. With two seconds
 * each, the first five addresses are tried before the connection times out.
 */
const connect = createConnector({ ...tls, autoSelectFamilyAttemptTimeout: 2_000 });

const decoder = new TextDecoder();

const agentOptions = {
  connect,
  // TLS inside a tunnel ignores `connect`: NODE_TLS_REJECT_UNAUTHORIZED=0 would skip verification.
  requestTls: tls,
  // undici's timeouts are coarse, and the second is per chunk: `exchange` limits the whole response.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Follows no redirect, decompresses nothing, and verifies every certificate. */
export function openTransport(proxy: ProxySettings, nodeVersion = ""): Transport {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = ({ url, freshConnection }: WireRequest): Promise<Dispatcher> => {
    const through = isLoopback(url) ? undefined : proxy;
    const name = `${through === undefined} ${freshConnection}`;
    const known = agents.get(name);
    if (known) return known;
    const agent = openAgent(through, freshConnection);
    agents.set(name, agent);
    return agent;
  };
  let optimizes = nodeVersion.startsWith("v20.");
  return {
    exchange: async (request) => {
      const agent = await agentFor(request);
      // Node 20 optimizes undici's parser (WebAssembly) and would wait for that when the command ends.
      if (optimizes) setFlagsFromString("--wasm-tiering-budget=100000000");
      optimizes = false;
      return exchange(request, agent);
    },
    close: async () => {
      // Not awaited: a connection that is being made would delay the end by ten seconds.
      for (const agent of agents.values()) void agent.then((one) => one.destroy()).catch(() => {});
    },
  };
}

async function openAgent(proxy: ProxySettings | undefined, isFresh: boolean): Promise<Dispatcher> {
  const options = { ...agentOptions, ...(isFresh ? { pipelining: 0 } : {}) };
  return (proxy && (await proxyAgent(proxy, options))) ?? new Agent(options);
}

/** `dispatch` is undici's lowest layer: its response streams would double the cost of a batch. */
async function exchange(request: WireRequest, dispatcher: Dispatcher): Promise<Exchange> {
  const { url, method, body, signal, timeoutMs = limits.responseMs } = request;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let head: { status: number; headers: Headers } | undefined;
  let wasSent = (): boolean => true;
  let isTimedOut = false;
  let isCutOff = false;
  let cutOff = (): void => {};
  const onAbort = (): void => cutOff();
  const timer = setTimeout(() => {
    isTimedOut = true;
    cutOff();
  }, timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      let abort = (_: Error): void => {};
      cutOff = () => {
        isCutOff = true;
        const error = new Error("cut off");
        abort(error);
        // Without a connection, undici reports nothing. A moment later the head is known to be unsent.
        setImmediate(() => reject(error));
      };
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) {
        wasSent = () => false;
        return cutOff();
      }
      const options: Dispatcher.DispatchOptions = {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { "accept-encoding": "identity", ...request.headers },
        body: body ?? null,
      };
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: (controller) => {
          abort = (error) => controller.abort(error);
          if (isCutOff) abort(new Error("cut off"));
        },
        onResponseStart: (_, status, headers) => {
          if (status >= 200) head = { status, headers }; // 1xx announces a response
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk);
          bytes += chunk.byteLength;
          if (bytes > limits.responseBytes) abort(new TooLarge());
        },
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      };
      wasSent = track(() => dispatcher.dispatch(options, handler));
    });
    const { status = 0, headers = {} } = head ?? {};
    return { kind: "answer", status, headers, text: decoder.decode(Buffer.concat(chunks)) };
  } catch (error) {
    const answering = head !== undefined;
    const stoppedBy = signal.aborted ? signal : undefined;
    const fault = faultOf(error, { stoppedBy, timedOut: isTimedOut, answering });
    const sent = answering || wasSent();
    return { kind: "broken", sent, fault, ...(head ? { status: head.status } : {}) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
