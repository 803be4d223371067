import { setTimeout as delay } from "node:timers/promises";
import type { CallbackFault } from "../api/contract/fault.ts";
import type { Resource } from "../domain/statuses.ts";
import { type Callback, createDelivery, type DeliveryOptions } from "./callback-delivery.ts";
import type { Random } from "./random.ts";
import { paymentOf, paymentReply, refundOf, refundReply } from "./replies.ts";
import type { Store } from "./store.ts";

export interface CallbackOptions extends DeliveryOptions {
  store: Store;
  /** Where refunds are told of; a payment brings its own address. */
  refundCallbackUrl: string | undefined;
  faults: readonly CallbackFault[];
  /** Decides whether a fault hits. */
  luck: Random;
}

/**
 * Tells merchants when a payment or a refund leaves `Processing` (service.md §6, which shows neither
 * the body nor how often the service tries: both are the sandbox's own choice). No answer waits for
 * it. What is still to be told is forgotten when the function that this returns ends it.
 */
export function openCallbacks(options: CallbackOptions): () => void {
  const closing = new AbortController();
  const { signal } = closing;
  const { deliver, attempt, lose } = createDelivery(options, signal);
  let letGo: (() => void) | undefined;

  async function tell(told: Pick<Callback, "url" | "body">): Promise<void> {
    const fault = faultFor(options);
    const callback = { ...told, fault: fault?.rule ?? null };
    if (fault?.kind === "lost") return lose(callback);
    if (fault?.kind === "late") await delay(fault.delayMs, undefined, { signal });
    // Of two that are kept back, the second goes first.
    if (fault?.kind === "reordered" && !letGo) await keepBack(fault.delayMs);
    const letOther = letGo;
    letGo = undefined;
    if (fault?.kind === "forged") await attempt(forged(callback), 1);
    const copies = fault?.kind === "duplicated" ? [deliver(callback)] : [];
    const genuine = fault?.kind === "forged" ? { ...callback, fault: null } : callback;
    await Promise.all([deliver(genuine, letOther), ...copies]);
  }

  /** Until the next callback has been sent, or the time is over. */
  async function keepBack(ms: number): Promise<void> {
    const next = new AbortController();
    letGo = () => next.abort();
    const either = AbortSignal.any([signal, next.signal]);
    await delay(ms, undefined, { signal: either }).catch(() => {});
    if (!next.signal.aborted) letGo = undefined;
    signal.throwIfAborted();
  }

  const stopListening = options.store.onMove((kind, id) => {
    // Later: the answer goes first, and so does the transaction that the move may be a part of.
    setImmediate(() => {
      const told = signal.aborted ? undefined : callbackOf(kind, id, options);
      if (told) tell(told).catch(unlessAborted(signal));
    });
  });

  return () => {
    stopListening();
    closing.abort();
  };
}

function faultFor({ faults, luck }: CallbackOptions): CallbackFault | undefined {
  return faults.find(({ share }) => share === 1 || luck.share() < share);
}

/** Undefined where nobody is told: the specification has no callbacks of payouts. */
function callbackOf(
  kind: Resource,
  id: string,
  { store, refundCallbackUrl }: CallbackOptions,
): Pick<Callback, "url" | "body"> | undefined {
  if (kind === "payment") {
    const payment = paymentOf(store, id);
    return { url: payment.callbackUrl, body: paymentReply(payment) };
  }
  if (kind === "payout" || refundCallbackUrl === undefined) return undefined;
  return { url: refundCallbackUrl, body: refundReply(refundOf(store, id)) };
}

/** What somebody would send who wants the merchant to believe the opposite. */
function forged(callback: Callback): Callback {
  const { body } = callback;
  const status = body.status === "Completed" ? "Cancelled" : "Completed";
  return { ...callback, body: { ...body, status } };
}

/** At the end everything under way is aborted, and that is no failure; anything else is a bug. */
function unlessAborted(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}
