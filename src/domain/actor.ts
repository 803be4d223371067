/** Who acts: each one may do less than the one before. */
export const actors = ["person", "script", "agent"] as const;
export type Actor = (typeof actors)[number];

/** Of two actors, the one that may do less. */
export function stricterOf(one: Actor, other: Actor): Actor {
  return actors.indexOf(one) < actors.indexOf(other) ? other : one;
}
