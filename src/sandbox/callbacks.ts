import { setMaxListeners } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { InjectedCallbackFault } from "../api/contract/fault.ts";
import { errorCode } from "../domain/error-code.ts";
import type { Resource, Status } from "../domain/statuses.ts";
import { isLoopback } from "../domain/url.ts";
import type { AppOptions } from "./app.ts";
import { paymentReply, refundReply } from "./endpoints.ts";

export interface CallbackOptions extends Pick<AppOptions, "store" | "journal" | "now"> {
  /** Chooses the fault of a callback. */
  faultOf: CallbackFaultOf;
  /** Called at the end of each attempt, with the status of the response; null if there is none. */
  onEnd?: ((record: Reported, status: number | null) => void) | undefined;
  /** Where refunds are reported; a payment has its own URL. */
  refundCallbackUrl: string | undefined;
  /** True if other machines get no callbacks. */
  isLocal: boolean;
  /** After this time, a record that is still `Processing` gets false callbacks, if a fault says so. */
  falseAfterMs: number | undefined;
  /** Before the second attempt; doubled before each further one. */
  firstRetryMs: number;
}

/** What a callback is about: a payment or a refund as it is now. */
export interface Reported {
  kind: Resource;
  id: string;
  status: Status;
}

/** Chooses the fault of the callback about a record. */
export type CallbackFaultOf = (record: Reported) => InjectedCallbackFault | undefined;

interface Callback {
  record: Reported;
  url: string;
  /** The record, as its retrieve endpoint shows it. */
  body: { status: Status };
  /** The rule of its fault. */
  fault: string | null;
}

/** With a second before the first retry, about a minute. */
const mostAttempts = 7;
/** How long a callback waits for another record that it can be about. */
const mostWaits = 40;
const waitMs = 50;
const mostKept = 10;
const responseMs = 10_000;
const largestResponse = 64 * 1024;
const headers = { "content-type": "application/json", "user-agent": "lenden-sandbox" };

/**
 * Reports payments and refunds that leave `Processing` (docs/api.md §6, which shows neither the body nor
 * the retries: both are choices of the sandbox). No response waits for it.
 *
 * @returns a function that ends it, and drops what is still to be sent
 */
export function openCallbacks(options: CallbackOptions): () => void {
  const { store, faultOf, falseAfterMs, now } = options;
  const closing = new AbortController();
  const { signal } = closing;
  // Each callback that waits listens to it.
  setMaxListeners(0, signal);
  const { deliver, post, record } = openDelivery(options, signal);
  let releaseHeld: (() => void) | undefined;
  /** Some about Completed records, newest first. */
  let completed: Callback[] = [];

  store.onChange((kind, id, change) => {
    // Later: the response is sent first, and the transaction that moved the record ends first.
    if (change === "moved") setImmediate(() => reportSoon(kind, id, false));
    else if (falseAfterMs !== undefined)
      setTimeout(() => reportSoon(kind, id, true), falseAfterMs).unref();
  });

  function reportSoon(kind: Resource, id: string, isFalse: boolean): void {
    const callback = signal.aborted ? undefined : callbackOf(kind, id, options);
    if (callback && isFalse === (callback.record.status === "Processing"))
      report(callback).catch(unlessAborted);
  }

  async function report(found: Callback): Promise<void> {
    const fault = faultOf(found.record);
    const callback = { ...found, fault: fault?.rule ?? null };
    if (found.record.status === "Completed") completed = [found, ...completed].slice(0, mostKept);
    if (fault?.kind === "lost")
      return record(callback, { attempt: 1, startedMs: now(), status: null, answer: "(not sent)" });
    if (fault?.kind === "late") await delay(fault.delayMs, undefined, { signal });
    // If two are held back, the second is sent first.
    if (fault?.kind === "reordered" && !releaseHeld) await untilNext(fault.delayMs);
    const release = releaseHeld;
    releaseHeld = undefined;
    const isFalse = fault?.kind === "forged" || fault?.kind === "other";
    if (fault?.kind === "forged") await post(forged(callback), 1);
    if (fault?.kind === "other") await post(await aboutAnother(callback), 1);
    if (found.record.status === "Processing") return;
    const copies = fault?.kind === "duplicated" ? [deliver(callback)] : [];
    const genuine = isFalse ? { ...callback, fault: null } : callback;
    await Promise.all([deliver(genuine, release), ...copies]);
  }

  /** What another Completed record says, sent to the URL of this one; the same if there is none in time. */
  async function aboutAnother(callback: Callback): Promise<Callback> {
    const { kind, id } = callback.record;
    for (let waits = 0; waits < mostWaits; waits += 1) {
      const other = completed.find(({ record }) => record.kind === kind && record.id !== id);
      if (other) return { ...callback, body: other.body };
      await delay(waitMs, undefined, { signal });
    }
    return callback;
  }

  /** Waits until the next callback was sent, or the time is over. */
  async function untilNext(ms: number): Promise<void> {
    const next = new AbortController();
    releaseHeld = () => next.abort();
    await delay(ms, undefined, { signal: AbortSignal.any([signal, next.signal]) }).catch(() => {});
    if (!next.signal.aborted) releaseHeld = undefined;
    signal.throwIfAborted();
  }

  /** At the end everything in progress is aborted; any other error is a bug. */
  function unlessAborted(error: unknown): void {
    if (!signal.aborted) throw error;
  }

  return () => closing.abort();
}

