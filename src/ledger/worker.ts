import type { Holder, Owner } from "./operation.ts";

/** Who works, when, and how to tell whether another process still does. */
export interface Worker {
  owner: Owner;
  user: string;
  /** The command line's name, without its arguments: they may hold anything. */
  command: string;
  holder: Omit<Holder, "since">;
  now(): number;
  newId(): string;
  /** Whether the process that holds an operation still runs. */
  isAlive(holder: Holder): boolean;
  /** Takes secrets out of what the service said: it may have sent one back. */
  scrub(text: string): string;
}
