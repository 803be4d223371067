import { Failure } from "../failure.ts";
import type { Callbacks, StoredCallback } from "../ledger/callbacks.ts";
import { answerFor, forward } from "./forward.ts";
import type { Received } from "./said.ts";
import { stopped } from "./stopping.ts";
import { type Checked, type Found, type Look, type Verified, verify } from "./verify.ts";

/** A callback and all that came of it. */
export interface Taken extends Checked {
  callback: StoredCallback;
  /** The operations that it proved. */
  resolved: string[];
}

/** The same, and the status that its sender gets. */
export interface Handled {
  status: number;
  taken: Taken;
  /** Whether it came out otherwise than before, or for the first time. */
  isNews: boolean;
}

export interface Handling {
  callbacks: Callbacks;
  look: Look;
  /** Writes down what the retrieved records show; gives the operations that are certain now. */
  settle: (found: Found[]) => Promise<string[]>;
  forwardTo: string | undefined;
  /** Whether it is passed on although it arrived before, and came out the same. */
  alwaysForwards: boolean;
  limits: { forwardMs: number };
  /** Fires when nothing new is to begin; what is kept is taken up by the next run. */
  stopping: AbortSignal;
}

/**
 * Verifies a callback that is kept already, lets the ledger learn what the service said, and passes it
 * on. The callback itself sets nothing.
 */
export async function handle(callback: StoredCallback, handling: Handling): Promise<Handled> {
  const { callbacks, look, settle, forwardTo, stopping } = handling;
  const { number } = callback;
  const { found, ...checked } = await check(callback, look);
  // A look that was cut off says nothing about the service.
  if (stopping.aborted) throw stopped();
  const resolved = await settle(found);
  const isNews = isNew(checked, callback);
  if (isNews) callbacks.judge(number, checked);
  const isToPass = isNews || handling.alwaysForwards || !hasArrived(callback, forwardTo);
  if (forwardTo !== undefined && isToPass) await passOn(callback, checked, forwardTo, handling);
  const kept = callbacks.find(number) ?? callback;
  const status = forwardTo === undefined ? 200 : answerFor(kept.forwarded?.status ?? null);
  return { status, taken: { callback: kept, ...checked, resolved }, isNews };
}

/** Whether whoever it is passed on to has it, and said so; without anybody, it has. */
export function hasArrived({ forwarded }: StoredCallback, to: string | undefined): boolean {
  if (to === undefined) return true;
  return forwarded?.to === to && answerFor(forwarded.status) < 300;
}

async function passOn(
  callback: StoredCallback,
  checked: Checked,
  to: string,
  { callbacks, limits, stopping }: Handling,
): Promise<void> {
  const status = await forward(callback, {
    to,
    verdict: checked.verdict,
    status: statusOf(checked),
    timeoutMs: limits.forwardMs,
    signal: stopping,
  });
  callbacks.passedOn(callback.number, { to, status });
}

/** Asks the service. Where it gives no usable answer nothing is decided, and that is said. */
async function check(
  callback: Pick<Received, "target" | "headers" | "body">,
  look: Look,
): Promise<Verified> {
  try {
    return await verify(callback, look);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return { verdict: "unanswered", because: error.message, records: [], found: [] };
  }
}

/** That there was no answer this time takes nothing from what was known before. */
function isNew({ verdict, records }: Checked, { judged }: StoredCallback): boolean {
  if (judged === null) return true;
  if (verdict === "unanswered") return false;
  return JSON.stringify([verdict, records]) !== JSON.stringify([judged.verdict, judged.records]);
}

/** The status of what it is about, where it is about one thing. */
function statusOf({ records }: Checked): string | undefined {
  const statuses = records.flatMap(({ verified }) => (verified ? [verified.status] : []));
  return new Set(statuses).size === 1 ? statuses[0] : undefined;
}
