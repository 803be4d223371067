import type { Resource } from "../../contract/words.ts";

/** A request as it came from outside: nothing of it is believed. */
export interface CallbackRequest extends CallbackContent {
  method: string;
}

/** Everything in a request that can say something. */
export interface CallbackContent {
  /** Path and query. */
  target: string;
  /** In lower case, without what could be a secret of somebody's. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** `polled`: made here, because the service was seen to have another status than before. */
export type CallbackSource = "received" | "polled";

/** What it came to, once the service was asked. */
export interface CallbackVerdict {
  verdict: string;
  because: string | null;
  records: CheckedRecord[];
  /** Tells one outcome from another: the same text where nothing changed. */
  finding: string;
}

/** What was claimed of a record, beside what the service has. */
export interface CheckedRecord {
  kind: Resource | null;
  id: string;
  claimed: { status: string | null; amount: string | null };
  /** Null where the service does not know it. */
  verified: { status: string; amount: number; description: string | null } | null;
}

export interface StoredCallback extends CallbackRequest {
  number: number;
  source: CallbackSource;
  /** ISO 8601: when it came first. */
  receivedAt: string;
  /** How often the same came within a minute. */
  count: number;
  /** Null until the service was asked. */
  judged: CallbackVerdict | null;
  /** How often it was looked at since it was last judged otherwise than before. */
  looks: number;
  /** When it is to be looked at again; null where there is no reason to. */
  dueAt: string | null;
  /** Whether a process works on it at this moment. */
  isHeld: boolean;
  forwarded: Forwarded | null;
}

/** Where it is passed on to. */
export interface Forwarded {
  to: string;
  /** What answered; null without an answer. */
  status: number | null;
  /** What was passed on, as in its verdict; null as long as that was not finished. */
  finding: string | null;
}
