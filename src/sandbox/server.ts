import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { CallbackFault, Fault } from "../api/contract/fault.ts";
import { basePath } from "../api/contract/index.ts";
import { once } from "../domain/collect.ts";
import { Failure, usage } from "../domain/failure.ts";
import { closeServer, listenOnLoopback } from "../platform/loopback.ts";
import type { Database } from "../platform/sqlite/database.ts";
import { openDatabase } from "../platform/sqlite/open.ts";
import { type AppOptions, chooseFault, createApp, type FaultOf } from "./app.ts";
import { type CallbackOptions, openCallbacks } from "./callbacks.ts";
import { createJournal, type Exchange } from "./journal.ts";
import { createRandom } from "./random.ts";
import { openStore, type SandboxAccount, type Store, type StoreOptions } from "./store.ts";

export interface SandboxOptions
  extends Pick<StoreOptions, "staysProcessing">,
    Pick<AppOptions, "onEnd"> {
  /** Default: any free port. */
  port?: number | undefined;
  /** Without a file, everything is lost at the end. */
  dataFile?: string | undefined;
  /** Makes IDs, keys and the choice of faults the same in every run. */
  seed?: number | undefined;
  /** The delay of every response. */
  latencyMs?: number | undefined;
  /** When a Processing record becomes Completed by itself. */
  autoCompleteMs?: number | undefined;
  faults?: Fault[] | undefined;
  /** Replaces `faults`. */
  faultOf?: FaultOf | undefined;
  callbackFaults?: CallbackFault[] | undefined;
  /** Without it, refunds have no callbacks. */
  refundCallbackUrl?: string | undefined;
  /** Before the second attempt of a callback (default: one second). */
  firstRetryMs?: number | undefined;
  /** Callbacks to this machine alone, with faults that replace `callbackFaults`. */
  localCallbacks?: LocalCallbacks | undefined;
  /** Called with each request and each callback. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
}

type LocalCallbacks = Pick<CallbackOptions, "faultOf" | "onEnd" | "falseAfterMs">;

export interface RunningSandbox extends SandboxAccount {
  baseUrl: string;
  /** Its records. */
  store: Store;
  /** Ends all connections, also those that hang, and closes the data. */
  close(): Promise<void>;
}

/** How often due records are completed for callbacks; otherwise reading a record completes it. */
const completeEveryMs = 100;

/**
 * Starts the API on loopback; it accepts requests when this resolves.
 *
 * @throws Failure `internal` if the port is taken or the data file cannot be used; `locked` if another sandbox
 * uses that file
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const { seed, now, autoCompleteMs, faults = [], callbackFaults = [], latencyMs = 0 } = options;
  const database = await openData(options.dataFile);
  const ids = createRandom("ids", seed);
  if (options.dataFile !== undefined) requireOwnFile(database, options.dataFile);
  const unlock = options.dataFile === undefined ? () => {} : lockData(database, options.dataFile);
  const { staysProcessing, onEnd } = options;
  const store = openStore({
    ...{ database, ids, newAccount: newAccount(seed), now, autoCompleteMs, staysProcessing },
  });
  const server = createServer();
  // Node's default of five seconds would close connections that clients keep for their next request.
  server.keepAliveTimeout = 60_000;
  const port = await listenOnLoopback(server, options.port ?? 0).catch((error) => {
    store.close();
    unlock();
    throw error;
  });
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = origin + basePath;
  const journal = createJournal(options.onExchange);
  const shared = { store, journal, now };
  const random = createRandom("faults", seed);
  const byRules: FaultOf = ({ endpoint }) => chooseFault(faults, endpoint, random.share);
  const faultOf = options.faultOf ?? byRules;
  const app = createApp({ ...shared, port, origin, baseUrl, latencyMs, faultOf, onEnd });
  // By default hono replaces the global Request and Response of the process.
  server.on("request", getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const { refundCallbackUrl, localCallbacks, firstRetryMs = 1000 } = options;
  const { share } = createRandom("callbacks", seed);
  const chooseCallbackFault = () => callbackFaults.find(({ rate }) => rate === 1 || share() < rate);
  const stopCallbacks = openCallbacks({
    ...{ ...shared, refundCallbackUrl, firstRetryMs, isLocal: localCallbacks !== undefined },
    ...(localCallbacks ?? { faultOf: chooseCallbackFault, falseAfterMs: undefined }),
  });
  const timer = setInterval(() => store.completeDue(), completeEveryMs);
  const close = once(async () => {
    clearInterval(timer);
    stopCallbacks();
    await closeServer(server);
    store.close();
    unlock();
  });
  return { baseUrl, ...store.account, store, close };
}

/** A key of the documented shape `sk_sandbox_XXX-XXXXXXXXXXXX-XXX` (docs/api.md §5). */
function newAccount(seed: number | undefined): SandboxAccount {
  const { letters } = createRandom("account", seed);
  const apiKey = `sk_sandbox_${letters(3)}-${letters(12)}-${letters(3)}`;
  return { apiKey, payoutSecret: letters(32) };
}

/** A file that cannot be opened has nothing to do with the ledger, whatever SQLite reports. */
async function openData(file: string | undefined): Promise<Database> {
  try {
    return await openDatabase(file ?? ":memory:");
  } catch (error) {
    if (file === undefined || !(error instanceof Failure)) throw error;
    throw usage([`--data: ${error.message}`], "Name another file.");
  }
}

/**
 * Two sandboxes with one file would complete records and send callbacks twice. The lock ends with the process.
 * Its file stays: removed, it could be locked under two names.
 */
function lockData(database: Database, file: string): () => void {
  // A file that is read-only cannot be used by any sandbox, and opening its store reports that.
  if (database.readOnly) return () => {};
  const unlock = database.lock(`${realpathSync(file)}.lock`);
  if (unlock) return unlock;
  database.close();
  throw new Failure("sandbox.data-in-use", `--data: another sandbox uses ${file}.`, {
    hint: "Stop that sandbox, or name another file.",
  });
}

/** Another program's database, such as a ledger, must not get tables of the sandbox. */
function requireOwnFile(database: Database, file: string): void {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  if (tables.every((name) => name === "account" || name === "records")) return;
  database.close();
  throw usage([`--data: ${file} is the database of another program.`], "Name another file.");
}
