/** Lets so many work at once; the others wait in their order. */
export function openGate(atOnce: number) {
  const waiting: (() => void)[] = [];
  let working = 0;
  return {
    waiting: () => waiting.length,
    async through<Result>(work: () => Promise<Result>): Promise<Result> {
      if (working >= atOnce) await new Promise<void>((go) => waiting.push(go));
      else working += 1;
      try {
        return await work();
      } finally {
        // Whoever comes next takes over the place.
        const next = waiting.shift();
        if (next) next();
        else working -= 1;
      }
    },
  };
}

interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Waits until so much time has passed since the last one that was let go. */
export function openPace(pauseMs: number, { now, sleep }: Clock): () => Promise<void> {
  let freeAtMs = 0;
  return async () => {
    const waitMs = freeAtMs - now();
    freeAtMs = Math.max(freeAtMs, now()) + pauseMs;
    if (waitMs > 0) await sleep(waitMs);
  };
}
