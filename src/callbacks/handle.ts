import { hash } from "node:crypto";
import { Failure } from "../domain/failure.ts";
import type { CallbackContent, CallbackStore, StoredCallback } from "../ledger/callback.ts";
import { answerFor, type ForwardOptions, forward } from "./forward.ts";
import { subjectsOf } from "./looked-up.ts";
import { hasArrived, type NextLook, nextLookAfter } from "./next-look.ts";
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
  /** Whether it was tried for so long that nobody tries any more. */
  isGivenUp: boolean;
}

export interface Handling {
  callbacks: CallbackStore;
  look: Look;
  /** Writes down what the retrieved records show; gives the operations that are certain now. */
  settle: (found: Found[]) => Promise<string[]>;
  forwardTo: string | undefined;
  /** Whether it is passed on although it arrived before, and came out the same. */
  alwaysForwards: boolean;
  limits: { forwardMs: number };
  now(): number;
  /** Fires when nothing new is to begin; what is kept is taken up by the next run. */
  stopping: AbortSignal;
}

/**
 * Verifies a callback that is kept already, lets the ledger learn what the service said, passes it on,
 * and writes down when to look at it again. One process at a time; the callback itself sets nothing.
 *
 * @throws Failure `locked` when another process is at it
 */
export async function handle(number: number, handling: Handling): Promise<Handled> {
  const { callbacks } = handling;
  const callback = await callbacks.claim(number);
  if (!callback) throw isHeld(number);
  try {
    const handled = await handleHeld(callback, handling);
    const again = nextLook(callback, handled, handling);
    await callbacks.release(number, again);
    return { ...handled, isGivenUp: again?.isGivenUp ?? false };
  } catch (error) {
    await callbacks.release(number);
    throw error;
  }
}

async function handleHeld(
  callback: StoredCallback,
  handling: Handling,
): Promise<Omit<Handled, "isGivenUp">> {
  const { callbacks, look, settle, forwardTo, stopping } = handling;
  const { number } = callback;
  const { found, ...checked } = await check(callback, look);
  // A look that was cut off says nothing about the service.
  if (stopping.aborted) throw stopped();
  const resolved = await settle(found);
  const judged = { ...checked, finding: findingOf(checked) };
  const isNews = isNew(judged, callback);
  if (isNews) await callbacks.judge(number, judged, forwardTo);
  const before = (await callbacks.find(number)) ?? callback;
  // What is known stays known while the service is away, and nobody is told otherwise.
  const isPresent = before.judged?.finding === judged.finding;
  const isToPass = handling.alwaysForwards || (isPresent && !hasArrived(before, forwardTo));
  if (forwardTo !== undefined && isToPass)
    await passOn(before, { ...judged, found }, forwardTo, handling);
  const kept = (await callbacks.find(number)) ?? callback;
  const status = forwardTo === undefined ? 200 : answerFor(kept.forwarded?.status ?? null);
  return { status, taken: { callback: kept, ...checked, resolved }, isNews };
}

/** A sender that repeats itself shortens no pause: a look counts if it was due, or found news. */
function nextLook(
  { dueAt }: StoredCallback,
  { isNews, taken }: Pick<Handled, "isNews" | "taken">,
  { now }: Handling,
): NextLook | undefined {
  const isDue = dueAt !== null && Date.parse(dueAt) <= now();
  return isDue || isNews ? nextLookAfter(taken.callback, taken.callback.looks + 1) : undefined;
}

async function passOn(
  callback: StoredCallback,
  { verdict, found, finding }: Verified & { finding: string },
  to: string,
  { callbacks, limits, stopping }: Handling,
): Promise<void> {
  const status = await forward(callback, {
    to,
    verdict,
    about: aboutOf(found),
    timeoutMs: limits.forwardMs,
    signal: stopping,
  });
  if (status === null && stopping.aborted) throw stopped();
  await callbacks.passedOn(callback.number, { to, status, finding });
}

/** The record that it is about, where it is about one alone. */
function aboutOf(found: Found[]): ForwardOptions["about"] {
  const [one, another] = subjectsOf(found);
  if (!one || another) return undefined;
  const { status, amount } = one.record;
  return { id: one.statement.id, status, amount };
}

/** Asks the service; without a usable answer the verdict is `unchecked`. */
async function check(callback: CallbackContent, look: Look): Promise<Verified> {
  try {
    return await verify(callback, look);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return { verdict: "unchecked", because: error.message, records: [], found: [] };
  }
}

function findingOf({ verdict, records }: Checked): string {
  return hash("sha256", JSON.stringify([verdict, records]));
}

/** No answer this time changes nothing about an earlier verdict. */
function isNew(judged: Checked & { finding: string }, before: StoredCallback): boolean {
  if (before.judged === null) return true;
  return judged.verdict !== "unchecked" && judged.finding !== before.judged.finding;
}

function isHeld(number: number): Failure {
  return new Failure("locked", `Another lenden is working on callback ${number}.`, {
    hint: "Wait a moment, then look with 'lenden callback show'.",
  });
}
