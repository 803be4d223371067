import type { Actor } from "../domain/actor.ts";
import type { Paisa } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import type { State } from "../domain/state.ts";
import type { Denial } from "./limits.ts";
import type { Holder } from "./operation.ts";
import type { Sealer } from "./seal.ts";

/** The batches of one account: plans, and the results of their rows. Every change is durable when it resolves. */
export interface BatchStore extends BatchResults {
  /** What the ledger has of a file, a name or an ID; one round trip. */
  known(traits: Traits): Promise<KnownBatches>;
  /** The planned batches that a filter selects, newest first. */
  list(limit: number, filter?: BatchFilter): Promise<Batch[]>;
  /** How many a filter selects; more than `most` are not counted. */
  count(filter: BatchFilter, most: number): Promise<number>;
  /**
   * The plans of which a file may have all rows: with at most this number of rows and this total; newest first. Those
   * that were cancelled too, because a paid batch stays paid. In production those of all accounts of the environment.
   */
  plansWithin(most: { count: number; sumPaisa: Paisa }): AsyncIterable<FoundPlan>;
  /** The process that works on it now, if it still runs. */
  holderOf(batch: Batch): Promise<Holder | undefined>;

  /**
   * Locks the batch of a file for this process: the one that it is, or a new one.
   *
   * @param which decides that inside the transaction
   * @throws Failure `ledger.modified` if the batch is not as its events record, and no person accepted that here
   */
  claim(file: BatchFile, which: WhichBatch): Promise<BatchClaim>;
  /**
   * Locks a batch that was planned before; neither a limit nor an incomplete move keeps one from being cancelled.
   *
   * @throws Failure as `claim` does
   */
  claimPlanned(batch: Batch, purpose?: "send" | "cancel"): Promise<PlannedClaim>;
  /** Ends the lock. */
  release(batch: Batch): Promise<void>;
  /**
   * Makes these rows the plan of a batch that this process has locked, and seals it. The plan counts only when its last
   * row is durable.
   */
  plan(batch: Batch, planning: Planning): Promise<PlanResult>;
  /**
   * Reads the whole plan of a batch.
   *
   * @param sealer undefined to check no seal
   * @throws Failure `batch.plan-modified` if its rows are neither those that its newest event records nor accepted
   */
  readPlan(batch: Batch, sealer: Sealer | undefined): Promise<ReadPlan>;
  /**
   * Seals a plan again, of a batch that this process has locked: its rows are ordered as they were read.
   *
   * @param lines the duplicates of the rows on these lines are accepted too
   * @returns `planned`, `denied` or `repeats`
   * @throws Failure `batch.plan-modified` if its rows are not those that were read
   */
  seal(plan: ReadPlan, sealer: Sealer, lines: ReadonlySet<number>): Promise<PlanResult>;
  /**
   * Cancels a batch that this process has locked, and ends the lock: its rows that were not sent never are,
   * and count for no check of duplicates.
   */
  cancel(batch: Batch): Promise<Batch>;
}

/** How the rows of a file become a plan. */
export interface Planning {
  /** Called again if the connection to a server was lost. */
  rows: () => Iterable<PlannedRow>;
  sealer: Sealer;
  /** `Ledger.newestEvent` when the rows were checked. */
  checkedUpTo: bigint;
  /** Decides inside the transaction whether it is still a new batch. */
  which: WhichBatch;
}

/** A plan that was read from its first row to its last: a row is sent only if its page is still the same. */
export interface ReadPlan {
  batch: Batch;
  /** The digest of each page of rows. */
  pages: readonly string[];
  /** The numbers of the rows whose duplicates were accepted. */
  accepted: ReadonlySet<number>;
  /** The ID of each method, as rows name it. */
  methods: ReadonlyMap<string, string>;
  /** True if a holder of this run's payout secret ordered it as it is. */
  isSealed: boolean;
}

/** Selects batches; every part that is given has to match. */
export interface BatchFilter {
  /** By `createdAt`, ISO 8601, inclusive. */
  since?: string;
  until?: string;
  isCancelled?: boolean;
  /** Some row may be open. Of the other batches an index shows that none is. */
  mayBeOpen?: boolean;
  /** Their numbers are lower. */
  below?: bigint;
}

