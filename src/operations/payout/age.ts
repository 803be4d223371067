import type { OperationDeps } from "../deps.ts";

type Clocks = Pick<OperationDeps, "now" | "clockAheadMs" | "clockAheadLeastMs">;

/**
 * True if a payout surely existed before this run, by the API's clock and by ours, because `Date` and
 * `createdAt` may come from two clocks. Its status proves nothing. A wrong `true` is the worse mistake: a
 * user who reads that no new payout was created may pay again.
 *
 * @param firstMs when the first request that may have created it was sent, by our clock
 */
export function isOlder(
  createdAt: string | null | undefined,
  firstMs: number,
  deps: Pick<Clocks, "clockAheadMs">,
): boolean {
  const clocksMs = Math.min(deps.clockAheadMs() ?? 0, 0);
  return /T\d/.test(createdAt ?? "") && latestOf(createdAt) < firstMs + clocksMs - unsureMs;
}

/**
 * True if a payout may have existed before this run. A wrong `false` is the worse mistake: the payout may
 * be another one. A time that cannot be read, or that is in the future by the API's own clock, shows nothing.
 */
export function mayBeOlder(createdAt: string, firstMs: number, deps: Clocks): boolean {
  const latestMs = latestOf(createdAt);
  const isAfter = latestMs >= firstMs + (deps.clockAheadLeastMs() ?? 0);
  const isOver = latestMs <= deps.now() + (deps.clockAheadMs() ?? 0) + unsureMs;
  return !(isAfter && isOver);
}

/** `createdAt` and `Date` may come from two clocks, and may count whole seconds. */
const unsureMs = 5_000;
/** For a reference that is new in this ledger: an API may count minutes, or be behind its `Date`. */
export const surelyOlderMs = 2 * 60_000;

/** The latest moment that `createdAt` can mean: it may count whole seconds. Without a zone it is UTC (docs/api.md). */
function latestOf(createdAt: string | null | undefined): number {
  const text = createdAt ?? "";
  const createdMs = Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
  return createdMs % 1000 === 0 ? createdMs + 999 : createdMs;
}
