import type { StoredCallback } from "../ledger/callbacks.ts";
import { answerFor } from "./forward.ts";

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
  const isOver = lookedAt > (isUrgent ? looks.patient : looks.brief);
  const pauseMs = pausesMs[Math.min(lookedAt, pausesMs.length) - 1] ?? 0;
  return { afterMs: isOver ? null : pauseMs, isGivenUp: isOver && isUrgent };
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