/** The results of the rows of batches. */
export interface BatchResults {
  tally(batch: Batch): Promise<Tally[]>;
  /** The tallies of some batches, in their order; one round trip. */
  tallies(batches: Batch[]): Promise<Tally[][]>;
  /** Its accepted rows whose last attempts other logins than that of this run recorded, by login. */
  acceptedByOthers(batch: Batch): Promise<{ login: string; count: number; sumPaisa: Paisa }[]>;
  /** True if another login than that of this run recorded that rows of it were cancelled after they were accepted. */
  isCancelledByOthers(batch: Batch): Promise<boolean>;
  /** When the first and the last of its rows were sent; undefined if no row was. */
  sentBetween(batch: Batch): Promise<{ first: string; last: string } | undefined>;
  /** Its references that replace used ones: `…-lenden2`. */
  newReferences(batch: Batch): Promise<string[]>;
  /** Who is paid by its rows, page by page: cheaper than the rows with their results. */
  recipients(batch: Batch): AsyncIterable<Pick<RowResult, "recipient" | "name" | "amountPaisa">>;
  /** The rows of a set in the order of the file, page by page, so that memory does not grow with the batch. */
  rows(batch: Batch, set: RowSet): AsyncIterable<RowResult>;
  /**
   * As `tally`, of operations that are compared with their events in the statement that reads their states, page by
   * page.
   *
   * @throws Failure `ledger.modified`
   */
  recordedTally(batch: Batch): Promise<Tally[]>;
  /**
   * As `rows`, of a plan that was read: of a page that is no longer the same, no row is returned.
   *
   * @throws Failure `batch.plan-modified`
   */
  rowsAsRead(plan: ReadPlan, set: RowSet): AsyncIterable<RowResult>;
  /**
   * As `rowsAsRead`, with operations that are compared with their events in the statement that reads their states. Slower.
   *
   * @throws Failure `batch.plan-modified`, `ledger.modified`
   */
  recordedRows(plan: ReadPlan, set: RowSet): AsyncIterable<RowResult>;
}

/**
 * `unknown`: their outcome is unknown. `unsent`: they were not sent, and can be. `open`: both. `used`: their
 * payouts were rejected or cancelled. `unfinished`: accepted, and neither Completed nor Cancelled.
 */
export type RowSet = "all" | "unknown" | "unsent" | "open" | "used" | "unfinished" | "differing";

/** The answer to a claim of a planned batch. */
export type PlannedClaim =
  /** The batch is locked for this process; its `plan` is null until it is planned. */
  | { kind: "ours"; batch: Batch }
  | { kind: "held"; batch: Batch; by: Holder }
  /** The batch was cancelled, and nothing of it is sent. */
  | { kind: "cancelled"; batch: Batch }
  /** Limits do not let it be sent, although its rows were judged when it was planned. */
  | { kind: "denied"; batch: Batch; denial: Denial };

/** The answer to a claim of the batch of a file. */
export type BatchClaim =
  | PlannedClaim
  /** The file is a changed one of this batch. */
  | { kind: "changed-file"; batch: Batch };

export type PlanResult =
  | { kind: "planned"; plan: ReadPlan }
  /** By now the file is a changed one of this batch. Nothing was planned. */
  | { kind: "changed-file"; batch: Batch }
  /** Since the check, something happened that concerns a row. Nothing was planned: check again. */
  | { kind: "changed" }
  /** A limit does not let it be sent, or rows that repeat others. Nothing was planned. */
  | { kind: "denied"; denial: Denial }
  | { kind: "repeats" };

/** By what a batch is looked up. */
export interface Traits {
  id?: string;
  /** SHA-256 of the bytes of its file, of a batch that this login planned: others can give theirs any hash. */
  hash?: string;
  identity?: string;
  /** The sum of its rows. */
  size?: { count: number; sumPaisa: Paisa };
  /** Its own name, or its file's. */
  name?: string;
}

/** The batches that have some of the traits. Those of the identity may not be planned yet. */
export interface KnownBatches {
  /** Newest first. */
  batches: Batch[];
  /** The newest one of the name; the own name of a batch comes before the name of a file. */
  named: Batch | undefined;
  /**
   * The named one, if it is neither cancelled nor was every row accepted. It is looked for with an identity alone,
   * because all of its rows may have to be read.
   */
  unfinished: Batch | undefined;
}

/** Decides which batch a file is: `whichBatch` of `batches/identity.ts`. */
export type WhichBatch = (file: BatchFile, known: KnownBatches) => FileOfBatch;

