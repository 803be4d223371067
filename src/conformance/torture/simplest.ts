import type { TortureFault } from "../../api/contract/fault.ts";
import type { Event } from "./round.ts";
import type { Finding } from "./verdict.ts";

/** A failure, with what explains it. */
export interface Example extends Finding {
  round: number;
  /** The faults of its round. */
  only: readonly TortureFault[];
  /** The requests for its order, and the callbacks about it; once each fault is needed, all that have one. */
  events: Event[];
  /** The places of its round that had a fault. */
  places: string[];
  /** False if the same faults did not lead to it again, and undefined if that was not tried. */
  isRepeated?: boolean;
}

/** How a round is repeated. */
export interface Trial {
  only: readonly TortureFault[];
  /** The places that may have a fault; undefined if all may. */
  places?: ReadonlySet<string>;
}

/**
 * Repeats a failure with fewer faults, until each one that is left is needed: first the names, because a user can choose
 * these, and then the places.
 *
 * @param repeat plays the round of the failure; returns the same failure, or undefined if it did not occur
 */
export async function simplest(
  example: Example,
  repeat: (trial: Trial) => Promise<Example | undefined>,
): Promise<Example> {
  if (example.only.length === 0) return example;
  let best: Example = { ...example, isRepeated: false };
  const fails = async (trial: Trial): Promise<boolean> => {
    const again = await repeat(trial);
    if (again) best = { ...again, isRepeated: true };
    return again !== undefined;
  };
  const failsWith = (only: readonly TortureFault[]) => fails({ only });
  if (await failsWith([])) return best;
  const { events, only: all } = example;
  const seen = all.filter((name) => events.some(({ fault }) => fault === name));
  const enough = (await failsWith(seen)) ? seen : all;
  if (enough === all && !(await failsWith(all))) return best;
  const only = await smallest(enough, failsWith);
  const failsAt = (some: readonly string[]) => fails({ only, places: new Set(some) });
  // A fault of another order may have ended a run.
  const own = best.events.flatMap(({ fault, place }) => (fault ? [place] : []));
  const places = (await failsAt(own)) ? own : best.places;
  if (places === own || (await failsAt(places))) await smallest(places, failsAt);
  return best;
}

/** A part that is enough, and of which nothing can be removed. */
async function smallest<Item>(
  all: readonly Item[],
  isEnough: (some: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  if (all.length < 2) return all;
  const half = Math.ceil(all.length / 2);
  for (const part of [all.slice(0, half), all.slice(half)])
    if (await isEnough(part)) return smallest(part, isEnough);
  let left = all;
  for (const one of all) {
    const fewer = left.filter((other) => other !== one);
    if (fewer.length > 0 && (await isEnough(fewer))) left = fewer;
  }
  return left;
}
