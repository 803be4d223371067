import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";
import { conflictHint } from "../operations/compare.ts";
import type { World } from "../operations/world.ts";
import { atWorkMs } from "./retry-policy.ts";

const longestDoubtMs = 24 * 60 * 60_000;

/**
 * Why an earlier run may already have made a payout; undefined where it cannot have. The service may
 * still be at work on that run's request: this waits until it had its time to finish (I3).
 *
 * @param deadSinceMs since when the earlier run is known to be dead, where it held the operation
 * @throws Failure `uncertain` after a day (P25)
 */
export async function earlierDoubt(
  operation: Operation,
  world: World,
  deadSinceMs = world.now(),
): Promise<string | undefined> {
  if (!isUnsettled(operation)) return undefined;
  assertRemembered(operation, world);
  const leftMs = restMs(operation, { nowMs: world.now(), deadSinceMs });
  if (leftMs > 0) {
    world.notice(
      `An earlier run of ${operation.reference} ended without a response. Retrying in ${Math.ceil(leftMs / 1000)} s.`,
    );
    await world.sleep(leftMs);
    assertRemembered(operation, world);
  }
  return "an earlier run ended without a response";
}

/** Before a payout in doubt goes out again: also after every pause, for a machine may sleep in it. */
export function assertRemembered(operation: Operation, world: Pick<World, "now">): void {
  if (isForgotten(operation.openedAt, world)) throw forgotten(operation);
}

/** P25: after a day nobody knows whether the service still remembers the reference. */
export function isForgotten(openedAt: string, { now }: Pick<World, "now">): boolean {
  return now() - Date.parse(openedAt) > longestDoubtMs;
}

/**
 * How long it must rest still: from when it was written down last, or, where its process died with it,
 * from when that is known, for nobody knows when it died.
 */
export function restMs(
  { holder, updatedAt }: Operation,
  { nowMs, deadSinceMs }: { nowMs: number; deadSinceMs: number },
): number {
  const lastMs = Date.parse(holder?.since ?? updatedAt);
  // Held only after that moment, it died later still.
  const knownMs = lastMs < deadSinceMs ? deadSinceMs : nowMs;
  const quietMs = Math.max(0, nowMs - (holder ? knownMs : lastMs));
  return Math.max(0, atWorkMs - quietMs);
}

function forgotten({ reference, openedAt }: Operation): Failure {
  return new Failure(
    "payout.unknown-over-24-hours",
    `Cannot retry payout ${reference} automatically: its outcome has been unknown since ${formatTime(openedAt)}, over 24 hours.`,
    {
      hint: conflictHint(reference ?? ""),
      operation: reference ?? "",
      untried: true,
    },
  );
}
