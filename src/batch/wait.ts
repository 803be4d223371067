import type { Batch } from "../ledger/batches/batch.ts";
import { type Commit, grouped } from "../ledger/grouped.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { refreshStatus } from "../operations/refresh.ts";
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
 * @throws Failure where the service refuses to answer at all; no answer is only no news
 */
export async function waitForBatch(
  watched: Watched,
  patience: Patience,
  world: World,
): Promise<void> {
  const endMs = world.now() + patience.timeoutMs;
  for (let round = 0; ; round += 1) {
    const open = await look(watched, { looksAgain: true }, world);
    const pauseMs = Math.min(pauseOf(patience, round, world), endMs - world.now());
    if (open === 0 || pauseMs <= 0 || world.isStopping()) return;
    await world.sleep(pauseMs);
  }
}

/**
 * Looks at every row that has not ended, once.
 *
 * @throws Failure of the first look that failed
 */
export async function refreshBatch(watched: Watched, world: World): Promise<void> {
  await look(watched, { looksAgain: false }, world);
}

function look(watched: Watched, how: { looksAgain: boolean }, world: World): Promise<number> {
  const shared = grouped(watched.ledger, watched.commit, world.soon);
  return refreshStatus(payoutsOf(watched), how, { ...world, ledger: async () => shared });
}

function* payoutsOf({ batch, ledger }: Watched): Iterable<Operation> {
  for (const { payoutId } of ledger.batches().unfinished(batch)) {
    const payout = payoutId && ledger.ofRecord("payout", payoutId);
    if (payout) yield payout;
  }
}
