import type { Actor } from "../domain/actor.ts";
import type { Holder, Origin } from "./operation.ts";

/** Whose operations they are. */
export interface Owner {
  /** The profile's name, or how the key was given. */
  profile: string;
  /** Empty for a reader without a key. */
  environment: string;
  baseUrl: string;
  /** Tells API keys apart without holding them: the first 16 characters of a SHA-256. Empty for a reader. */
  keyId: string;
  /** True if the profile remembers that its environment had limits. */
  expectsLimits?: boolean;
  /** LENDEN_ACCOUNT, and the account that the profile stored. */
  account?: {
    named?: string | undefined;
    joins?: string | undefined;
    proposed?: string | undefined;
  };
}

/** Who records something, and what every store needs of the process. */
export interface Recorder {
  owner: Owner;
  user: string;
  /** The command's name, without its arguments: they may contain anything. */
  command: string;
  origin: Origin;
  actor: Actor;
  now(): number;
  newId(): string;
  /** The digests of findings about operations and batches that a person accepted on this machine. */
  acceptedRows?: readonly string[] | undefined;
  /** Removes secrets from what the API returned. */
  scrub(text: string): string;
}

/** The process that works with a ledger file, and how it tells whether another one still runs. */
export interface Worker extends Recorder {
  holder: Omit<Holder, "since">;
  /** True if the process that holds an operation may still run. */
  isAlive(holder: Holder): boolean;
  /** @throws Failure if other processes can no longer see this one: they may take what it holds */
  assertSeen(): void;
}

/** Who records something: the login at the server of the ledger, or the user of the operating system. */
export function loginOf({ origin, user }: Pick<Recorder, "origin" | "user">): string {
  return origin.ledgerLogin ?? user;
}

/** The current time, ISO 8601. */
export function nowIn(worker: Pick<Recorder, "now">): string {
  return new Date(worker.now()).toISOString();
}
