import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { CallbackFault, Fault } from "../api/contract/fault.ts";
import { basePath } from "../api/contract/index.ts";
import { listenOnLoopback } from "../platform/loopback.ts";
import { openDatabase } from "../platform/sqlite/open.ts";
import { createApp } from "./app.ts";
import { openCallbacks } from "./callbacks.ts";
import { watchDue } from "./due.ts";
import { createJournal, type Journal } from "./journal.ts";
import { createRandom } from "./random.ts";
import { type Account, openStore, type Store } from "./store.ts";

export interface SandboxOptions {
  /** 0, or none: any free one. */
  port?: number;
  /** Without a file, everything is forgotten at the end. */
  dataFile?: string;
  /** Makes ids, keys and the luck of faults the same in every run. */
  seed?: number;
  /** How long every answer of the service waits. */
  latencyMs?: number;
  /** When a Processing record becomes Completed by itself. */
  autoCompleteMs?: number;
  faults?: Fault[];
  callbackFaults?: CallbackFault[];
  /** Where callbacks of refunds go; without it there are none. */
  refundCallbackUrl?: string;
  /** How long the second try of a callback waits: a second, if left out. */
  firstRetryMs?: number;
  /** Milliseconds since 1970. */
  now: () => number;
}

export interface RunningSandbox {
  baseUrl: string;
  apiKey: string;
  payoutSecret: string;
  /** Ends all connections, hanging ones too, and closes the data. */
  close(): Promise<void>;
}

/**
 * Starts the service on loopback; it accepts requests when this returns. Fails as
 * `internal` when the port is taken or the data file cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const server = createServer();
  const store = await storeFor(options);
  // Five seconds, Node's own, would cut off clients that keep a connection for their next call.
  server.keepAliveTimeout = 60_000;
  const port = await listenOnLoopback(server, options.port ?? 0).catch((error) => {
    store.close();
    throw error;
  });
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = origin + basePath;
  const journal = createJournal();
  const app = createApp({
    ...options,
    store,
    journal,
    port,
    origin,
    baseUrl,
    latencyMs: options.latencyMs ?? 0,
    faults: options.faults ?? [],
    luck: createRandom("faults", options.seed),
  });
  // hono would put its own Request and Response in place of everybody's in this process.
  server.on("request", getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const stopTelling = tellMerchants(options, { store, journal });
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => {
    stopTelling();
    closing ??= close(server, store);
    return closing;
  };
  return { baseUrl, ...store.account, close: closeOnce };
}

async function storeFor({ dataFile, seed, now, autoCompleteMs }: SandboxOptions): Promise<Store> {
  const database = await openDatabase(dataFile ?? ":memory:");
  const ids = createRandom("ids", seed);
  return openStore({ database, ids, newAccount: newAccount(seed), now, autoCompleteMs });
}

/** A key of the documented shape `sk_sandbox_XXX-XXXXXXXXXXXX-XXX` (service.md §5). */
function newAccount(seed: number | undefined): Account {
  const { letters } = createRandom("account", seed);
  const apiKey = `sk_sandbox_${letters(3)}-${letters(12)}-${letters(3)}`;
  return { apiKey, payoutSecret: letters(32) };
}

/** Starts the callbacks; returns what ends them. */
function tellMerchants(
  options: SandboxOptions,
  { store, journal }: { store: Store; journal: Journal },
): () => void {
  const { refundCallbackUrl, callbackFaults = [], firstRetryMs = 1000, seed, now } = options;
  const luck = createRandom("callbacks", seed);
  const told = {
    store,
    journal,
    refundCallbackUrl,
    faults: callbackFaults,
    luck,
    firstRetryMs,
    now,
  };
  const stopCallbacks = openCallbacks(told);
  const stopWatching = watchDue(store, options.autoCompleteMs);
  return () => {
    stopWatching();
    stopCallbacks();
  };
}

function close(server: Server, store: Store): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      store.close();
      resolve();
    });
    server.closeAllConnections();
  });
}
