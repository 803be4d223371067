import { setFlagsFromString } from "node:v8";

/** The flags that were set, each with the one that undoes it. */
const changed = new Map<string, string>();

/**
 * Sets a flag of V8's for the rest of the run. While one is other than `usual`, V8 takes no compiled
 * code that was kept, neither Node's own nor ours: so it is set as late as can be.
 */
export function setEngineFlag(flag: string, usual: string): void {
  if (changed.has(flag)) return;
  setFlagsFromString(flag);
  changed.set(flag, usual);
}

/** Does some work as if no flag had been set: V8 refuses compiled code that was kept under others. */
export function underUsualFlags<Result>(work: () => Result): Result {
  for (const usual of changed.values()) setFlagsFromString(usual);
  try {
    return work();
  } finally {
    for (const flag of changed.keys()) setFlagsFromString(flag);
  }
}
