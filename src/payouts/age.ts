import type { World } from "../operations/world.ts";

type Clocks = Pick<World, "now" | "clockAheadMs" | "clockAheadLeastMs">;

/**
 * Whether a payout was there before this run, by the service's clock and by ours, for its `Date` may be of
 * another clock than `createdAt`; its status proves nothing. To say so wrongly is the worse mistake: somebody
 * who reads that no new payout was made may pay again.
 *
 * @param firstMs when the first request that may have made it went out, by our clock
 */
export function isOlder(
  createdAt: string | null | undefined,
  firstMs: number,
  world: Pick<Clocks, "clockAheadMs">,
): boolean {
  const clocksMs = Math.min(world.clockAheadMs() ?? 0, 0);
  return /T\d/.test(createdAt ?? "") && latestOf(createdAt) < firstMs + clocksMs - unsureMs;
}

/**
 * Whether it may have been there. Here to miss one is the worse mistake: it is somebody else's money. A
 * time that nobody can read, or that is still to come by the service's own clock, tells nothing.
 */
export function mayBeOlder(createdAt: string, firstMs: number, world: Clocks): boolean {
  const latestMs = latestOf(createdAt);
  const isAfter = latestMs >= firstMs + (world.clockAheadLeastMs() ?? 0);
  const isOver = latestMs <= world.now() + (world.clockAheadMs() ?? 0) + unsureMs;
  return !(isAfter && isOver);
}

/** `createdAt` and `Date` may be of two clocks, and may count whole seconds. */
const unsureMs = 5_000;
/** Of a reference that is asked for the first time: a service may count minutes, or lag behind its `Date`. */
export const surelyOlderMs = 2 * 60_000;

/**
 * A service may count whole seconds, in `createdAt` as in `Date`: within one, nobody can tell. A time
 * that names no zone is UTC (service.md), and not this machine's.
 */
function latestOf(createdAt: string | null | undefined): number {
  const text = createdAt ?? "";
  const createdMs = Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
  return createdMs % 1000 === 0 ? createdMs + 999 : createdMs;
}
