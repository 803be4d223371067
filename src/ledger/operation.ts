import type { Actor } from "../domain/actor.ts";
import type { Paisa } from "../domain/amount.ts";
import type { State } from "../domain/state.ts";
import type { Fields, Kind } from "./columns.ts";

export type { Kind } from "./columns.ts";

/** A request, recorded before any byte of it is sent (I1). */
export interface Intent {
  kind: Kind;
  /** A payout's `merchantRef`; null for everything else. */
  reference: string | null;
  /** Null if a raw body has an amount that cannot be read. */
  amountPaisa: Paisa | null;
  /**
   * The payment of a refund; the record of a cancel or a trigger; the cancelled payout that a payout
   * replaces (P24).
   */
  target: string | null;
  /** The request's body without secrets, timestamp and signature. */
  asked: Record<string, unknown>;
  /** The method's name as it was given; the request has its ID. */
  methodName?: string | null;
  /** The number of the batch that this payout is a row of. */
  batch?: bigint | null;
}

/** An intent with a reference: a payout's. */
export interface ReferencedIntent extends Intent {
  reference: string;
}

export interface Operation extends Fields {
  /** When it may first have been sent: later than `createdAt` if it was sent again after it was proved not sent. */
  openedAt: string;
  /** The process that works on it now, if any. */
  holder: Holder | null;
  /** The name of its account. */
  account: string;
  /** Who recorded it: the login at the server, or on a file the user of the operating system. */
  login: string;
}

/** An operation that a guard found: its columns agree with its events (I12). */
export interface FoundOperation extends Operation {
  /** The request as it was last sent, by the events: a rejected payout may have been corrected. */
  lastAsked: Record<string, unknown>;
  /** The ID of its batch, in its account. */
  batchId: string | null;
  /** True if its batch still sent its rows when the operation was ordered; false without a batch. */
  wasPlanned: boolean;
  /** True if its batch is of a ledger file whose payouts are not all here yet: this one may have been sent with the file. */
  isArriving: boolean;
  /** The process that last took it over, and its login; no login while the current transaction does that. */
  taker: { lock: string; login: string | undefined } | undefined;
  /** Shows who ordered it, if it is valid; never shown. */
  seal: string | null;
  /** By the events of this run's login, and of whoever recorded it until another login took it. */
  trusted: Sendable;
  /** The place in the chain of the event by which this run's login last ordered it. */
  orderedAt: number | undefined;
  /** Of one that is free: since which of its events it was free, or not, by their places in the chain; oldest first. */
  freeStates: { place: number; isFree: boolean }[];
  /** The latest time of its events, ISO 8601. */
  newestAt: string;
  /** When a person last reported an outcome of it, whatever was recorded since. ISO 8601. */
  reportedAt: string | undefined;
  /** What others recorded of it; null if they did not. */
  others: RecordedByOthers | null;
}

/** The events of an operation that this run does not trust. */
interface RecordedByOthers {
  /** Of the newest one. */
  login: string;
  /** ISO 8601. */
  at: string;
  /** In the chain of events. */
  place: number;
  /** True if its outcome is unknown without them, whichever of them are omitted. */
  isUnsettled: boolean;
  /** The operation without all of them. */
  without: Pick<Operation, "state" | "status" | "code" | "acceptedAt" | "updatedAt">;
}

/** What decides whether a payout of unknown outcome is still sent again (P25, P25b). The key is an empty text if several sent it. */
export type Sendable = Pick<Operation, "openedAt" | "keyHash">;

/** An operation with what other tables and operations say about it. */
export interface ListedOperation extends Operation {
  /** The ID of its batch. */
  batchId: string | null;
  /** The refunds of a payment; null for everything else. */
  refunds: RefundSums | null;
}

/** What was refunded of a payment, as far as the ledger knows. */
export interface RefundSums {
  /** Completed. */
  completedPaisa: Paisa;
  /** Accepted and not Completed yet, or of unknown outcome. */
  openPaisa: Paisa;
  /** How many have a record with other values, so that their amounts are not proved. */
  differing: number;
}

/** Selects operations; every part that is given has to match. */
export interface Filter {
  /** The last status that the API returned. */
  status?: string | undefined;
  states?: readonly State[] | undefined;
  /** By `createdAt`, ISO 8601, inclusive. */
  since?: string | undefined;
  until?: string | undefined;
  /** When it was completed, or recorded if it was not; and whatever may still be completed. ISO 8601, inclusive. */
  bookedSince?: string | undefined;
  /** When it was completed, or recorded if it was not. */
  bookedUntil?: string | undefined;
  /** It may have been sent until then, ISO 8601. */
  openedUntil?: string | undefined;
  minPaisa?: Paisa | undefined;
  maxPaisa?: Paisa | undefined;
  reference?: string | undefined;
  /** The recipient of a payout or the account of a refund, by `payeeOf`. */
  recipient?: string | undefined;
  /** The name of a method, in any case, and the IDs that the name may mean. */
  method?: { name: string; ids: string[] } | undefined;
  /** The number of a batch. */
  batch?: bigint | undefined;
  actor?: Actor | undefined;
  /** Default: all. */
  limit?: number;
  oldestFirst?: boolean;
}

/** A process that works on an operation or a batch. Its lock ends with the process. */
export interface Holder {
  pid: number;
  /** The name of the file that the operating system keeps locked for it. */
  lock: string;
  machine: string;
  /** The person and the login at the server, if several machines share the ledger. */
  user?: string;
  login?: string;
  /** ISO 8601. */
  since: string;
}

/** The result of an attempt or of a later status check. */
export interface Outcome {
  state: State;
  remoteId?: string | undefined;
  status?: string;
  /** The `updatedAt` of the retrieved record that has the status, ISO 8601 in UTC. */
  recordUpdatedAt?: string;
  /** For a record that lenden did not create, when the API created it, ISO 8601 in UTC. */
  recordCreatedAt?: string;
  /** A person matched the operation with a line of a statement: its digest, and its text. */
  matched?: { line: string; statement?: string; reason: string; by: string };
  /** True if a person reported it, in `ledger resolve`: the event names the person. */
  isReported?: boolean;
  /** True if the head of the request reached a socket; absent for a status check. */
  sent?: boolean;
  /** A kind of failure or `existing`, and its sentence. */
  code?: string;
  message?: string;
  /** The first 4 KiB of a response that lenden could not read. */
  answer?: string;
  /** The API's ID of a record that is not this operation's (CONFLICT). */
  otherId?: string;
  /** The page where a customer pays. */
  paymentUrl?: string;
}

/** The person who started an operation, by the operating system and the environment. */
export interface Origin {
  /** The operating-system user of the process. */
  user: string;
  machine: string;
  pid: number;
  /** The login name, if it differs from the user. */
  login?: string;
  /** The login at the server of the ledger. */
  ledgerLogin?: string;
  /** The person who ran sudo. */
  sudoUser?: string;
  /** The address that an SSH session came from. */
  sshFrom?: string;
}
