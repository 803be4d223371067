import { setMaxListeners } from "node:events";
import type { Host, Signal } from "../host.ts";

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
  /** The run is over: listens to nothing any longer. */
  end(): void;
}

/**
 * Listens for signals. The first stops politely, the second cuts off what is in flight, a third
 * kills as usual.
 *
 * @param finishes whether what is in flight may end after the first: so it is where money moves
 */
export function listenForStop(
  host: Host,
  { finishes, notice }: { finishes: boolean; notice: (text: string) => void },
): Stop {
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Every request that is under way listens: of a batch that is more than Node finds usual.
  setMaxListeners(0, stopping.signal, cutOff.signal);
  let timer = new AbortController();
  let first: Signal | undefined;
  const stopListening = host.onSignal((signal) => {
    if (first !== undefined || !finishes) cutOff.abort();
    if (first !== undefined) stopListening();
    if (first === undefined && finishes)
      notice("Stopping: what is under way may end; once more leaves it uncertain.");
    first ??= signal;
    stopping.abort();
  });
  return {
    stopping: stopping.signal,
    cutOff: cutOff.signal,
    signal: () => first,
    cutOffAfter: (ms) => {
      timer.abort();
      const own = new AbortController();
      timer = own;
      void host.sleep(ms, own.signal).then(() => {
        if (!own.signal.aborted) cutOff.abort();
      });
    },
    end: () => {
      stopListening();
      timer.abort();
    },
  };
}
