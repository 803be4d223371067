import { Failure } from "../domain/failure.ts";
import type { StoredCallback } from "../ledger/callback.ts";
import { answerFor } from "./forward.ts";
import { type Handled, type Handling, handle, type Taken } from "./handle.ts";
import type { Limits } from "./limits.ts";
import { messageOf } from "./message.ts";
import { checkedBefore, isOver } from "./next-look.ts";
import { openPace } from "./pace.ts";
import { stopped, unlessStopped } from "./stopping.ts";
import { openTelling } from "./telling.ts";
import { openTurns } from "./turns.ts";
import type { Look } from "./verify.ts";

export interface WorkOptions extends Omit<Handling, "alwaysForwards"> {
  limits: Pick<Limits, "atOnce" | "retrievePauseMs" | "forwardMs">;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Told of each, once; resolves when somebody saw it. */
  onTaken(taken: Taken): Promise<void>;
  notice(text: string): void;
}

/** The work on callbacks that are kept. It gives the status for the sender, whatever goes wrong. */
export interface Work {
  /** On a callback that came just now, maybe not for the first time. */
  on(callback: StoredCallback): Promise<number>;
  /** On a callback that is not under way. */
  begin(callback: StoredCallback): Promise<number>;
  isUnderWay(callback: StoredCallback): boolean;
  /** How many wait for their turn. */
  waiting(): number;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

export function openWork(options: WorkOptions): Work {
  const { callbacks, limits, forwardTo, stopping, notice } = options;
  const turns = openTurns(limits.atOnce);
  const telling = openTelling(options.onTaken);
  const handling = { ...options, look: unhurried(options), alwaysForwards: false };

  return {
    on,
    begin,
    isUnderWay: ({ number }) => turns.isUnderWay(number),
    waiting: turns.waiting,
    idle: turns.idle,
  };

  /**
   * The same again: while it is looked at, all that come are one more look, for what is being retrieved
   * may be older than they are. Once its records have ended there is nothing more to see.
   */
  function on(callback: StoredCallback): Promise<number> {
    const { number } = callback;
    const next = turns.after(number, async () => on((await callbacks.find(number)) ?? callback));
    if (next) return next;
    return isOver(callback, forwardTo) ? repeat(callback) : begin(callback);
  }

  /** The one place where a fault on the way becomes a status: the sender may try again. */
  function begin({ number }: StoredCallback): Promise<number> {
    return turns.begin(number, async (answer) => {
      try {
        if (stopping.aborted) throw stopped();
        const handled = await handle(number, handling);
        answer(handled.status);
        if (handled.isGivenUp) notice(givenUp(handled));
        if (handled.isNews || !telling.hasTold(number)) await telling.tell(handled.taken);
      } catch (error) {
        if (!stopping.aborted && !isLocked(error))
          notice(`Callback ${number}: ${messageOf(error)}`);
        answer(503);
      }
    });
  }

  /** An earlier run may have looked at it: then this one's reader does not know it yet. */
  async function repeat(callback: StoredCallback): Promise<number> {
    const { number, forwarded } = callback;
    const checked = checkedBefore(callback);
    if (checked && !telling.hasTold(number))
      void telling.tell({ callback, ...checked, resolved: [] });
    return forwardTo === undefined ? 200 : answerFor(forwarded?.status ?? null);
  }
}

/** Retrieves with a pause between one and the next, and not beyond the end of the run. */
function unhurried({ look, limits, now, sleep, stopping }: WorkOptions): Look {
  const pace = openPace(limits.retrievePauseMs, { now, sleep: (ms) => sleep(ms, stopping) });
  return async (kind, id) => {
    await pace();
    return unlessStopped(look(kind, id), stopping);
  };
}

function givenUp({ taken: { callback, verdict } }: Handled): string {
  const { number } = callback;
  const [why, replay] =
    verdict === "unchecked"
      ? ["the service did not answer for a day", `callback replay ${number}`]
      : ["your handler did not take it for a day", `callback replay ${number} --forward-to <url>`];
  return `Callback ${number} is given up: ${why}. 'lenden ${replay}' tries it again.`;
}

function isLocked(error: unknown): boolean {
  return error instanceof Failure && error.kind === "locked";
}
