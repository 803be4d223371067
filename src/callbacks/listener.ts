import type { CallbackRequest, CallbackSource, StoredCallback } from "../ledger/callback.ts";
import { type NamedRecord, readContent } from "./content.ts";
import { type Handled, type Handling, handle } from "./handle.ts";

/** What a stranger may cost this machine and the API: callbacks come from anywhere. */
export const usualLimits = {
  bodyBytes: 64 * 1024, // usual bodies have some hundred bytes
  requestMs: 10_000, // from a request's first byte to its last
  connections: 1_000,
  /** Callbacks that wait, by whether the ledger knows the record that they name. */
  waiting: { known: 500, unknown: 100 },
  /** With so many about the same record waiting, a further one gets 503. */
  waitingOfRecord: 20,
  atOnce: 4, // half of them may name unknown records
  pauseMs: 100, // between two callbacks with known, or with unknown records
  forwardMs: 15_000, // for the handler's response
  answerMs: 25_000, // then a sender that still waits gets 503
};
export type Limits = typeof usualLimits;

export interface ListenerOptions extends Handling {
  limits: Limits;
  /** True if the ledger has an operation that created the record. */
  isKnown(record: NamedRecord): Promise<boolean>;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  onHandled(handled: Handled): void;
  notice(text: string): void;
}

interface Arriving {
  /** Undefined if it names no record. */
  key: string | undefined;
  isKnown: boolean;
}

/** A callback that waits for its turn, or is being handled. */
interface Pending extends Arriving {
  callback: StoredCallback;
  key: string;
  /** True if a sender may wait for it. */
  isFresh: boolean;
  isStarted: boolean;
  status: Promise<number>;
  resolve(status: number): void;
}

