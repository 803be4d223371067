import type { Taken } from "./handle.ts";

/** Telling the reader what came of callbacks. */
export interface Telling {
  /** Resolves when the reader saw it. */
  tell(taken: Taken): Promise<void>;
  /** Whether this run has told of the callback; asked only of what repeats within a minute. */
  hasTold(number: number): boolean;
}

const mostRemembered = 10_000;

export function openTelling(onTaken: (taken: Taken) => Promise<void>): Telling {
  const told = new Set<number>();
  return {
    async tell(taken) {
      if (told.size > mostRemembered) told.clear();
      told.add(taken.callback.number);
      await onTaken(taken);
    },
    hasTold: (number) => told.has(number),
  };
}
