import type { Client } from "../api/client.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** What an operation needs of the world; all of it is handed in. */
export interface World {
  client: Client;
  /** Opened when money is about to move; a ledger that cannot be written means that nothing is sent. */
  ledger(): Promise<Ledger>;
  /** What belongs to every fingerprint. */
  account: { baseUrl: string; environment: string };
  /** Milliseconds since 1970. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  /** Returns early when the run is to stop: who waits for the time to pass asks `isStopping` too. */
  sleep(ms: number): Promise<void>;
  /** Runs something after all that can run at this moment, and after responses that have arrived. */
  soon(work: () => void): void;
  /** When the whole command must be over, in milliseconds since 1970. */
  deadlineMs: number;
  /** Moves the deadline of a command that waits; an explicit --timeout stays. */
  waitFor(ms: number): void;
  /** Set by the first Ctrl-C, where what is in flight may end, and by `isOutOfTime`: nothing new begins. */
  isStopping(): boolean;
  /** The time of --timeout is over: what was in flight is cut off. */
  isOutOfTime(): boolean;
  /** How far the service's clock is ahead of ours, as the latest answer told. */
  clockAheadMs(): number | undefined;
  /** The same, at least, as the answers of this run tell together. */
  clockAheadLeastMs(): number | undefined;
  /** One line to the person, on stderr. With a reason it is a warning about money: JSON has it too. */
  notice(text: string, reason?: string): void;
}
