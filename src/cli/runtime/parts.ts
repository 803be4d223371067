import { setMaxListeners } from "node:events";
import type { Actor } from "../../domain/actor.ts";
import type { Host, Signal } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Output } from "../output/render.ts";
import type { Scrubber } from "../output/scrub.ts";

/** Shared by the parts of a run. */
export interface RunParts extends SessionOptions {
  /** Called at the end of the run, the last one first. */
  closing: (() => void | Promise<void>)[];
  stop: Stop;
  scrub(text: string): string;
  notice(text: string, reason?: string): void;
  /** Prints a line of --verbose. */
  trace(text: string): void;
  /** Called when a request that may change something at the API left this machine. */
  noteWrite(): void;
  /** Called when the ledger has recorded something that this run may send, or has sent. */
  noteIntent(): void;
  /** How long the ledger may still be waited for, in milliseconds. */
  leftMs(): number;
}

/** The options of a run. */
export interface SessionOptions {
  host: Host;
  globals: Globals;
  /** True if results and errors are JSON: then no notices are printed. */
  isJson: boolean;
  output: Output;
  version: string;
  /** The command's name, which the ledger stores. */
  command: string;
  /** Who acts, which the ledger stores. */
  actorOf(): Actor;
  /** The whole command line: a secret that was typed in place of an ID must not be sent. */
  argv: string[];
  scrubber: Scrubber;
  /** True if requests in flight may end after the first Ctrl-C, because they move money. */
  finishes: boolean;
  /** True if only --timeout limits the run. */
  patient: boolean;
}

/** Stops a run: by a signal, or at its deadline. */
type Stop = ReturnType<typeof listenForStop>;

/**
 * Listens for signals. The first one starts nothing new, the second one aborts requests in flight, and a
 * third one kills the process.
 *
 * @param finishes true if requests in flight may end after the first signal, because they move money
 */
export function listenForStop(
  host: Pick<Host, "now" | "monotonicMs" | "sleep" | "onSignal" | "raise">,
  { finishes, notice }: { finishes: boolean; notice: (text: string) => void },
) {
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Every request in flight of a batch listens, which is more than Node's default limit.
  setMaxListeners(0, stopping.signal, cutOff.signal);
  let timer = new AbortController();
  let cutOffAtMs = Number.POSITIVE_INFINITY;
  /** The same moment by the clock that is never set. */
  let endsAtMs = Number.POSITIVE_INFINITY;
  /** What is left of the time while a prompt is open. */
  let heldLeftMs: number | undefined;
  let first: Signal | undefined;
  let isOver = false;
  const stopListening = host.onSignal((signal) => {
    const isFirst = first === undefined;
    first ??= signal;
    if (!isFirst) stopListening();
    if (isOver) return;
    if (!isFirst || !finishes) cutOff.abort();
    if (signal === "SIGHUP" && heldLeftMs !== undefined) hangUp();
    if (isFirst && finishes && heldLeftMs === undefined)
      notice(
        "Stopping after the requests in flight. Press Ctrl-C again to stop at once: their outcome is then unknown.",
      );
    stopping.abort();
  });
  const hangUp = (): void => {
    stopListening();
    host.raise("SIGHUP");
  };
  const leftMs = (): number => heldLeftMs ?? endsAtMs - host.monotonicMs();
  const cutOffAfter = (ms: number): void => {
    timer.abort();
    cutOffAtMs = host.now() + ms;
    endsAtMs = host.monotonicMs() + ms;
    if (!Number.isFinite(ms)) return;
    const own = new AbortController();
    timer = own;
    void host.sleep(ms, own.signal).then(() => {
      if (!own.signal.aborted) cutOff.abort("deadline");
    });
  };
  return {
    /** Aborts at the first Ctrl-C or SIGTERM. */
    stopping: stopping.signal,
    /** Aborts requests in flight; its reason is `deadline` at the end of the time. */
    cutOff: cutOff.signal,
    /** The first signal that arrived. */
    signal: () => first,
    /** Sets the deadline of the run; a later call replaces it. */
    cutOffAfter,
    /** The deadline, in milliseconds since 1970. */
    cutOffAtMs: () => cutOffAtMs,
    /** The time until the deadline, in milliseconds; negative after it. */
    leftMs,
    /** Stops the clock of the deadline while a prompt is open. */
    hold: (isHeld: boolean): void => {
      if (isHeld) timer.abort();
      else if (heldLeftMs !== undefined) cutOffAfter(heldLeftMs);
      heldLeftMs = isHeld ? leftMs() : undefined;
    },
    /** Ends the process because the terminal was closed at a prompt: no request is in flight then. */
    hangUp,
    /** Stops the run as the first signal does, and aborts requests in flight after this time. */
    stopWithin: (ms: number): void => {
      if (!stopping.signal.aborted) stopping.abort();
      cutOffAfter(ms);
    },
    /** Ends the run: a later signal does not change its exit code. */
    end: (): void => {
      isOver = true;
      timer.abort();
    },
  };
}
