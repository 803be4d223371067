import type { Batch } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { isForgotten } from "../operations/doubt.ts";
import type { World } from "../operations/world.ts";
import { isUnsettled } from "../state.ts";

/** Since when nobody works on what an earlier run left; undefined for what somebody works on. */
export type RestsSince = (row: { reference: string }) => number | undefined;

/**
 * What an earlier run left in flight rests for ten seconds from when its process is known to be dead.
 * That is now, for all of it: so its rows rest together, and not one after the other.
 */
export function atRest(ledger: Ledger, { now }: Pick<World, "now">): RestsSince {
  const nowMs = now();
  const held = new Set(
    ledger
      .unsettled()
      .filter((operation) => ledger.holderOf(operation))
      .map(({ reference }) => reference),
  );
  return ({ reference }) => (held.has(reference) ? undefined : nowMs);
}

/** Since when an earlier run left a row in doubt. */
export function doubtOf(operation: Operation | undefined): string | undefined {
  return operation && isUnsettled(operation) ? operation.openedAt : undefined;
}

/** How many rows are in doubt for so long that they do not go out again by themselves (P25). */
export function countForgotten(batch: Batch, ledger: Ledger, world: Pick<World, "now">): number {
  let count = 0;
  for (const { sentAt } of ledger.batches().doubtful(batch))
    if (isForgotten(sentAt ?? "", world)) count += 1;
  return count;
}
