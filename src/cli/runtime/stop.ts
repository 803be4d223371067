import { setMaxListeners } from "node:events";
import type { Host, Signal } from "../../platform/host.ts";

/** How a run is stopped from outside. */
export interface Stop {
  /** Fires at the first Ctrl-C or SIGTERM. */
  stopping: AbortSignal;
  /** Fires when what is in flight must not be waited for any longer. */
  cutOff: AbortSignal;
  /** The signal that came first, if one came. */
  signal(): Signal | undefined;
  /** Cuts off after this time, unless the run is over by then; a later call counts instead. */
  cutOffAfter(ms: number): void;
  /** When it will cut off, in milliseconds since 1970. */
  cutOffAtMs(): number;
  /** While a person is asked something nothing is in flight, and their time does not count. */
  hold(isHeld: boolean): void;
  /** The terminal is gone in the middle of a question: nothing is under way, and nobody is there. */
  hangUp(): void;
  /** The run is over: a signal that comes while it closes does not take its exit code from it. */
  end(): void;
}

/**
 * Listens for signals. The first stops politely, the second cuts off what is in flight, a third
 * kills as usual.
 *
 * @param finishes whether what is in flight may end after the first: so it is where money moves
 */
export function listenForStop(
  host: Pick<Host, "now" | "sleep" | "onSignal" | "raise">,
  { finishes, notice }: { finishes: boolean; notice: (text: string) => void },
): Stop {
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Every request that is under way listens: of a batch that is more than Node finds usual.
  setMaxListeners(0, stopping.signal, cutOff.signal);
  let timer = new AbortController();
  let cutOffAtMs = Number.POSITIVE_INFINITY;
  let heldSinceMs: number | undefined;
  let first: Signal | undefined;
  let isOver = false;
  const stopListening = host.onSignal((signal) => {
    const isFirst = first === undefined;
    first ??= signal;
    if (!isFirst) stopListening();
    if (isOver) return;
    if (!isFirst || !finishes) cutOff.abort();
    if (signal === "SIGHUP" && heldSinceMs !== undefined) hangUp();
    if (isFirst && finishes && heldSinceMs === undefined)
      notice(
        "Stopping after the requests in flight. Press Ctrl-C again to stop at once: their outcome is then unknown.",
      );
    stopping.abort();
  });
  const hangUp = (): void => {
    stopListening();
    host.raise("SIGHUP");
  };
  const cutOffAfter = (ms: number): void => {
    timer.abort();
    cutOffAtMs = host.now() + ms;
    if (!Number.isFinite(ms)) return;
    const own = new AbortController();
    timer = own;
    void host.sleep(ms, own.signal).then(() => {
      if (!own.signal.aborted) cutOff.abort();
    });
  };
  return {
    stopping: stopping.signal,
    cutOff: cutOff.signal,
    signal: () => first,
    cutOffAfter,
    cutOffAtMs: () => cutOffAtMs,
    hold: (isHeld) => {
      if (isHeld) timer.abort();
      else if (heldSinceMs !== undefined) cutOffAfter(cutOffAtMs - heldSinceMs);
      heldSinceMs = isHeld ? host.now() : undefined;
    },
    hangUp,
    end: () => {
      isOver = true;
      timer.abort();
    },
  };
}
