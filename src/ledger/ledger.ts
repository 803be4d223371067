import type { Paisa } from "../contract/amount.ts";
import type { Database } from "../sqlite/database.ts";
import { type Batches, openBatches } from "./batches/batches.ts";
import { type Callbacks, openCallbacks } from "./callbacks/callbacks.ts";
import type { Changed, ClaimDecision, ClaimRequest, PlannedRow } from "./decide.ts";
import { openHistory } from "./history.ts";
import type { Holder, Operation, Outcome } from "./operation.ts";
import { openOverlaps } from "./overlaps.ts";
import { openRecent } from "./recent.ts";
import { migrate } from "./schema.ts";
import { createRunAccount } from "./sqlite/accounts.ts";
import { Operations } from "./sqlite/operations.ts";
import { createReads } from "./sqlite/reads.ts";
import type { Worker } from "./worker.ts";

/** A change of the ledger; all changes that are requested at once share one transaction. */
export type ChangeRequest =
  /** Duplicate checks and limits are part of a claim. */
  | ClaimRequest
  /** What an attempt showed: only while this process holds the operation. */
  | { kind: "record"; operation: bigint; outcome: Outcome; release: boolean }
  /** What a status check showed: only if the operation is unchanged since it was read. */
  | { kind: "learn"; seen: Operation; outcome: Outcome }
  /** Takes an operation with an unknown outcome, to send it again: only if it is unchanged. */
  | { kind: "resume"; seen: Operation };

export type ClaimAnswer =
  /** `earlier`: an operation that this one may repeat, worth a warning. */
  | { kind: "new" | "resumed"; operation: Operation; earlier: Operation | undefined }
  | { kind: "finished"; operation: Operation }
  /** The reference belongs to a different payout. */
  | { kind: "different"; operation: Operation }
  | { kind: "locked"; operation: Operation; holder: Holder }
  /** Its outcome is unknown, and another API key sent it. */
  | { kind: "other-key"; operation: Operation }
  | { kind: "duplicate"; earlier: Operation }
  | { kind: "planned"; row: PlannedRow }
  /** `live`: the refunds of the payment that count. */
  | { kind: "over-limit"; live: Operation[]; refundablePaisa: Paisa };

export type OutcomeAnswer =
  | { kind: "recorded"; change: Changed }
  /** I10: the operation `by` has the ID. An attempt was recorded as UNCERTAIN. */
  | { kind: "id-taken"; by: string }
  /** It was changed meanwhile, or this process does not hold it. Nothing was recorded. */
  | { kind: "moved"; operation: Operation }
  /** This process works on it now. */
  | { kind: "taken"; operation: Operation }
  | { kind: "other-key"; operation: Operation };

export type ChangeAnswer = ClaimAnswer | OutcomeAnswer;

type Change = (requests: ChangeRequest[]) => Promise<ChangeAnswer[]>;
type Requested<Kind extends ChangeRequest["kind"]> = Omit<
  Extract<ChangeRequest, { kind: Kind }>,
  "kind"
>;

/** Single changes, each with the answers that it can get. */
export function createSingleChanges(change: Change) {
  const outcome = async (request: ChangeRequest): Promise<OutcomeAnswer> => {
    const [answer] = await change([request]);
    if (answer && isOutcomeAnswer(answer)) return answer;
    throw new Error("the ledger gave no answer to an outcome");
  };
  return {
    /** Records an intent, or says why it must not be sent. */
    claim: async (request: Requested<"claim">): Promise<ClaimAnswer> => {
      const [answer] = await change([{ kind: "claim", ...request }]);
      if (answer && isClaimAnswer(answer)) return answer;
      throw new Error("the ledger gave no answer to a claim");
    },
    record: (request: Requested<"record">) => outcome({ kind: "record", ...request }),
    learn: (request: Requested<"learn">) => outcome({ kind: "learn", ...request }),
    resume: (request: Requested<"resume">) => outcome({ kind: "resume", ...request }),
  };
}

const outcomeKinds: readonly string[] = ["recorded", "id-taken", "moved", "taken", "other-key"];

function isOutcomeAnswer(answer: ChangeAnswer): answer is OutcomeAnswer {
  return outcomeKinds.includes(answer.kind);
}

/** Both have `other-key`, with the same content. */
export function isClaimAnswer(answer: ChangeAnswer): answer is ClaimAnswer {
  return answer.kind === "other-key" || !isOutcomeAnswer(answer);
}

export interface Filter {
  status?: string | undefined;
  /** ISO 8601, inclusive. */
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
}

/** The durable record of everything that was sent; the API lists nothing, so it is the only list. */
export type Ledger = ReturnType<typeof openLedger>;

/**
 * Opens the ledger of an account over a database, and migrates it to the newest schema first.
 */
export function openLedger(database: Database, worker: Worker) {
  migrate(database);
  const { owner } = worker;
  const { environment, keyId: keyHash, account: given } = owner;
  const account = createRunAccount(database, {
    environment,
    keyHash,
    named: given?.named,
    joins: given?.joins,
    profile: given?.proposed,
  });
  const history = openHistory(database);
  const operations = new Operations(database, worker, { history, account });
  const apply = (requests: ChangeRequest[]): ChangeAnswer[] =>
    database.transaction(() => operations.apply(requests));
  const change = async (requests: ChangeRequest[]): Promise<ChangeAnswer[]> => apply(requests);
  let batches: Batches | undefined;
  let callbacks: Callbacks | undefined;
  return {
    /**
     * Applies requests in one transaction, durable when it resolves. Each gets an answer: a rejected claim
     * is an answer and not an exception, because others share its commit.
     */
    change,
    ...createSingleChanges(change),
    /** What a claim would be answered now; nothing is recorded. */
    preview: (request: Requested<"claim">): ClaimDecision =>
      database.transaction(() => operations.preview({ kind: "claim", ...request })),
    ...createReads(database, worker, account),
    ...openOverlaps(database, owner, account),
    /** The newest of the account, as candidates for completion. */
    newestForCompletion: () => openRecent(database, account),
    /** The name of the account of this run. */
    account: (): string => account.name(),
    /** True if the API key of this run sent it: with another key it is not sent again (P25b). */
    isOfThisKey: ({ keyHash: other }: Operation): boolean => other === keyHash,
    /** True if no account is named, so that reads return the operations of all accounts. */
    hasAllAccounts: account.isAll,
    /** True once something was recorded for the account. */
    isAccountStored: (): boolean => account.number() !== 0n,
    /** The process that works on an operation, if it still runs. */
    holderOf: ({ number }: Operation): Holder | undefined =>
      operations.holderOf(operations.operation(number)),
    /** @throws Failure if the file or the lock is no longer ours; called right before each request */
    assertStillOurs: (): void => worker.assertSeen(),
    historyOf: history.of,

    /** The batches of the account; opened when they are first used. */
    batches: (): Batches => {
      batches ??= openBatches(database, worker, account);
      return batches;
    },

    /** The callbacks of the account; opened when they are first used. */
    callbacks: (): Callbacks => {
      callbacks ??= openCallbacks(database, worker, account);
      return callbacks;
    },
  };
}
