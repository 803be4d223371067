import type { Resource } from "../domain/statuses.ts";
import type { Holder } from "./operation.ts";

/** The callbacks of one account. Every change is durable when it resolves. */
export interface CallbackStore {
  /** Makes this process the account's only listener; returns the other one if it still runs. */
  listen(): Promise<Holder | undefined>;
  /**
   * Stores a request without its secrets, or counts it if the same one was received within a minute.
   *
   * @param isKnown true if the ledger has the record that it names: half of the places are only for these
   * @returns undefined if too many are pending: those were acknowledged to their senders
   */
  keep(
    request: CallbackRequest,
    source: CallbackSource,
    isKnown: boolean,
  ): Promise<StoredCallback | undefined>;
  /** The pending callbacks that are due: known records first, then those with the fewest checks. */
  due(to: string | undefined): Promise<StoredCallback[]>;
  /** Records a check, and when the next one is; null if never. */
  schedule(number: number, afterMs: number | null): Promise<void>;
  /** @param to the handler that is to get it, and has not got it until `recordForwarded` */
  recordVerdict(number: number, judged: CallbackVerdict, to: string | undefined): Promise<void>;
  recordForwarded(number: number, forwarded: Forwarded): Promise<void>;
  /** True if the handler acknowledged this finding with 2xx, with whichever callback. */
  isDelivered(finding: string, to: string): Promise<boolean>;
  find(number: number): Promise<StoredCallback | undefined>;
  /** Newest first, at most so many of those with a lower number than `below`. */
  list(filter: CallbackFilter, limit: number, below?: number): Promise<StoredCallback[]>;
  /** How many a filter selects; more than `most` are not counted. */
  count(filter: CallbackFilter, most: number): Promise<number>;
}

/** Selects callbacks; every part that is given has to match. */
export interface CallbackFilter {
  verdict?: string | undefined;
  /** When it was received, ISO 8601, inclusive. */
  since?: string | undefined;
  until?: string | undefined;
}

/** A request as it was received; nothing in it is trusted. */
export interface CallbackRequest extends CallbackContent {
  method: string;
}

/** The parts of a request that can name a record. */
export interface CallbackContent {
  /** Path and query. */
  target: string;
  /** In lower case, without those that may hold a secret. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** `polled`: created by lenden, because the API returned another status than before. */
export type CallbackSource = "received" | "polled";

/** The result of the check with the API. */
export interface CallbackVerdict {
  verdict: string;
  explanation: string | null;
  records: CheckedRecord[];
  /** A digest of what a handler is told: equal for all callbacks that say the same of a record. */
  finding: string;
}

/** A record as a callback describes it, and as the API has it. */
export interface CheckedRecord {
  kind: Resource | null;
  id: string;
  claimed: { status: string | null; amount: string | null };
  /** Null if the API does not know it. */
  verified: { status: string; amount: number; description: string | null } | null;
}

export interface StoredCallback extends CallbackRequest {
  number: number;
  source: CallbackSource;
  /** ISO 8601: when it was first received. */
  receivedAt: string;
  /** The number of times that the request was received within a minute. */
  count: number;
  /** Null until the API was asked. */
  judged: CallbackVerdict | null;
  /** The number of checks since its verdict last changed. */
  checks: number;
  /** When it is checked again; null if never. */
  dueAt: string | null;
  /** True if the ledger had the record that it names when it came. */
  isKnown: boolean;
  forwarded: Forwarded | null;
}

/** The handler that a callback is forwarded to. */
export interface Forwarded {
  to: string;
  /** The handler's HTTP status; null without a response, and then `fault` is the reason if it was tried. */
  status: number | null;
  fault: string | null;
  /** The digest of the verdict that was forwarded; null until that has ended. */
  finding: string | null;
}
