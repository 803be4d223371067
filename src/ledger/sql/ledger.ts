import { createSingleChanges } from "../change.ts";
import type { Ledger } from "../ledger.ts";
import { loginOf, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { createBatches } from "./batches.ts";
import { createCallbacks } from "./callbacks.ts";
import type { Driver } from "./driver.ts";
import { createEntries } from "./entries.ts";
import { createLimitStore, RunLimits } from "./limits.ts";
import { createOperations } from "./operations.ts";
import { createOverlaps } from "./overlaps.ts";
import { createReads } from "./reads.ts";

/** The ledger of an account on any database, but for the lists, which each database pages in its own way. */
export function createLedger(
  driver: Driver,
  account: RunAccount,
  recorder: Recorder,
): Omit<Ledger, "list" | "count" | "assertStillOurs"> {
  const { owner } = recorder;
  const limits = new RunLimits(driver.dialect, recorder);
  const { change, preview } = createOperations(driver, account, recorder, limits);
  const own = () => driver.read(() => account.readOnce());
  return {
    change,
    ...createSingleChanges(change),
    preview: (request) => preview({ kind: "claim", ...request }),
    ...createReads(driver, recorder, account),
    ...createOverlaps(driver, owner, account),
    account: async () => (await own()).name,
    isAccountStored: async () => (await own()).number !== 0n,
    hasAllAccounts: account.isAll,
    isOfThisKey: (operation) => operation.keyHash === owner.keyId,
    login: loginOf(recorder),
    batches: createBatches(driver, account, recorder, limits),
    callbacks: createCallbacks(driver, account, recorder),
    entries: createEntries(driver, account, recorder),
    limits: createLimitStore(driver, account, recorder, limits),
  };
}
