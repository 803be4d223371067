import type { Host } from "../platform/host.ts";

/** Half of the two seconds that a call may take: a busy machine needs the rest. */
const answerMs = 1_000;
/** So long the result of work that outlived its call waits for the next one. */
const keptMs = 60_000;

/**
 * Runs work that may take longer than a call: the call ends in time, and the work continues. A call with the same key
 * waits for the same work, or gets its result.
 */
export function createJobs<Value>({ sleep, monotonicMs }: Pick<Host, "sleep" | "monotonicMs">) {
  const running = new Map<string, Promise<Value>>();
  const ended = new Map<string, { value: Value; atMs: number }>();
  /** The keys of work whose result no call has seen. */
  const unseen = new Set<string>();

  const start = (key: string, work: () => Promise<Value>): Promise<Value> => {
    const job = work().finally(() => running.delete(key));
    running.set(key, job);
    void job.then(
      (value) => unseen.has(key) && ended.set(key, { value, atMs: monotonicMs() }),
      () => unseen.delete(key),
    );
    return job;
  };

  const forgetOld = (): void => {
    for (const [own, { atMs }] of ended)
      if (monotonicMs() - atMs > keptMs) {
        ended.delete(own);
        unseen.delete(own);
      }
  };

  const takeEnded = (key: string): Value | undefined => {
    forgetOld();
    const found = ended.get(key);
    ended.delete(key);
    if (found) unseen.delete(key);
    return found?.value;
  };

  return {
    isRunning: (key: string): boolean => {
      forgetOld();
      return running.has(key) || ended.has(key);
    },
    /**
     * The result of the work; undefined if it takes longer than a call may.
     *
     * @param sinceMs when the call arrived, by the clock that is never set
     */
    answer: async (
      key: string,
      sinceMs: number,
      work: () => Promise<Value>,
    ): Promise<Value | undefined> => {
      const found = takeEnded(key);
      if (found !== undefined) return found;
      const job = running.get(key) ?? start(key, work);
      const timer = new AbortController();
      const leftMs = Math.max(0, sinceMs + answerMs - monotonicMs());
      const late = sleep(leftMs, timer.signal).then(() => undefined);
      const value = await Promise.race([job, late]).finally(() => timer.abort());
      if (value === undefined && running.has(key)) unseen.add(key);
      else unseen.delete(key);
      return value;
    },
    /** Resolves when nothing is in progress. */
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
  };
}
