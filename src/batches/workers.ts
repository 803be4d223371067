/** The most rows that a batch has claimed at once (P9). */
export function mostClaimed(concurrency: number): number {
  return concurrency === 1 ? 1 : 2 * concurrency;
}

interface WorkersOptions {
  concurrency: number;
  now(): number;
  /** False once a further worker would find no row. */
  isMore(): boolean;
  /** What a worker does until there is no further row, or `isOneTooMany`. It never rejects. */
  work(): Promise<void>;
}

/**
 * Runs a worker for each row that is claimed at once: as many as requests may be in flight, and a reserve, whose rows
 * wait for a slot, so that no slot waits for a commit. The reserve is a quarter of the concurrency, and more while a
 * commit takes long beside a request. A single slot has no reserve: its next row is claimed after the one before it.
 */
export function createWorkers({ concurrency, now, isMore, work }: WorkersOptions) {
  const least = Math.floor(concurrency / 4);
  const most = mostClaimed(concurrency) - concurrency;
  const [requestMs, commitMs] = [createAverage(), createAverage()];
  const working = new Set<Promise<void>>();
  let count = 0;

  const wanted = (): number => {
    // For each request in flight, so many rows wait for their commit.
    const committing = commitMs.value() / Math.max(1, requestMs.value());
    return concurrency + Math.min(most, Math.max(least, Math.floor(concurrency * committing)));
  };
  const startWanted = (): void => {
    while (count < wanted() && isMore()) {
      count += 1;
      const worker = work().finally(() => working.delete(worker));
      working.add(worker);
    }
  };

  return {
    run: async (): Promise<void> => {
      startWanted();
      while (working.size > 0) await Promise.all(working);
    },
    /** True if the worker that asks is to end, because fewer are wanted now. */
    isOneTooMany: (): boolean => {
      const isTooMany = count > wanted();
      if (isTooMany) count -= 1;
      return isTooMany;
    },
    /** A row was accepted, after so long in its slot; its outcome is being recorded. */
    accepted: (heldMs: number, recorded: Promise<unknown>): void => {
      const judgedMs = now();
      const saw = (): void => {
        requestMs.add(heldMs);
        commitMs.add(now() - judgedMs);
        startWanted();
      };
      recorded.then(saw, () => {}); // The row itself awaits it.
    },
  };
}

/** An average in which the newest value counts for a sixteenth. */
function createAverage() {
  let average = 0;
  return {
    value: () => average,
    add: (value: number): void => {
      average += (value - average) / 16;
    },
  };
}
