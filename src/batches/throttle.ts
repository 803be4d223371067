import type { OperationDeps } from "../operations/deps.ts";
import { isForgotten } from "../operations/payout/unknown.ts";

/** The dependencies of a worker, with what concerns the row that it sends. */
export interface RowDeps extends OperationDeps {
  /** Since when the outcome of the row is unknown, if it is. */
  unknownSince: string | undefined;
}

interface ThrottleOptions {
  concurrency: number;
  /** Requests a second; unlimited if undefined. */
  perSecond: number | undefined;
  /** True once no further request may be sent (P22). */
  isOver(): boolean;
}

/** A longer `Retry-After` is cut: then the API is asked again. */
const longestPauseMs = 60_000;
const acceptedPerSlot = 10;

/** Limits how many requests are in flight at once, and how many are sent in a second. */
export function createThrottle(
  { concurrency, perSecond, isOver }: ThrottleOptions,
  { client, now, sleep, isStopping, isOutOfTime, deadlineMs }: OperationDeps,
) {
  const waiting: (() => void)[] = [];
  let limit = concurrency;
  let inFlight = 0;
  let acceptedInARow = 0;
  let nextMs = 0;
  let pausedUntilMs = 0;

  const admit = (): void => {
    while (inFlight < limit && waiting.length > 0) {
      inFlight += 1;
      waiting.shift()?.();
    }
  };
  const slot = (isUrgent: boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.splice(isUrgent ? 0 : waiting.length, 0, resolve);
      admit();
    });
  const turn = (): Promise<void> | undefined => {
    const nowMs = now();
    const atMs = Math.max(nowMs, nextMs, pausedUntilMs);
    nextMs = atMs + (perSecond === undefined ? 0 : 1_000 / perSecond);
    if (atMs === nowMs) return undefined;
    return sleep(atMs - nowMs).then(() => {
      // The API may have requested a pause meanwhile. A stop ends every sleep early.
      if (pausedUntilMs > now() && !isStopping()) return turn();
    });
  };
  /** P20: the API requested fewer requests. Returns how long all rows pause. */
  const slowDown = (requestedMs: number): number => {
    const pauseMs = Math.min(requestedMs, longestPauseMs);
    limit = 1;
    acceptedInARow = 0;
    pausedUntilMs = Math.max(pausedUntilMs, now() + pauseMs);
    return pauseMs;
  };

  /**
   * A client whose requests wait for their slot. The wait does not count as the row's own time, and a
   * row that pauses between two attempts has no slot.
   */
  const clientOf = (worker: RowDeps): OperationDeps["client"] => {
    const extendDeadline = (ms: number): void => {
      worker.deadlineMs = Math.min(deadlineMs, worker.deadlineMs + ms);
    };
    const inSlot = async <Result>(
      send: () => Promise<Result>,
      { isUrgent }: { isUrgent: boolean },
    ): Promise<Result> => {
      const sinceMs = now();
      await slot(isUrgent);
      try {
        await turn();
        extendDeadline(now() - sinceMs);
        return await send();
      } finally {
        inFlight -= 1;
        admit();
      }
    };
    const createPayout: OperationDeps["client"]["createPayout"] = async (input) => {
      // The machine may have slept for days while the row waited for its slot (P25).
      const { unknownSince } = worker;
      const isLate = unknownSince !== undefined && isForgotten(unknownSince, { now });
      if (isOver() || isLate) return notSent({ isStopping, isOutOfTime });
      const answer = await client.createPayout(input);
      if (answer.kind === "unclear" || answer.kind === "refused")
        worker.unknownSince ??= new Date(now()).toISOString();
      if (answer.kind === "refused" && answer.why === "busy")
        extendDeadline(slowDown(answer.times.retryAfterMs ?? 0));
      return answer;
    };
    return {
      ...client,
      createPayout: (input) => inSlot(() => createPayout(input), { isUrgent: false }),
      // A payout that must be compared goes first: if it differs, no further payout may be sent.
      retrievePayout: (input) => inSlot(() => client.retrievePayout(input), { isUrgent: true }),
    };
  };

  /** The API accepted a row: after ten of these, one more slot is tried. */
  const accepted = (): void => {
    acceptedInARow += 1;
    if (limit === concurrency || acceptedInARow % acceptedPerSlot !== 0) return;
    limit += 1;
    admit();
  };
  return { clientOf, accepted };
}

/** The answer to a request that waited for its slot and is not sent; its row records why. */
function notSent({ isStopping, isOutOfTime }: Pick<OperationDeps, "isStopping" | "isOutOfTime">) {
  const stopped = isStopping() ? "stopped" : "batch stopped";
  const reason = isOutOfTime() ? "out of time" : stopped;
  return { kind: "unsent", fault: { reason, code: "STOPPED" } } as const;
}
