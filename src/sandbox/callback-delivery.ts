import { setTimeout as delay } from "node:timers/promises";
import type { Status } from "../domain/statuses.ts";
import { callbackHeaders, postCallback } from "./callback-post.ts";
import type { Journal } from "./journal.ts";

/** What a merchant is told: the record, as its retrieve endpoint shows it. */
export interface Callback {
  url: string;
  body: { status: Status };
  /** The rule of the fault that it suffers from. */
  fault: string | null;
}

export interface DeliveryOptions {
  journal: Journal;
  /** Before a second try; doubled before each one after it. */
  firstRetryMs: number;
  /** Milliseconds since 1970. */
  now: () => number;
}

export interface Delivery {
  /** Tries until it arrives: once, and six times more. */
  deliver(callback: Callback, afterFirst?: () => void): Promise<void>;
  /** Tries once; whether it arrived. */
  attempt(callback: Callback, number: number): Promise<boolean>;
  /** Writes one down that is not sent at all. */
  lose(callback: Callback): void;
}

/** Every try ends in the journal, with where it went. The signal ends them all. */
export function createDelivery(options: DeliveryOptions, signal: AbortSignal): Delivery {
  const { journal, firstRetryMs, now } = options;

  async function attempt(callback: Callback, number: number): Promise<boolean> {
    const startedMs = now();
    const text = JSON.stringify(callback.body);
    const { status, answer } = await postCallback(callback.url, text, signal);
    signal.throwIfAborted();
    note(callback, { number, startedMs, status, answer });
    return status !== null && status >= 200 && status < 300;
  }

  async function deliver(callback: Callback, afterFirst?: () => void): Promise<void> {
    for (let number = 1; number <= mostTries; number += 1) {
      if (number > 1) await delay(firstRetryMs * 2 ** (number - 2), undefined, { signal });
      const arrived = await attempt(callback, number);
      if (number === 1) afterFirst?.();
      if (arrived) return;
    }
  }

  function note(
    { url, body, fault }: Callback,
    { number, startedMs, status, answer }: Tried,
  ): void {
    journal.add({
      at: new Date(startedMs).toISOString(),
      method: "POST",
      path: url,
      status,
      fault,
      durationMs: now() - startedMs,
      attempt: number,
      request: { headers: callbackHeaders, body: JSON.stringify(body) },
      answer,
    });
  }

  const lose = (callback: Callback): void =>
    note(callback, { number: 1, startedMs: now(), status: null, answer: "(not sent)" });

  return { deliver, attempt, lose };
}

/** With a second before the first of them, about a minute of tries. */
const mostTries = 7;

interface Tried {
  number: number;
  startedMs: number;
  status: number | null;
  answer: string;
}
