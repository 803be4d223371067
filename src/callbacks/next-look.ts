import { hasEnded } from "../domain/statuses.ts";
import type { StoredCallback } from "../ledger/callback.ts";
import { answerFor } from "./forward.ts";
import { verdicts } from "./verdicts.ts";
import type { Checked } from "./verify.ts";

const pausesMs = [5_000, 15_000, 60_000, 5 * 60_000, 30 * 60_000];
/** With these pauses, 52 looks take a day, and 3 take not quite two minutes. */
const looks = { patient: 52, brief: 3 };

/**
 * When to look at a callback again, after the last look; null: never. `isGivenUp`: never, although it
 * was not verified, or did not arrive.
 */
export interface NextLook {
  afterMs: number | null;
  isGivenUp: boolean;
}

/**
 * A callback that could not be verified yet, or is verified and did not arrive, is tried for a day. Any
 * other may have come before the service's own database knew of it: it is looked at a few times more.
 *
 * @param lookedAt how often it was looked at since its verdict last changed
 */
export function nextLookAfter(callback: StoredCallback, lookedAt: number): NextLook {
  const verdict = callback.judged?.verdict;
  const isToArrive = !hasArrived(callback, callback.forwarded?.to);
  const isUrgent = verdict === "unchecked" || (verdict === "verified" && isToArrive);
  const isDoubted = verdict !== "verified" && (callback.judged?.records.length ?? 0) > 0;
  if (!isUrgent && !isDoubted && !isToArrive) return { afterMs: null, isGivenUp: false };
  const isEnough = lookedAt > (isUrgent ? looks.patient : looks.brief);
  const pauseMs = pausesMs[Math.min(lookedAt, pausesMs.length) - 1] ?? 0;
  return { afterMs: isEnough ? null : pauseMs, isGivenUp: isEnough && isUrgent };
}

/** Whether the handler `to` has answered to the present verdict; true where there is no handler. */
export function hasArrived({ judged, forwarded }: StoredCallback, to: string | undefined): boolean {
  if (to === undefined) return true;
  if (!judged || forwarded?.to !== to || forwarded.finding !== judged.finding) return false;
  const status = answerFor(forwarded.status);
  // A handler that refuses what is not verified has received it all the same.
  const isHeard = judged.verdict !== "verified" && status >= 400 && status < 500;
  return status < 300 || (isHeard && ![408, 425, 429].includes(status));
}

/**
 * Whether another look would show nothing new. A forged callback is never over: what it says may become
 * true, and then the service's own, of the same bytes, has to be believed.
 */
export function isOver(callback: StoredCallback, to: string | undefined): boolean {
  const checked = checkedBefore(callback);
  return (
    checked?.verdict === "verified" &&
    checked.records.every(({ verified }) => !verified || hasEnded(verified)) &&
    hasArrived(callback, to)
  );
}

/** The verdict of the last look. */
export function checkedBefore({ judged }: StoredCallback): Checked | undefined {
  const verdict = verdicts.find((one) => one === judged?.verdict);
  if (!judged || !verdict) return undefined;
  return { verdict, because: judged.because, records: judged.records };
}
