import type { Failure } from "../domain/failure.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { isForgotten } from "../operations/payout/unknown.ts";

/** The dependencies of a worker, with what concerns the row that it sends. */
export interface RowDeps extends OperationDeps {
  /** Since when the outcome of the row is unknown, if it is. */
  unknownSince: string | undefined;
}

/** The slot of a worker, in which it sends one row after the other. */
export type Slot = ReturnType<ReturnType<typeof createThrottle>["slotOf"]>;

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
  const slots = createSlots(concurrency);
  let nextMs = 0;
  let pausedUntilMs = 0;

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
    slots.limitToOne();
    pausedUntilMs = Math.max(pausedUntilMs, now() + pauseMs);
    return pauseMs;
  };

  /**
   * The slot of a worker, and a client whose requests wait for it. The wait does not count as the row's own time. A row
   * has its slot until its response was judged; between two attempts only its own retry, or that of another row, may be
   * sent. So a row that was claimed ahead is not sent while others wait for their outcome.
   */
  const slotOf = (worker: RowDeps) => {
    let isStarted = false;
    let takenMs: number | undefined;
    /** The row is tried again later. Returns how long its request had the slot. */
    const pause = (): number => {
      if (takenMs === undefined) return 0;
      const heldMs = now() - takenMs;
      takenMs = undefined;
      slots.endRequest();
      return heldMs;
    };
    /** The response was judged, or nothing was sent. Returns as `pause`. */
    const free = (): number => {
      const heldMs = pause();
      if (isStarted) slots.endRow();
      isStarted = false;
      return heldMs;
    };
    const extendDeadline = (ms: number): void => {
      worker.deadlineMs = Math.min(deadlineMs, worker.deadlineMs + ms);
    };
    const inSlot = async <Result>(send: () => Promise<Result>): Promise<Result> => {
      const sinceMs = now();
      if (takenMs === undefined) {
        await (isStarted ? slots.takeAgain() : slots.take());
        isStarted = true;
        takenMs = now();
      }
      await turn();
      extendDeadline(now() - sinceMs);
      return send();
    };
    const createPayout: OperationDeps["client"]["createPayout"] = async (input) => {
      // The machine may have slept for days while the row waited for its slot (P25). The row's own failure says so.
      const { unknownSince } = worker;
      const isLate = unknownSince !== undefined && isForgotten(unknownSince, { now });
      if (isOver() || isLate) {
        free();
        return notSent({ isStopping, isOutOfTime });
      }
      const answer = await client.createPayout(input);
      if (answer.kind === "unclear" || answer.kind === "refused")
        worker.unknownSince ??= new Date(now()).toISOString();
      if (answer.kind === "refused" && answer.why === "busy")
        extendDeadline(slowDown(answer.times.retryAfterMs ?? 0));
      return answer;
    };
    const ownClient: OperationDeps["client"] = {
      ...client,
      createPayout: (input) => inSlot(() => createPayout(input)),
      // In the slot of its creation: if the record differs, no further payout may be sent.
      retrievePayout: (input) => inSlot(() => client.retrievePayout(input)),
    };
    return { client: ownClient, pause, free };
  };
  return { slotOf, accepted: slots.accepted };
}

/**
 * Slots for so many requests at once, and for as many rows that were sent and have no outcome. Retries come first; apart
 * from that, those who wait get a slot in their order.
 */
function createSlots(most: number) {
  const retries: (() => void)[] = [];
  const others: (() => void)[] = [];
  let limit = most;
  let inFlight = 0;
  let started = 0;
  /** Other outcomes do not count: only a further 429 starts again. */
  let acceptedSinceBusy = 0;
  const admit = (): void => {
    while (inFlight < limit) {
      const next = retries.shift() ?? (started < most ? others.shift() : undefined);
      if (!next) return;
      inFlight += 1;
      next();
    }
  };
  const take = (waiting: (() => void)[], taken = () => {}): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(() => {
        taken();
        resolve();
      });
      admit();
    });
  return {
    take: (): Promise<void> =>
      take(others, () => {
        started += 1;
      }),
    takeAgain: (): Promise<void> => take(retries),
    endRequest: (): void => {
      inFlight -= 1;
      admit();
    },
    endRow: (): void => {
      started -= 1;
      admit();
    },
    limitToOne: (): void => {
      limit = 1;
      acceptedSinceBusy = 0;
    },
    /** The API accepted a row: after ten of these since the last 429, one more slot is tried. */
    accepted: (): void => {
      acceptedSinceBusy += 1;
      if (limit === most || acceptedSinceBusy % acceptedPerSlot !== 0) return;
      limit += 1;
      admit();
    },
  };
}

/** The answer to a request that waited for its slot and is not sent; its row records why. */
function notSent({ isStopping, isOutOfTime }: Pick<OperationDeps, "isStopping" | "isOutOfTime">) {
  const stopped = isStopping() ? "stopped" : "batch stopped";
  const reason = isOutOfTime() ? "out of time" : stopped;
  return { kind: "unsent", fault: { reason, code: heldBack } } as const;
}

const heldBack = "STOPPED";

/** True for a row that was claimed and not sent because the run or the batch stopped. */
export function isHeldBack({ details }: Failure): boolean {
  return details.code === heldBack;
}
