import type { Taken } from "../../src/callbacks/handle.ts";
import { openIntake } from "../../src/callbacks/intake.ts";
import { type Limits, usualLimits } from "../../src/callbacks/limits.ts";
import type { Look } from "../../src/callbacks/verify.ts";
import type { CallbackRequest } from "../../src/ledger/callback.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { Database } from "../../src/platform/sqlite/database.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";

export interface SmallOptions {
  limits?: Partial<Limits>;
  forwardTo?: string;
  look?: Look;
  /** The ledger of a run before. */
  database?: Database;
  clock?: { aheadMs: number };
}

/** An intake of this process, over a ledger in memory. */
export async function smallIntake(options: SmallOptions = {}) {
  const { limits, forwardTo, clock = { aheadMs: 0 } } = options;
  const database = options.database ?? (await openDatabase(":memory:"));
  const now = () => Date.now() + clock.aheadMs;
  const ledger = openLedger(database, {
    owner: { profile: "p", environment: "sandbox", baseUrl: "http://a", keyId: "k" },
    user: "u",
    command: "c",
    actor: { user: "u", machine: "m", pid: 1 },
    holder: { pid: 1, lock: "", machine: "" },
    now,
    newId: () => "OP",
    scrub: (text) => text,
    isAlive: () => true,
    assertSeen: () => {},
  });
  const over = new AbortController();
  const taken: Taken[] = [];
  const notices: string[] = [];
  const callbacks = ledger.callbacks;
  const handling = {
    callbacks,
    look: options.look ?? (async () => undefined),
    settle: async () => [],
    forwardTo,
    limits: { ...usualLimits, ...limits },
    stopping: over.signal,
    now,
  };
  const intake = openIntake({
    ...handling,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      }),
    onTaken: async (one) => {
      taken.push(one);
    },
    notice: (text) => notices.push(text),
  });
  return { intake, callbacks, handling, database, taken, notices, over };
}

export function posted(body: string): CallbackRequest {
  return { method: "POST", target: "/callback", headers: {}, body: Buffer.from(body) };
}