/** What a file is. */
export type FileOfBatch =
  /** The same batch: its plan is sent, and nothing else of the file. */
  | { kind: "same"; batch: Batch }
  /** A changed file of a known batch, whose rows would be paid again. */
  | { kind: "changed"; batch: Batch }
  | { kind: "new" };

/** A file of payouts as it was planned; from then on only the plan counts. */
export interface Batch {
  number: bigint;
  /** Short, and the same on every machine: derived from the identity. */
  id: string;
  /** The file's, unless it was given another one. */
  name: string;
  /** The file's name, without its directories. */
  fileName: string;
  /** SHA-256 of the file's bytes. */
  hash: string;
  /** Derived from its rows and its own name (`identify`). */
  identity: string;
  /** The file's columns, as its header names them. */
  columns: string[];
  /** The method of rows that name none, as it was typed. */
  method: string | null;
  user: string;
  /** Who planned it, or claimed it: the login at the server, or on a file the user of the operating system. */
  login: string;
  /** ISO 8601. */
  createdAt: string;
  /** Who planned it; null while it is being planned. */
  actor: Actor | null;
  /** ISO 8601; from then on nothing of it is sent. */
  cancelledAt: string | null;
  holder: Holder | null;
  /** Null while it is being planned: nothing of it was sent then. */
  plan: Plan | null;
  /** Once it is claimed: true if its ledger file is not moved completely, so that paid rows may look unsent. */
  isArriving?: boolean;
}

/** A file that becomes a batch. */
export interface BatchFile {
  /** The file's, unless it was given another one. */
  name: string;
  fileName: string;
  hash: string;
  identity: string;
  columns: string[];
  method: string | null;
}

/** A plan that guards see. */
export interface FoundPlan {
  batch: Batch;
  /** The name of its account, if that is not the account of the run. */
  otherAccount: string | null;
  /** Some of its rows: most plans differ from a file in one of them. */
  samples: Pick<PlannedPayout, "amountPaisa" | "recipient" | "description">[];
}

interface Plan {
  rowCount: number;
  totalPaisa: Paisa;
  /** Shows that a holder of the payout secret ordered it; null if no one did. */
  seal: string | null;
}

/** A payout of a batch. */
export interface PlannedPayout {
  /** The line of the file on which it begins. */
  line: number;
  reference: string;
  amountPaisa: Paisa;
  /** As it goes on the wire. */
  recipient: string;
  methodId: string;
  /** The method as it was typed. */
  method: string;
  name: string | null;
  description: string | null;
  /** True if the recipient gets the same amount by another payout too, and the user accepted that. */
  isAccepted: boolean;
}

/** A payout with its row in the file. */
export interface PlannedRow extends PlannedPayout {
  /** From 1, in the order of the file. */
  row: number;
  /** The cells of the file, in the order of its columns. */
  cells: string[];
}

/** A row and its result: null for what has not happened. */
export interface RowResult extends PlannedRow {
  state: State | null;
  payoutId: string | null;
  status: string | null;
  code: string | null;
  message: string | null;
  sentAt: string | null;
  updatedAt: string | null;
}

/** The rows in one state. */
export interface Tally {
  /** Null if the row was not sent. */
  state: State | null;
  status: string | null;
  count: number;
  sumPaisa: Paisa;
  /** Those that were accepted, and first sent before the batch was planned, or that the API had before. */
  sentBefore: { count: number; sumPaisa: Paisa };
}

const acceptHint =
  "To see what was modified, run 'lenden ledger check'. To use the ledger as it is, run 'lenden ledger check --accept'. Payouts could then be sent twice.";

/** Why nothing is done with a plan whose rows are not those that were planned. */
export function planModified({ id }: Batch): Failure {
  return new Failure(
    "batch.plan-modified",
    `The rows of batch ${id} were modified in the ledger.`,
    { hint: acceptHint },
  );
}

/** Why nothing is done with a batch that is not as its events record. */
export function batchModified({ id }: Pick<Batch, "id">, columns: string[]): Failure {
  return new Failure(
    "ledger.modified",
    `Batch ${id} was modified in the ledger (${columns.join(", ")}).`,
    { hint: acceptHint, operation: id },
  );
}

/** Letters and digits that are not mistaken for each other when read aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The IDs that a batch may get: a longer one only if another batch has each of those before. */
export function idsOf(identity: string): string[] {
  const letters = [...Buffer.from(identity, "hex")].map((byte) => alphabet[byte % 32]).join("");
  return Array.from({ length: 27 }, (_, more) => `B${letters.slice(0, 6 + more)}`);
}
