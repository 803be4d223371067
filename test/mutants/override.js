import { writeFileSync } from "node:fs";

/**
 * A copy of an object with other functions. A bug that names a function that the program no longer has
 * would make tests fail whatever it does, so the run does not count (`reportStale`).
 *
 * @param {object} object
 * @param {Record<string, (right: Function) => Function>} changes of each function the one that replaces it
 */
export function override(object, changes) {
  const changed = { ...object };
  for (const [name, change] of Object.entries(changes)) {
    if (typeof object[name] !== "function") reportStale(`there is no function ${name}`);
    changed[name] = guarded(change(object[name].bind(object)));
  }
  return changed;
}

/** The same function, which reports an error of the bug itself. */
export function guarded(work) {
  return (...asked) => {
    try {
      const result = work(...asked);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (error) {
      return rethrow(error);
    }
  };
}

function rethrow(error) {
  const isOfCode = error instanceof TypeError || error instanceof ReferenceError;
  const [, frame = ""] = String(error?.stack).split(/\n\s+at /);
  if (isOfCode && frame.includes("/test/mutants/")) reportStale(String(error));
  throw error;
}

/** Tells the runner, for the program may swallow the error. */
function reportStale(why) {
  if (process.env.LENDEN_MUTANT_STALE) writeFileSync(process.env.LENDEN_MUTANT_STALE, why);
  throw new ReferenceError(why);
}
