import { Failure } from "../domain/failure.ts";
import type { World } from "./deps.ts";

/** P22: nothing new begins once the run is to stop. */
export function checkStop(world: Pick<World, "isStopping" | "isOutOfTime">): void {
  if (!world.isStopping()) return;
  if (world.isOutOfTime())
    throw new Failure("unreachable", "The time of --timeout was over before anything was sent.", {
      hint: "Give it more, or leave it out.",
    });
  throw new Failure("interrupted", "Stopped before anything was sent.");
}
