import { type Failure, inOneLine } from "../domain/failure.ts";
import type { Batch } from "../ledger/batch.ts";
import { withCommitQueue } from "../ledger/commit-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { type Refreshed, refreshStatus } from "../operations/refresh.ts";
import { type Patience, pauseOf } from "../operations/status.ts";
import { openAgain } from "./retries.ts";

export interface Watched {
  batch: Batch;
  ledger: Ledger;
}

const notAllChecked = "batch.not-all-checked";

/**
 * Looks at every row that was sent and has not ended, until all have or the time is up. Whatever
 * keeps it from looking is told, and changes nothing of what was sent.
 *
 * @param onLook hears after each round how many have not ended
 * @returns why the last look failed, if it did
 */
export async function waitForBatch(
  watched: Watched,
  patience: Patience,
  world: OperationDeps,
  onLook: (open: number) => void,
): Promise<Failure | undefined> {
  const endMs = world.now() + patience.timeoutMs;
  for (let round = 0; ; round += 1) {
    const { open, unseen, isCutShort } = await look(watched, world);
    if (!isCutShort) onLook(open);
    const pauseMs = Math.min(pauseOf(patience, round, world), endMs - world.now());
    const isHopeless = unseen?.kind === "access";
    if (open === 0 || pauseMs <= 0 || isHopeless || world.isStopping()) {
      if (unseen)
        world.notice(`Not all could be looked at in the end. ${inOneLine(unseen)}`, notAllChecked);
      return unseen;
    }
    await world.sleep(pauseMs);
  }
}

/**
 * Looks at every row that has not ended, once; also at those that went on by new references.
 *
 * @returns why one could not be looked at, if that says something of the service
 */
export async function refreshBatch(
  watched: Watched,
  world: OperationDeps,
): Promise<Failure | undefined> {
  const { batch, ledger } = watched;
  const { unseen } = await look(watched, world, openAgain(batch, ledger));
  if (unseen) world.notice(`Not all could be looked at. ${inOneLine(unseen)}`, notAllChecked);
  return unseen?.kind === "not-found" ? undefined : unseen;
}

function look(
  watched: Watched,
  world: OperationDeps,
  others: AsyncIterable<Operation> | Operation[] = [],
): Promise<Refreshed> {
  const shared = withCommitQueue(watched.ledger, world.soon);
  return refreshStatus(payoutsOf(watched, others), { ...world, ledger: async () => shared });
}

async function* payoutsOf(
  { batch, ledger }: Watched,
  others: AsyncIterable<Operation> | Operation[],
): AsyncIterable<Operation> {
  yield* others;
  for await (const { reference } of ledger.batches.rows(batch, "unfinished")) {
    const payout = await ledger.find(reference);
    if (payout) yield payout;
  }
}
