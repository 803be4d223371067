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
  /** Fails where others can no longer see this process: they may work on what it holds. */
  assertSeen(): void;
  /** Takes secrets out of what the service said: it may have sent one back. */
  scrub(text: string): string;
}

/** This moment, ISO 8601. */
export function nowIn(worker: Worker): string {
  return new Date(worker.now()).toISOString();
}

/** This process, as what holds an operation from now on. */
export function holderNow(worker: Worker): Holder {
  return { ...worker.holder, since: nowIn(worker) };
}
