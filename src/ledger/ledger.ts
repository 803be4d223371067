import type { Paisa } from "../domain/amount.ts";
import type { BatchStore } from "./batch.ts";
import type { CallbackStore } from "./callback.ts";
import type { ChangeAnswer, ChangeRequest, Requested, SingleChanges } from "./change.ts";
import type { ClaimDecision } from "./decide.ts";
import type { EntryStore } from "./entry.ts";
import type { HistoryEvent } from "./events.ts";
import type {
  Denial,
  LimitChange,
  LimitedRow,
  RepeatingRow,
  RepeatingRows,
  Use,
} from "./limits.ts";
import type {
  Filter,
  FoundOperation,
  Holder,
  Kind,
  ListedOperation,
  Operation,
} from "./operation.ts";

/** The durable record of everything that was sent. The API has no lists, so this is the only one. */
export interface Ledger extends SingleChanges, BatchReads {
  /**
   * Applies requests in one transaction, durable when it resolves. Each gets an answer: a rejected claim
   * is an answer and not an exception, because others share its commit.
   */
  change(requests: ChangeRequest[]): Promise<ChangeAnswer[]>;
  /** The answer that a claim would get now; nothing is recorded. */
  preview(request: Requested<"claim">): Promise<ClaimDecision>;
  /** @throws Failure if the file or the lock is no longer ours; called right before each attempt of each write */
  assertStillOurs(): void;

  /** By its own ID, in whatever account; by a payout's reference, or by the API's ID. */
  find(name: string): Promise<Operation | undefined>;
  /** The newest of another account of the environment, by a payout's reference or by the API's ID. */
  findElsewhere(name: string): Promise<Operation | undefined>;
  /**
   * The operation that created a record of the API, compared with its events (I12).
   *
   * @throws Failure `ledger.modified`
   */
  ofRecord(kind: Kind, remoteId: string): Promise<Operation | undefined>;
  /** The ID of the operation that has a record of the API, also if it was modified: the record is not free (I10). */
  recordHolder(kind: Kind, remoteId: string): Promise<string | undefined>;
  /**
   * Compares operations with their events, and with what was read of them; some hundred at a time.
   *
   * @throws Failure `ledger.modified`; `operation.locked` if one has changed since it was read
   */
  assertRecorded(operations: Operation[]): Promise<void>;
  /** The operations that have one of these references or API IDs, oldest first; some hundred names at a time. */
  ofNames(names: string[]): Promise<Operation[]>;
  /** Refunds of a payment, whatever their state; in production of every account. */
  refundsOf(payment: string): Promise<Operation[]>;
  /**
   * The operations of a kind, or of any kind, that a filter selects, newest first. They are read page by page,
   * so that memory does not grow with the ledger.
   */
  list(kind: Kind | undefined, filter?: Filter): AsyncIterable<ListedOperation>;
  /** How many operations a filter selects, whatever its limit; more than `most` are not counted. */
  count(kind: Kind | undefined, filter: Filter, most: number): Promise<number>;
  /** The operations whose outcome is unknown, oldest first. */
  unsettled(): Promise<Operation[]>;
  /** The events of an operation, oldest first. */
  historyOf(operation: Operation): Promise<HistoryEvent[]>;
  /** When a request of an operation may last have been sent, ISO 8601. */
  lastSentAt(operation: Operation): Promise<string>;
  /** What would be sent again of each of these payouts, in their order; some hundred at a time. */
  ordersOf(payouts: Operation[]): Promise<RecordedOrder[]>;
  /** The process that works on an operation, if it still runs. */
  holderOf(operation: Operation): Promise<Holder | undefined>;

  /** The name of the account of this run. */
  account(): Promise<string>;
  /** True once something was recorded for the account. */
  isAccountStored(): Promise<boolean>;
  /** True if no account is named, so that reads return the operations of all accounts. */
  readonly hasAllAccounts: boolean;
  /** True if the API key of this run sent it: with another key it is not sent again (P25b). */
  isOfThisKey(operation: Operation): boolean;
  /** The login of this run: at the server, or on a file the user of the operating system. */
  login: string;

  readonly batches: BatchStore;
  readonly callbacks: CallbackStore;
  readonly entries: EntryStore;
  readonly limits: LimitStore;
}

/** The limits of the environment, or in a sandbox of the account; a maintenance of the ledger sets them. */
export interface LimitStore {
  /** Each change of a limit, oldest first. */
  changes(): Promise<LimitChange[]>;
  /** True if this run read limits when it claimed or planned something, also limits that were removed. */
  wereSet(): boolean;
  /** What counts against limits, one by one. */
  uses(): Promise<Use[]>;
  /**
   * Why the rows of a file may not be planned now that were not sent yet; undefined if they may.
   *
   * @param repeating those that repeat a payout or each other
   */
  judge(rows: LimitedRow[], repeating: RepeatingRow[]): Promise<Denial | RepeatingRows | undefined>;
  /** Stores the account of the run with its key, so that limits hold for whatever profile has it. Returns its name. */
  storeAccount(): Promise<string>;
}

/** A payout as the ledger has it, for a person who decides whether it is sent again. */
export interface RecordedOrder {
  payout: FoundOperation;
  /** The event that has its last request: when it was ordered, by which login, and on which machine, as that one says. */
  event: HistoryEvent | undefined;
}

/** What the rows of a file or a plan may repeat; some thousand rows at a time. */
export interface BatchReads {
  /** What has these references. */
  references(references: string[], asked: { withPlans: boolean }): Promise<KnownReferences>;
  /**
   * Other payouts of the same amount to the same recipient, by the index of the row: accepted since then,
   * of unknown outcome at any age, ended with the report of a person since then, or still planned by an open batch.
   */
  overlaps(rows: RecipientAmount[], scope: OverlapScope): Promise<Map<string, Overlap[]>>;
  /** Those of these recipients, as `payeeOf` writes them, that a payout of the own account was accepted for. */
  paidRecipients(payees: string[]): Promise<Set<string>>;
  /** The number of the newest event. It rises with every change of an operation or a plan. */
  newestEvent(): Promise<bigint>;
}

/** A payout as far as it decides whether another one repeats it. */
export interface RecipientAmount {
  reference: string;
  recipient: string;
  amountPaisa: Paisa;
}

/** Another payout of the same amount to the same recipient. */
export type Overlap = {
  reference: string;
  isOwnAccount: boolean;
} & (
  | { kind: "paid-recently"; at: string }
  | { kind: "outcome-unknown"; at: string }
  | { kind: "planned"; batch: string }
  /** Ended without a payout, as a person reported then. */
  | { kind: "reported"; at: string }
);

/** What has some references, by the reference. */
interface KnownReferences {
  /** In production those of other accounts too. */
  payouts: Map<string, KnownPayout[]>;
  /** Rows of the own account's open batches that were not sent; empty if they were not asked for. */
  plans: Map<string, PlannedReference[]>;
}

/** A payout of the ledger, by its reference. */
export interface KnownPayout
  extends RecipientAmount,
    Pick<Operation, "id" | "state" | "status" | "code" | "acceptedAt" | "updatedAt"> {
  methodId: string;
  /** In production the payout may belong to another account of the environment. */
  isOwnAccount: boolean;
  /** When the last attempt started, ISO 8601. */
  sentAt: string;
}

/** A row of an open batch that was not sent. */
export interface PlannedReference extends RecipientAmount {
  methodId: string;
  batch: string;
}

interface OverlapScope {
  /** Accepted payouts count since then, ISO 8601. */
  since: string;
  /** A batch whose own rows and payouts do not count. */
  except?: bigint | undefined;
}
