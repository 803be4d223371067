import { writeFileSync } from "node:fs";

/**
 * A copy of an object, or of an instance of a class, with other functions. A bug that names a function that the program no longer has
 * would make tests fail whatever it does, so the run does not count (`reportStale`).
 *
 * @param {object} object
 * @param {Record<string, (right: Function) => Function>} changes of each function the one that replaces it
 */
export function override(object, changes) {
  const changed = { ...boundMethods(object), ...object };
  for (const [name, change] of Object.entries(changes)) {
    if (typeof object[name] !== "function") reportStale(`there is no function ${name}`);
    changed[name] = guarded(change(object[name].bind(object)));
  }
  return changed;
}

function boundMethods(object) {
  const prototype = Object.getPrototypeOf(object);
  if (prototype === Object.prototype) return {};
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
  return Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
}

/** The same object with other values under some names. Later changes of either show in both. */
export function withValues(object, values) {
  for (const name of Object.keys(values))
    if (!(name in object)) reportStale(`there is no value ${name}`);
  const get = (target, name) => {
    if (!Object.hasOwn(values, name)) return Reflect.get(target, name);
    const value = values[name];
    return typeof value === "function" ? guarded(value) : value;
  };
  return new Proxy(object, { get });
}

/** A ledger with other functions for its batches. */
export function withBatches(ledger, changes) {
  return { ...ledger, batches: override(ledger.batches, changes) };
}

/** The same function, which reports an error of the bug itself, also in a function that it returns. */
export function guarded(work) {
  return (...asked) => {
    try {
      const result = work(...asked);
      if (typeof result === "function") return guarded(result);
      if (isGenerator(result)) return guardedSteps(result);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (error) {
      return rethrow(error);
    }
  };
}

function isGenerator(value) {
  return Object.prototype.toString.call(value) === "[object Generator]";
}

function* guardedSteps(work) {
  try {
    return yield* work;
  } catch (error) {
    return rethrow(error);
  }
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
