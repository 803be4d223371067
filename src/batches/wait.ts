import { type Failure, inOneLine } from "../domain/failure.ts";
import type { Batch, RowSet } from "../ledger/batch.ts";
import { withCommitQueue } from "../ledger/commit-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { refreshStatus } from "../operations/refresh.ts";
import { pauseOf, type WaitOptions } from "../operations/status.ts";
import { processingRetries } from "./retries.ts";

/**
 * Retrieves the status of every accepted row until all are Completed or Cancelled, or the time is up.
 *
 * @param onCheck gets the number of rows that may still change, after each round
 * @returns why a status could not be retrieved in the last round, if one could not
 */
export async function waitForBatch(
  batch: Batch,
  waitOptions: WaitOptions,
  ledger: Ledger,
  deps: OperationDeps,
  onCheck: (open: number) => void,
): Promise<Failure | undefined> {
  const endMs = deps.now() + waitOptions.timeoutMs;
  for (let round = 0; ; round += 1) {
    const { open, unseen, isCutShort } = await refresh(
      payoutsOf("unfinished", batch, ledger),
      ledger,
      deps,
    );
    if (!isCutShort) onCheck(open);
    const pauseMs = Math.min(pauseOf(waitOptions, round, deps), endMs - deps.now());
    const isHopeless = unseen?.kind === "access";
    if (open === 0 || pauseMs <= 0 || isHopeless || deps.isStopping()) return unseen;
    await deps.sleep(pauseMs);
  }
}

/**
 * Retrieves the status of every accepted row once, also of rows that were sent again by new references, and of those
 * whose record differed.
 *
 * @returns why a status could not be retrieved, if one could not
 */
export async function refreshBatch(
  batch: Batch,
  ledger: Ledger,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  async function* all() {
    yield* processingRetries(batch, ledger);
    yield* payoutsOf("differing", batch, ledger);
    yield* payoutsOf("unfinished", batch, ledger);
  }
  return (await refresh(all(), ledger, deps)).unseen;
}

/** The status of the batch has the rows whose records differ, which end it with a conflict. */
async function refresh(payouts: AsyncIterable<Operation>, ledger: Ledger, deps: OperationDeps) {
  const shared = withCommitQueue(ledger, deps.soon);
  const refreshed = await refreshStatus(payouts, { ...deps, ledger: async () => shared });
  const { conflict } = refreshed;
  if (conflict) deps.notice(inOneLine(conflict), conflict.reason);
  return refreshed;
}

async function* payoutsOf(set: RowSet, batch: Batch, ledger: Ledger): AsyncIterable<Operation> {
  for await (const { reference } of ledger.batches.rows(batch, set)) {
    const payout = await ledger.find(reference);
    if (payout) yield payout;
  }
}
