import type { Host, Signal } from "../host.ts";

/** How a run is stopped from outside. */
export interface Stop {
  /** Fires at the first Ctrl-C or SIGTERM. */
  stopping: AbortSignal;
  /** Fires when what is in flight must not be waited for any longer. */
  cutOff: AbortSignal;
  /** The signal that came first, if one came. */
  signal(): Signal | undefined;
  /** Cuts off after this time, unless the run is over by then. */
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
export function listenForStop(host: Host, { finishes }: { finishes: boolean }): Stop {
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const ended = new AbortController();
  let first: Signal | undefined;
  const stopListening = host.onSignal((signal) => {
    if (first !== undefined || !finishes) cutOff.abort();
    if (first !== undefined) stopListening();
    first ??= signal;
    stopping.abort();
  });
  return {
    stopping: stopping.signal,
    cutOff: cutOff.signal,
    signal: () => first,
    cutOffAfter: (ms) => {
      void host.sleep(ms, ended.signal).then(() => cutOff.abort());
    },
    end: () => {
      stopListening();
      ended.abort();
    },
  };
}
