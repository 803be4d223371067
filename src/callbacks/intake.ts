import { Failure } from "../failure.ts";
import type { CallbackRequest, CallbackSource, StoredCallback } from "../ledger/callback.ts";
import { answerFor } from "./forward.ts";
import { type Handled, type Handling, handle, type Taken } from "./handle.ts";
import type { Limits } from "./limits.ts";
import { checkedBefore, isOver } from "./next-look.ts";
import { openGate, openPace } from "./pace.ts";
import { stopped, unlessStopped } from "./stopping.ts";
import type { Look } from "./verify.ts";

export interface IntakeOptions extends Omit<Handling, "alwaysForwards"> {
  limits: Limits;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Told of each, once; resolves when somebody saw it. */
  onTaken(taken: Taken): Promise<void>;
  notice(text: string): void;
}

export type Intake = ReturnType<typeof openIntake>;

/**
 * What happens to a callback: it is kept, and durable; then the service is asked, the ledger learns
 * what the service said, and it is passed on. A callback alone sets nothing.
 */
export function openIntake(options: IntakeOptions) {
  const { callbacks, limits, forwardTo, stopping, notice } = options;
  const gate = openGate(limits.atOnce);
  const pace = openPace(limits.retrievePauseMs, {
    now: options.now,
    sleep: (ms) => options.sleep(ms, stopping),
  });
  const underWay = new Map<number, UnderWay>();
  const told = new Set<number>();

  const look: Look = async (kind, id) => {
    await pace();
    return unlessStopped(options.look(kind, id), stopping);
  };

  const tell = async (taken: Taken): Promise<void> => {
    // Only what repeats within a minute is asked for here.
    if (told.size > 10_000) told.clear();
    told.add(taken.callback.number);
    await options.onTaken(taken);
  };

  /** The one place where a fault on the way becomes a status: the sender may try again. */
  function begin({ number }: StoredCallback): Promise<number> {
    let answer = (_: number): void => {};
    const status = new Promise<number>((resolve) => {
      answer = resolve;
    });
    const done = gate.through(async () => {
      try {
        if (stopping.aborted) throw stopped();
        const handled = await handle(number, { ...options, look, alwaysForwards: false });
        answer(handled.status);
        if (handled.isGivenUp) notice(givenUp(handled));
        if (handled.isNews || !told.has(number)) await tell(handled.taken);
      } catch (error) {
        if (!stopping.aborted && !isLocked(error))
          notice(`Callback ${number}: ${messageOf(error)}`);
        answer(503);
      }
    });
    underWay.set(number, { done: done.finally(() => underWay.delete(number)), next: undefined });
    return status;
  }

  /**
   * The same again: while it is looked at, all that come are one more look, for what is being retrieved
   * may be older than they are. Once its records have ended there is nothing more to see.
   */
  function route(callback: StoredCallback): Promise<number> {
    const running = underWay.get(callback.number);
    if (!running) return isOver(callback, forwardTo) ? repeat(callback) : begin(callback);
    running.next ??= running.done
      .then(() => route(callbacks.find(callback.number) ?? callback))
      .catch(() => 503);
    return running.next;
  }

  return {
    /** Keeps a callback and gives the status that its sender gets. */
    async take(received: CallbackRequest, source: CallbackSource): Promise<number> {
      if (stopping.aborted || gate.waiting() >= limits.queue) return 503;
      const kept = keep(received, source);
      if (typeof kept === "number") return kept;
      const status = route(kept);
      // Without anybody to pass it on to, it is durable, and nobody needs to wait for more.
      return forwardTo === undefined ? 200 : inTime(status);
    },

    /**
     * Takes up what was kept and did not come to its end; resolves once all of that was looked at. Two
     * at a time, so that it leaves room for what comes.
     */
    async takeUp(): Promise<void> {
      const due = dueNow().values();
      const lane = async (): Promise<void> => {
        for (const callback of due)
          if (!underWay.has(callback.number) && !stopping.aborted) await begin(callback);
      };
      await Promise.all([lane(), lane()]);
    },

    /** Resolves once nothing is under way. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };

  function dueNow(): StoredCallback[] {
    try {
      return callbacks.due(forwardTo);
    } catch (error) {
      notice(`What is to be tried again could not be read: ${messageOf(error)}`);
      return [];
    }
  }

  /** The callback as it is kept now, or the status that says that it is not. */
  function keep(received: CallbackRequest, source: CallbackSource): StoredCallback | number {
    try {
      return callbacks.keep(received, source) ?? 503;
    } catch (error) {
      notice(`A callback could not be kept; its sender was told so: ${messageOf(error)}`);
      return 500;
    }
  }

  /** An earlier run may have looked at it: then this one's reader does not know it yet. */
  async function repeat(callback: StoredCallback): Promise<number> {
    const { number, forwarded } = callback;
    const checked = checkedBefore(callback);
    if (checked && !told.has(number)) void tell({ callback, ...checked, resolved: [] });
    return forwardTo === undefined ? 200 : answerFor(forwarded?.status ?? null);
  }

  function inTime(status: Promise<number>): Promise<number> {
    const over = new AbortController();
    const tooLate = options
      .sleep(limits.answerMs, AbortSignal.any([over.signal, stopping]))
      .then(() => 503);
    return Promise.race([status, tooLate]).finally(() => over.abort());
  }
}

interface UnderWay {
  /** Resolves when nothing more comes of it. */
  done: Promise<void>;
  /** The look after this one, for all that came meanwhile. */
  next: Promise<number> | undefined;
}

function givenUp({ taken: { callback, verdict } }: Handled): string {
  const { number } = callback;
  const [why, replay] =
    verdict === "unanswered"
      ? ["the service did not answer for a day", `callback replay ${number}`]
      : ["your handler did not take it for a day", `callback replay ${number} --forward-to <url>`];
  return `Callback ${number} is given up: ${why}. 'lenden ${replay}' tries it again.`;
}

function isLocked(error: unknown): boolean {
  return error instanceof Failure && error.kind === "locked";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
