import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { toleratedClockMs } from "../domain/timestamp.ts";
import type { World } from "./deps.ts";

/** How far the service's clock is ahead of ours, in milliseconds; undefined until an answer told. */
export interface ServiceClock {
  /** As the latest answer told. */
  aheadMs(): number | undefined;
  /** At least: `Date` counts whole seconds, so that the highest of many answers tells best. */
  aheadLeastMs(): number | undefined;
  saw(aheadMs: number): void;
}

/** More than `Date` can be off by itself: one of the clocks was set. */
const setMs = 2_000;

export function openServiceClock(): ServiceClock {
  let latest: number | undefined;
  let least: number | undefined;
  return {
    aheadMs: () => latest,
    aheadLeastMs: () => least,
    saw: (aheadMs) => {
      latest = aheadMs;
      const isSet = least === undefined || aheadMs < least - setMs;
      least = isSet ? aheadMs : Math.max(least ?? aheadMs, aheadMs);
    },
  };
}

/** A sentence about a clock that makes payouts fail, or undefined when it is good enough. */
export function clockTrouble(aheadMs: number): string | undefined {
  if (Math.abs(aheadMs) <= toleratedClockMs) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const off = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `This machine's clock is ${off} ${aheadMs > 0 ? "behind" : "ahead of"} the service's: set it right, for with more than 4 minutes no payout is sent.`;
}

/** P3: a payout that must fail for its timestamp is not sent at all. */
export function checkClock(world: World): void {
  const failure = clockFailure(world, "Nothing was sent.");
  if (failure) throw failure;
}

/** Why no payout can go out now, where the clocks are the reason, and what else is to be said of it. */
export function clockFailure(world: World, ending: string): Failure | undefined {
  const aheadMs = world.clockAheadMs();
  const trouble = aheadMs === undefined ? undefined : clockTrouble(aheadMs);
  if (aheadMs === undefined || !trouble) return undefined;
  const [ours, theirs] = [world.now(), world.now() + aheadMs].map((ms) =>
    formatTime(new Date(ms).toISOString()),
  );
  return new Failure("access", `The clocks differ: here it is ${ours}, at the service ${theirs}.`, {
    hint: `${trouble} ${ending}`,
  });
}
