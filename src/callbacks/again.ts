import { hasEnded } from "../contract/record.ts";
import type { StoredCallback } from "../ledger/callback.ts";
import { answerFor } from "./forward.ts";
import { verdicts } from "./verdicts.ts";
import type { Checked } from "./verify.ts";

const pausesMs = [5_000, 15_000, 60_000, 5 * 60_000, 30 * 60_000];
/** With these pauses: a day; and not quite two minutes. */
const looks = { patient: 52, brief: 3 };

/** When to look at a callback again; `isGivenUp`: not any more, although it did not come to its end. */
export interface Again {
  afterMs: number | null;
  isGivenUp: boolean;
}

/**
 * What nobody verified yet, and what is true and did not arrive, is tried for a day. Anything else may
 * have overtaken the service's own database, and is looked at a few times more.
 *
 * @param lookedAt how often it was, since it was last judged otherwise than before
 */
export function againAfter(callback: StoredCallback, lookedAt: number): Again {
  const verdict = callback.judged?.verdict;
  const isToArrive = !hasArrived(callback, callback.forwarded?.to);
  const isUrgent = verdict === "unanswered" || (verdict === "genuine" && isToArrive);
  const isDoubted = verdict !== "genuine" && (callback.judged?.records.length ?? 0) > 0;
  if (!isUrgent && !isDoubted && !isToArrive) return { afterMs: null, isGivenUp: false };
  const isEnough = lookedAt > (isUrgent ? looks.patient : looks.brief);
  const pauseMs = pausesMs[Math.min(lookedAt, pausesMs.length) - 1] ?? 0;
  return { afterMs: isEnough ? null : pauseMs, isGivenUp: isEnough && isUrgent };
}

/** Whether whoever it is passed on to has its present verdict, and said so; without anybody, it has. */
export function hasArrived({ judged, forwarded }: StoredCallback, to: string | undefined): boolean {
  if (to === undefined) return true;
  if (!judged || forwarded?.to !== to || forwarded.finding !== judged.finding) return false;
  const status = answerFor(forwarded.status);
  // To refuse what is not genuine is to have heard it.
  const isHeard = judged.verdict !== "genuine" && status >= 400 && status < 500;
  return status < 300 || (isHeard && ![408, 425, 429].includes(status));
}

/**
 * Whether another look could show nothing else. A forged word may become true: whoever sends it early
 * must not keep the service's own from being believed later.
 */
export function isOver(callback: StoredCallback, to: string | undefined): boolean {
  const checked = checkedBefore(callback);
  return (
    checked?.verdict === "genuine" &&
    checked.records.every(({ verified }) => !verified || hasEnded(verified)) &&
    hasArrived(callback, to)
  );
}

/** What it came to when it was looked at last. */
export function checkedBefore({ judged }: StoredCallback): Checked | undefined {
  const verdict = verdicts.find((one) => one === judged?.verdict);
  if (!judged || !verdict) return undefined;
  return { verdict, because: judged.because, records: judged.records };
}
