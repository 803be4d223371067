import { inOneLine } from "../failure.ts";
import type { Batch } from "../ledger/batches/batch.ts";
import { type Commit, grouped } from "../ledger/grouped.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { type Refreshed, refreshStatus, throwUnlessUnknown } from "../operations/refresh.ts";
import { type Patience, pauseOf } from "../operations/wait.ts";
import type { World } from "../operations/world.ts";

export interface Watched {
  batch: Batch;
  ledger: Ledger;
  commit: Commit;
}

/**
 * Looks at every row that has not ended, round after round, until all have or the time is up.
 *
 * @throws Failure `access` where the service refuses to answer at all; no answer is only no news
 */
export async function waitForBatch(
  watched: Watched,
  patience: Patience,
  world: World,
): Promise<void> {
  const endMs = world.now() + patience.timeoutMs;
  for (let round = 0; ; round += 1) {
    const { open, unseen } = await look(watched, world);
    const pauseMs = Math.min(pauseOf(patience, round, world), endMs - world.now());
    if (open === 0 || pauseMs <= 0 || world.isStopping()) {
      if (unseen) world.notice(`Not all could be looked at in the end. ${inOneLine(unseen)}`);
      return;
    }
    await world.sleep(pauseMs);
  }
}

/**
 * Looks at every row that has not ended, once.
 *
 * @throws Failure where the service did not answer
 */
export async function refreshBatch(watched: Watched, world: World): Promise<void> {
  const { unseen } = await look(watched, world);
  if (unseen) throwUnlessUnknown(unseen, world);
}

function look(watched: Watched, world: World): Promise<Refreshed> {
  const shared = grouped(watched.ledger, watched.commit, world.soon);
  return refreshStatus(payoutsOf(watched), { ...world, ledger: async () => shared });
}

function* payoutsOf({ batch, ledger }: Watched): Iterable<Operation> {
  for (const { payoutId } of ledger.batches().unfinished(batch)) {
    const payout = payoutId && ledger.ofRecord("payout", payoutId);
    if (payout) yield payout;
  }
}
