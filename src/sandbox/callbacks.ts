import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { CallbackFault } from "../api/contract/fault.ts";
import { errorCode } from "../domain/error-code.ts";
import type { Resource, Status } from "../domain/statuses.ts";
import type { AppOptions } from "./app.ts";
import { paymentReply, refundReply } from "./endpoints.ts";
import type { Random } from "./random.ts";

export interface CallbackOptions extends Pick<AppOptions, "store" | "journal" | "now"> {
  /** Decides whether a fault applies. */
  random: Random;
  /** Where refunds are reported; a payment has its own URL. */
  refundCallbackUrl: string | undefined;
  faults: readonly CallbackFault[];
  /** Before the second attempt; doubled before each further one. */
  firstRetryMs: number;
}

interface Callback {
  url: string;
  /** The record, as its retrieve endpoint shows it. */
  body: { status: Status };
  /** The rule of its fault. */
  fault: string | null;
}

/** With a second before the first retry, about a minute. */
const mostAttempts = 7;
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
  const { store, journal, faults, random, firstRetryMs, now } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let releaseHeld: (() => void) | undefined;

  store.onMove((kind, id) => {
    // Later: the response is sent first, and the transaction that moved the record ends first.
    setImmediate(() => {
      const callback = signal.aborted ? undefined : callbackOf(kind, id, options);
      if (callback) report(callback).catch(unlessAborted);
    });
  });

  async function report(found: Callback): Promise<void> {
    const fault = faults.find(({ rate }) => rate === 1 || random.share() < rate);
    const callback = { ...found, fault: fault?.rule ?? null };
    if (fault?.kind === "lost")
      return record(callback, { attempt: 1, startedMs: now(), status: null, answer: "(not sent)" });
    if (fault?.kind === "late") await delay(fault.delayMs, undefined, { signal });
    // If two are held back, the second is sent first.
    if (fault?.kind === "reordered" && !releaseHeld) await untilNext(fault.delayMs);
    const release = releaseHeld;
    releaseHeld = undefined;
    if (fault?.kind === "forged") await post(forged(callback), 1);
    const copies = fault?.kind === "duplicated" ? [deliver(callback)] : [];
    const genuine = fault?.kind === "forged" ? { ...callback, fault: null } : callback;
    await Promise.all([deliver(genuine, release), ...copies]);
  }

  /** Waits until the next callback was sent, or the time is over. */
  async function untilNext(ms: number): Promise<void> {
    const next = new AbortController();
    releaseHeld = () => next.abort();
    await delay(ms, undefined, { signal: AbortSignal.any([signal, next.signal]) }).catch(() => {});
    if (!next.signal.aborted) releaseHeld = undefined;
    signal.throwIfAborted();
  }

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

  /** At the end everything in progress is aborted; any other error is a bug. */
  function unlessAborted(error: unknown): void {
    if (!signal.aborted) throw error;
  }

  return () => closing.abort();
}

/** Undefined if it is not reported: the specification has no callbacks of payouts. */
function callbackOf(
  kind: Resource,
  id: string,
  { store, refundCallbackUrl: url }: CallbackOptions,
): Callback | undefined {
  const payment = kind === "payment" ? store.find(kind, id) : undefined;
  if (payment) return { url: payment.body.callback_url, body: paymentReply(payment), fault: null };
  const refund = kind === "refund" ? store.find(kind, id) : undefined;
  return refund && url !== undefined ? { url, body: refundReply(refund), fault: null } : undefined;
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
