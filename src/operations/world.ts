import type { Client } from "../http/client.ts";

/** What an operation needs of the world; all of it is handed in. */
export interface World {
  client: Client;
  /** Milliseconds since 1970. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  /** Returns early when the run is stopped. */
  sleep(ms: number): Promise<void>;
  /** When the whole command must be over, in milliseconds since 1970. */
  deadlineMs: number;
  /** Set by the first Ctrl-C: what is in flight may end, nothing new begins. */
  isStopping(): boolean;
  /** How far the service's clock is ahead of ours, once any answer told. */
  clockAheadMs(): number | undefined;
  /** One line to the person, on stderr. */
  notice(text: string): void;
}
