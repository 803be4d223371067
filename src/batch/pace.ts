/** How many rows are on the wire at once, and how often something goes out. */
export interface Pace {
  /** Waits for a place on the wire; what belongs to a row that has begun goes before those that have not. */
  enter(hasBegun: boolean): Promise<void>;
  leave(): void;
  /** Waits until one more request may go out, where it has to. */
  turn(): Promise<void> | undefined;
  /** The service asked to be left alone (P20): one row at a time, after a pause; how long that is. */
  slowDown(askedMs: number): number;
  /** Something went well: after a while of that, one row more at a time. */
  speedUp(): void;
}

interface PaceOptions {
  concurrency: number;
  /** Requests a second; as fast as it goes, if left out. */
  perSecond: number | undefined;
  now(): number;
  /** Ends early when the run is to stop. */
  sleep(ms: number): Promise<void>;
  isStopping(): boolean;
}

/** However long it asks for: after a minute it is asked again. */
const longestPauseMs = 60_000;
/** So many rows must go well before one more is tried at a time. */
const patience = 10;

export function openPace({ concurrency, perSecond, ...world }: PaceOptions): Pace {
  const { now, sleep, isStopping } = world;
  const waiting: (() => void)[] = [];
  let limit = concurrency;
  let active = 0;
  let well = 0;
  let nextMs = 0;
  let restsUntilMs = 0;
  const turn = (): Promise<void> | undefined => {
    const nowMs = now();
    const atMs = Math.max(nowMs, nextMs, restsUntilMs);
    nextMs = atMs + (perSecond === undefined ? 0 : 1_000 / perSecond);
    if (atMs === nowMs) return undefined;
    return sleep(atMs - nowMs).then(() => {
      // The service may have asked to be left alone meanwhile; who is to stop sleeps no longer.
      if (restsUntilMs > now() && !isStopping()) return turn();
    });
  };
  const admit = (): void => {
    while (active < limit && waiting.length > 0) {
      active += 1;
      waiting.shift()?.();
    }
  };
  return {
    enter: (hasBegun) =>
      new Promise((resolve) => {
        if (hasBegun) waiting.unshift(resolve);
        else waiting.push(resolve);
        admit();
      }),
    leave: () => {
      active -= 1;
      admit();
    },
    turn,
    slowDown: (askedMs) => {
      const pauseMs = Math.min(askedMs, longestPauseMs);
      limit = 1;
      well = 0;
      restsUntilMs = Math.max(restsUntilMs, now() + pauseMs);
      return pauseMs;
    },
    speedUp: () => {
      well += 1;
      if (limit === concurrency || well % patience !== 0) return;
      limit += 1;
      admit();
    },
  };
}