/**
 * Handles the callbacks of an account: each is stored and durable, then verified and forwarded. All that wait
 * are one list. Those whose record the ledger knows come first, and those about one record are handled one
 * after the other: neither made-up records nor many callbacks about one record keep the others waiting.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #pending: Pending[] = [];
  /** Those that are being stored. */
  readonly #arriving = new Set<Arriving>();
  readonly #inProgress = new Set<Promise<void>>();
  /** The callbacks that this run has shown. */
  readonly #shown = new Set<number>();
  readonly #freeAtMs = { known: 0, unknown: 0 };

  constructor(options: ListenerOptions) {
    this.#options = options;
    options.stopping.addEventListener("abort", () => {
      for (const one of this.#pending) one.resolve(503);
    });
  }

  /** Stores a callback and returns the status for its sender. */
  async take(request: CallbackRequest, source: CallbackSource): Promise<number> {
    const { handler, stopping } = this.#options;
    const { record } = readContent(request);
    const isKnown = record ? await this.#options.isKnown(record).catch(() => false) : false;
    const arriving = { key: record && keyOf(record), isKnown };
    if (stopping.aborted || this.#isFull(arriving)) return 503;
    this.#arriving.add(arriving);
    const callback = await this.#keep(request, source, isKnown);
    this.#arriving.delete(arriving);
    if (typeof callback === "number") return callback;
    const status = this.#add(callback, true);
    // Without a handler the callback is durable, and its sender need not wait for more.
    return handler ? this.#inTime(status) : 200;
  }

  /** Handles what is due: what an earlier run left, the API did not respond to, or the handler did not accept. */
  async retry(): Promise<void> {
    const { callbacks, handler, notice } = this.#options;
    const due = await callbacks.due(handler?.url).catch((error: unknown) => {
      notice(`Cannot read pending callbacks: ${messageOf(error)}`);
      return [];
    });
    const isPending = ({ number }: StoredCallback) =>
      this.#pending.some(({ callback }) => callback.number === number);
    await Promise.all(due.filter((one) => !isPending(one)).map((one) => this.#add(one, false)));
  }

  /** Resolves once nothing is in progress. */
  async idle(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress);
  }

  #isFull({ key, isKnown }: Arriving): boolean {
    const { waiting, waitingOfRecord } = this.#options.limits;
    const fresh = this.#pending.filter((one) => one.isFresh && !one.isStarted);
    const all = [...this.#arriving, ...fresh];
    const sameLane = all.filter((one) => one.isKnown === isKnown);
    const sameRecord = key === undefined ? [] : all.filter((one) => one.key === key);
    const most = isKnown ? waiting.known : waiting.unknown;
    return sameLane.length >= most || sameRecord.length >= waitingOfRecord;
  }

  /** The callback as it is stored, or the status that says that it is not. */
  async #keep(request: CallbackRequest, source: CallbackSource, isKnown: boolean) {
    const { callbacks, notice } = this.#options;
    try {
      return (await callbacks.keep(request, source, isKnown)) ?? 503;
    } catch (error) {
      notice(`Cannot store a callback, so its sender got HTTP 500: ${messageOf(error)}`);
      return 500;
    }
  }

  /** The same callback again while it waits is one; while it is handled, its record may change. */
  #add(callback: StoredCallback, isFresh: boolean): Promise<number> {
    const isSame = (one: Pending) => one.callback.number === callback.number && !one.isStarted;
    const same = this.#pending.find(isSame);
    if (same) return same.status;
    let resolve = (_: number): void => {};
    const status = new Promise<number>((done) => {
      resolve = done;
    });
    const key = keyOf(readContent(callback).record ?? callback.number);
    const { isKnown } = callback;
    this.#pending.push({ callback, key, isKnown, isFresh, isStarted: false, status, resolve });
    this.#startNext();
    return status;
  }

  #startNext(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const one = next;
      one.isStarted = true;
      const work = this.#run(one).finally(() => {
        this.#inProgress.delete(work);
        this.#pending.splice(this.#pending.indexOf(one), 1);
        this.#startNext();
      });
      this.#inProgress.add(work);
    }
  }

  #next(): Pending | undefined {
    const { atOnce } = this.#options.limits;
    const started = this.#pending.filter(({ isStarted }) => isStarted);
    if (started.length >= atOnce) return undefined;
    const mayBeUnknown = started.filter(({ isKnown }) => !isKnown).length < atOnce / 2;
    const busy = new Set(started.map(({ key }) => key));
    const free = this.#pending.filter(
      ({ isStarted, key, isKnown }) => !isStarted && !busy.has(key) && (isKnown || mayBeUnknown),
    );
    return free.find(({ isKnown }) => isKnown) ?? free[0];
  }

  /** The one place where an error becomes a status: the sender may retry. */
  async #run({ callback: { number }, isKnown, resolve }: Pending): Promise<void> {
    const { callbacks, stopping, notice } = this.#options;
    try {
      await this.#pause(isKnown ? "known" : "unknown");
      const callback = await callbacks.find(number);
      if (stopping.aborted || !callback) return resolve(503);
      const handled = await handle(callback, this.#options);
      resolve(handled.status);
      if (handled.isGivenUp) notice(givenUp(handled));
      this.#show(handled);
    } catch (error) {
      resolve(503);
      if (!stopping.aborted) notice(`Callback ${number}: ${messageOf(error)}`);
    }
  }

  async #pause(lane: "known" | "unknown"): Promise<void> {
    const { limits, now, sleep, stopping } = this.#options;
    const waitMs = this.#freeAtMs[lane] - now();
    this.#freeAtMs[lane] = Math.max(this.#freeAtMs[lane], now()) + limits.pauseMs;
    if (waitMs > 0) await sleep(waitMs, stopping);
  }

  /** What a run has shown is shown again only if something changed. */
  #show(handled: Handled): void {
    const { number } = handled.callback;
    if (this.#shown.has(number) && !handled.isNews) return;
    if (this.#shown.size > 10_000) this.#shown.clear();
    this.#shown.add(number);
    this.#options.onHandled(handled);
  }

  /** The status, or 503 for a sender that waited too long. */
  #inTime(status: Promise<number>): Promise<number> {
    const { limits, sleep } = this.#options;
    const over = new AbortController();
    const tooLate = sleep(limits.answerMs, over.signal).then(() => 503);
    return Promise.race([status, tooLate]).finally(() => over.abort());
  }
}

/** Callbacks with the same key are handled one after the other. */
function keyOf(about: NamedRecord | number): string {
  return typeof about === "number" ? `callback ${about}` : `${about.kind} ${about.id}`;
}

function givenUp({ callback: { number }, verdict }: Handled): string {
  const [why, replay] =
    verdict === "unchecked"
      ? ["the API did not respond for a day", `callback replay ${number}`]
      : [
          "your handler did not acknowledge it for a day",
          `callback replay ${number} --forward-to <url>`,
        ];
  return `Callback ${number} is no longer retried: ${why}. To retry it, run 'lenden ${replay}'.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
