import type { Paisa } from "../contract/amount.ts";
import type { State } from "../state.ts";

/** What was done: the five things that this machine sends to change something. */
export type Kind = "payment" | "payout" | "refund" | "cancel" | "trigger";

/** The account that an operation belongs to; ids of one mean nothing in another. */
export interface Owner {
  profile: string;
  environment: string;
  baseUrl: string;
  /** Tells keys apart without holding them. */
  keyId: string;
}

/** What is about to be sent, written down before any byte of it leaves (I1). */
export interface Intent {
  kind: Kind;
  /** A payout's `merchantRef`; null for everything else. */
  reference: string | null;
  /** One reference has one fingerprint for ever (I2). */
  fingerprint: string;
  amountPaisa: Paisa | null;
  /**
   * The payment that a refund pays back; the record that a cancel or a trigger moves; the cancelled
   * operation that a payout stands in for.
   */
  target: string | null;
  /** The request as it was asked for, without secrets, timestamp and signature. */
  asked: Record<string, unknown>;
}

/** An intent with a reference: a payout's. */
export interface ReferencedIntent extends Intent {
  reference: string;
}

export interface Operation extends Intent {
  /** `OP` and a ULID: what `ledger show` and `ledger resolve` take. */
  id: string;
  /** Rises with every operation of this ledger. */
  number: bigint;
  state: State;
  /** The service's id, once it is known. */
  remoteId: string | null;
  /** The last status that the service told, and nothing else. */
  status: string | null;
  /** Why it stands where it stands, where there is a reason: a kind of failure, and its sentence. */
  code: string | null;
  message: string | null;
  attempts: number;
  /** ISO 8601. */
  createdAt: string;
  /** Since when it may have been sent: it may have been begun anew after it was known not to have been. */
  openedAt: string;
  updatedAt: string;
  /** Who works on it at this moment: nobody, or a process. */
  holder: Holder | null;
  /** Who started it, and with which command. */
  user: string;
  command: string;
  profile: string;
  environment: string;
  baseUrl: string;
}

/** A process that works on an operation; a lock that dies with it. */
export interface Holder {
  pid: number;
  /** The name of what the operating system keeps locked for it. */
  lock: string;
  machine: string;
  since: string;
}

/** What came of an attempt, or of looking later. */
export interface Outcome {
  state: State;
  remoteId?: string | undefined;
  status?: string;
  /** Whether the head of the request reached a socket. */
  sent?: boolean;
  /** A kind of failure, and its sentence. */
  code?: string;
  message?: string;
  /** The first 4 KiB of an answer that nobody understood. */
  answer?: string;
  /** The service's id of a record that is not this operation's (CONFLICT). */
  otherId?: string;
}
