import type { Database } from "../sqlite/database.ts";
import { type Batches, openBatches } from "./batches/batches.ts";
import { type Callbacks, openCallbacks } from "./callbacks/callbacks.ts";
import {
  type ChangeAnswer,
  type ChangeRequest,
  createSingleChanges,
  type Requested,
} from "./change.ts";
import type { ClaimDecision } from "./decide.ts";
import { openHistory } from "./history.ts";
import type { Holder, Operation } from "./operation.ts";
import { openOverlaps } from "./overlaps.ts";
import { openRecent } from "./recent.ts";
import { migrate } from "./schema.ts";
import { createRunAccount } from "./sqlite/accounts.ts";
import { Operations } from "./sqlite/operations.ts";
import { createReads } from "./sqlite/reads.ts";
import type { Worker } from "./worker.ts";

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