/** Sends callbacks, again if there is no 2xx, and records each attempt. */
function openDelivery({ journal, firstRetryMs, now, onEnd }: CallbackOptions, signal: AbortSignal) {
  async function deliver(callback: Callback, afterFirst?: () => void): Promise<void> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      if (attempt > 1) await delay(firstRetryMs * 2 ** (attempt - 2), undefined, { signal });
      const hasArrived = await post(callback, attempt);
      if (attempt === 1) afterFirst?.();
      if (hasArrived) return;
    }
  }

  async function post(callback: Callback, attempt: number): Promise<boolean> {
    const startedMs = now();
    const { status, answer } = await send(callback, signal);
    signal.throwIfAborted();
    record(callback, { attempt, startedMs, status, answer });
    onEnd?.(callback.record, status);
    return status !== null && status >= 200 && status < 300;
  }

  function record(
    { url, body, fault }: Callback,
    { attempt, startedMs, ...response }: Response & { attempt: number; startedMs: number },
  ): void {
    journal.add({
      at: new Date(startedMs).toISOString(),
      method: "POST",
      path: url,
      fault,
      durationMs: now() - startedMs,
      attempt,
      request: { headers, body: JSON.stringify(body) },
      ...response,
    });
  }

  return { deliver, post, record };
}

/** Undefined if it is not reported: the specification has no callbacks of payouts. */
function callbackOf(
  kind: Resource,
  id: string,
  { store, refundCallbackUrl, isLocal }: CallbackOptions,
): Callback | undefined {
  const payment = kind === "payment" ? store.find(kind, id) : undefined;
  const refund = kind === "refund" ? store.find(kind, id) : undefined;
  const url = payment ? payment.body.callback_url : refund && refundCallbackUrl;
  const body = payment ? paymentReply(payment) : refund && refundReply(refund);
  if (!url || !body || (isLocal && !isLoopback(new URL(url)))) return undefined;
  return { record: { kind, id, status: body.status }, url, body, fault: null };
}

/** The opposite of what happened. */
function forged(callback: Callback): Callback {
  const { body } = callback;
  const status = body.status === "Completed" ? "Cancelled" : "Completed";
  return { ...callback, body: { ...body, status } };
}

/** The merchant's response; without one, the status is null and `answer` the reason. */
interface Response {
  status: number | null;
  answer: string;
}

/** Sends it once: follows no redirect, uses no proxy, verifies certificates. */
async function send({ url, body }: Callback, signal: AbortSignal): Promise<Response> {
  try {
    const incoming = await responseTo(url, JSON.stringify(body), signal);
    return { status: incoming.statusCode ?? null, answer: await beginningOf(incoming) };
  } catch (error) {
    return { status: null, answer: error instanceof Error ? reasonOf(error) : String(error) };
  }
}

function responseTo(url: string, text: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { request } = new URL(url).protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const all = { ...headers, "content-length": Buffer.byteLength(text) };
    const options = { method: "POST", headers: all, signal, rejectUnauthorized: true };
    const outgoing = request(url, options, resolve);
    const late = new Error(`no response in ${responseMs / 1000} s`);
    const timer = setTimeout(() => outgoing.destroy(late), responseMs);
    outgoing.once("close", () => clearTimeout(timer));
    outgoing.once("error", reject);
    outgoing.end(text);
  });
}

/** A body that breaks off or never ends changes nothing: the status is known. */
async function beginningOf(incoming: IncomingMessage): Promise<string> {
  let read = Buffer.alloc(0);
  try {
    for await (const chunk of incoming) {
      read = Buffer.concat([read, chunk]);
      if (read.length > largestResponse) break;
    }
  } catch {
    // What arrived before is shown.
  }
  return read.subarray(0, largestResponse).toString("utf8");
}

function reasonOf(error: Error): string {
  const code = errorCode(error) ?? error.message;
  return /CERT|^UNABLE_TO_|SELF_SIGNED/.test(code)
    ? `${code}: its certificate is not trusted; for a private CA start the sandbox with NODE_EXTRA_CA_CERTS`
    : code;
}
