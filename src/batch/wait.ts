import type { Batch, RowResult } from "../ledger/batch.ts";
import { type Commit, grouped } from "../ledger/grouped.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { World } from "../operations/world.ts";

export interface Waiting {
  batch: Batch;
  ledger: Ledger;
  commit: Commit;
  timeoutMs: number;
  /** The pause between two rounds; it grows when left out. */
  intervalMs: number | undefined;
}

const atOnce = 8;
const growth = { firstMs: 500, longestMs: 10_000, factor: 1.5 };

/** Looks at every row that has not ended, round after round, until all have or the time is up. */
export async function waitForBatch(waiting: Waiting, world: World): Promise<void> {
  const endMs = world.now() + waiting.timeoutMs;
  for (let round = 0; ; round += 1) {
    const left = await refreshBatch(waiting, world);
    const pauseMs = Math.min(pauseOf(waiting, round, world), endMs - world.now());
    if (left === 0 || pauseMs <= 0 || world.isStopping()) return;
    await world.sleep(pauseMs);
  }
}

/**
 * Asks the service for each row that has not ended, a few at a time, and writes down what changed.
 *
 * @returns how many have still not ended
 */
export async function refreshBatch(
  { batch, ledger, commit }: Pick<Waiting, "batch" | "ledger" | "commit">,
  world: World,
): Promise<number> {
  const rows = ledger.batches().unfinished(batch)[Symbol.iterator]();
  const shared = grouped(ledger, commit, world.soon);
  let left = 0;
  const work = async (): Promise<void> => {
    for (let next = rows.next(); !next.done && !world.isStopping(); next = rows.next()) {
      const status = await statusOf(next.value, world);
      if (status !== "Completed" && status !== "Cancelled") left += 1;
      const operation = ledger.find(next.value.reference);
      if (status === undefined || status === next.value.status || !operation) continue;
      await shared.settle(operation, { state: "CONFIRMED", status }, { letGo: true });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return left;
}

/** Undefined where the service gave no answer: the next round asks again. */
async function statusOf({ payoutId }: RowResult, { client }: World): Promise<string | undefined> {
  const answer = await client.retrievePayout({ payoutId: payoutId ?? "" });
  return answer.kind === "data" ? answer.data.status : undefined;
}

function pauseOf({ intervalMs }: Waiting, round: number, { random }: World): number {
  if (intervalMs !== undefined) return intervalMs;
  return (
    Math.min(growth.firstMs * growth.factor ** round, growth.longestMs) * (0.75 + random() / 2)
  );
}
