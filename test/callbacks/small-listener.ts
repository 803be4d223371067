import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { openTransport } from "../../src/api/transport.ts";
import type { Handled, Handling } from "../../src/callbacks/handle.ts";
import { type Limits, Listener, usualLimits } from "../../src/callbacks/listener.ts";
import type { Look } from "../../src/callbacks/verify.ts";
import type { CallbackRequest } from "../../src/ledger/callback.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { Database } from "../../src/platform/sqlite/database.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { worker } from "../ledger/small-ledger.ts";

const secret = "a secret of both sides";

export interface SmallOptions {
  limits?: Partial<Limits>;
  forwardTo?: string;
  look?: Look;
  /** The IDs that the ledger knows. */
  known?: string[];
  /** The ledger of an earlier run. */
  database?: Database;
  clock?: { aheadMs: number };
}

/** A listener in this process, over a ledger in memory. */
export async function smallListener(options: SmallOptions = {}) {
  const { limits, forwardTo, clock = { aheadMs: 0 } } = options;
  const database = options.database ?? (await openDatabase(":memory:"));
  const now = () => Date.now() + clock.aheadMs;
  const { callbacks } = openLedger(database, worker({ now }));
  const transport = openTransport({ http: undefined, https: undefined, none: undefined });
  const over = new AbortController();
  const handled: Handled[] = [];
  const notices: string[] = [];
  const all = { ...usualLimits, pauseMs: 0, ...limits };
  const handling: Handling = {
    callbacks,
    look: options.look ?? (async () => undefined),
    resolve: async () => ({ resolved: [], conflict: undefined }),
    handler: forwardTo
      ? { url: forwardTo, secret, transport, timeoutMs: all.forwardMs }
      : undefined,
    stopping: over.signal,
    now,
  };
  const listener = new Listener({
    ...handling,
    limits: all,
    isKnown: async ({ id }) => options.known?.includes(id) === true,
    sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
    onHandled: (one) => handled.push(one),
    notice: (text) => notices.push(text),
  });
  onTestFinished(async () => {
    over.abort();
    await listener.idle();
    await transport.close();
  });
  const take = (body: string) => listener.take(posted(body), "received");
  return { listener, take, callbacks, handling, database, handled, notices, limits: all };
}

function posted(body: string): CallbackRequest {
  return { method: "POST", target: "/callback", headers: {}, body: Buffer.from(body) };
}
