import type { Claim } from "../../src/ledger/claiming.ts";
import { type Ledger, openLedger } from "../../src/ledger/ledger.ts";
import type { Intent, ReferencedIntent } from "../../src/ledger/operation.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { openDatabase } from "../../src/sqlite/open.ts";

const startMs = Date.parse("2026-11-20T10:00:00.000Z");
export const owner = { profile: "shop", environment: "sandbox", baseUrl: "http://a", keyId: "key" };

/** A worker whose clock ticks a second each time, and whose other processes are those in `alive`. */
export function worker(given: Partial<Worker> = {}, alive: number[] = []): Worker {
  let ticks = 0;
  return {
    owner,
    user: "tester",
    command: "test",
    holder: { pid: 1, lock: "1", machine: "m" },
    now: () => startMs + 1_000 * ticks++,
    newId: () => `OP${Math.random().toString(36).slice(2)}`,
    scrub: (text: string) => text,
    assertSeen: () => {},
    isAlive: ({ pid }) => alive.includes(pid),
    ...given,
  };
}

export function payout(reference: string, fingerprint = "f"): ReferencedIntent {
  return {
    kind: "payout",
    reference,
    fingerprint,
    amountPaisa: 500n,
    target: null,
    asked: { to: "x" },
  };
}

export function payment(fingerprint: string): Intent {
  return {
    kind: "payment",
    reference: null,
    fingerprint,
    amountPaisa: 7n,
    target: null,
    asked: { description: fingerprint },
  };
}

export function refund(target: string): Intent {
  return { kind: "refund", reference: null, fingerprint: "r", amountPaisa: 5n, target, asked: {} };
}

export async function memoryLedger(given: Partial<Worker> = {}, alive: number[] = []) {
  const database = await openDatabase(":memory:");
  return { database, ledger: openLedger(database, worker(given, alive)) };
}

/** What came of asking for one reference. */
export function claim(ledger: Pick<Ledger, "claim">, intent: ReferencedIntent): Claim {
  const [claimed] = ledger.claim([intent]);
  if (!claimed) throw new Error("a claim has an answer");
  return claimed;
}

export const letGo = { letGo: true };
