import type { Database } from "../../platform/sqlite/database.ts";
import { type ChangeAnswer, type ChangeRequest, createSingleChanges } from "../change.ts";
import { lastAsked, lastSentAt } from "../events.ts";
import type { Ledger } from "../ledger.ts";
import type { Worker } from "../worker.ts";
import { createRunAccount } from "./accounts.ts";
import { createBatches } from "./batches.ts";
import { createCallbacks } from "./callbacks.ts";
import { createChain } from "./chain.ts";
import { createOverlaps } from "./duplicates.ts";
import { Operations } from "./operations.ts";
import { createReads } from "./reads.ts";
import { migrate } from "./schema.ts";

/** Opens the ledger of an account over a database, and migrates it to the newest schema first. */
export function openLedger(database: Database, worker: Worker): Ledger {
  migrate(database);
  const account = createRunAccount(database, worker.owner);
  const chain = createChain(database);
  const operations = new Operations(database, worker, { chain, account });
  const change = async (requests: ChangeRequest[]): Promise<ChangeAnswer[]> => {
    try {
      return database.transaction(() => operations.apply(requests));
    } catch (error) {
      operations.forgetHeld();
      throw error;
    }
  };
  return {
    change,
    ...createSingleChanges(change),
    preview: async (request) =>
      database.transaction(() => operations.preview({ kind: "claim", ...request })),
    assertStillOurs: () => worker.assertSeen(),
    ...createReads(database, worker, account),
    historyOf: async ({ number }) => chain.of(number),
    lastSentAt: async ({ number }) => lastSentAt(chain.of(number)),
    lastAsked: async (operation) => lastAsked(operation, chain.of(operation.number)),
    holderOf: async ({ number }) => operations.holderOf(operations.operation(number)),
    ...createOverlaps(database, worker.owner, account),
    account: async () => account.read().name,
    isAccountStored: async () => account.number() !== 0n,
    hasAllAccounts: account.isAll,
    isOfThisKey: (operation) => operation.keyHash === worker.owner.keyId,
    batches: createBatches(database, worker, account),
    callbacks: createCallbacks(database, worker, account),
  };
}
