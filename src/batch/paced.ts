import { isForgotten } from "../operations/doubt.ts";
import type { World } from "../operations/world.ts";
import type { Pace } from "./pace.ts";
import type { StopRules } from "./stop-rules.ts";

/**
 * A client that lets only so many requests onto the wire at once. A row that pauses before its next
 * attempt holds no place, and its waiting for a place does not count as its own time. A request whose
 * turn comes after the end was decided does not go out (P22).
 *
 * @param own the world of one row after the other, whose deadline moves; since when it is in doubt
 */
export function paced(
  own: World & { doubtSince: string | undefined },
  { client, isStopping, ...world }: World,
  { pace, rules }: { pace: Pace; rules: StopRules },
): World["client"] {
  const later = (ms: number): void => {
    own.deadlineMs = Math.min(world.deadlineMs, own.deadlineMs + ms);
  };
  const inTurn = async <Result>(
    work: () => Promise<Result>,
    hasBegun: boolean,
  ): Promise<Result> => {
    const sinceMs = world.now();
    await pace.enter(hasBegun);
    try {
      await pace.turn();
      later(world.now() - sinceMs);
      return await work();
    } finally {
      pace.leave();
    }
  };
  const created: World["client"]["createPayout"] = async (input) => {
    if (isStopping() || rules.reason()) return neverSent;
    // The machine may have slept for days while the row waited (P25).
    if (own.doubtSince !== undefined && isForgotten(own.doubtSince, world)) return neverSent;
    const answer = await client.createPayout(input);
    if (answer.kind === "unclear" || answer.kind === "refused")
      own.doubtSince ??= new Date(world.now()).toISOString();
    if (answer.kind === "refused" && answer.why === "busy")
      later(pace.slowDown(answer.times.retryAfterMs ?? 0));
    return answer;
  };
  return {
    ...client,
    createPayout: (input: Parameters<typeof created>[0]) => inTurn(() => created(input), false),
    // What was made is looked at before more is: if it is not what was asked for, nothing more goes out.
    retrievePayout: (input: Parameters<typeof client.retrievePayout>[0]) =>
      inTurn(() => client.retrievePayout(input), true),
  };
}

const neverSent = { kind: "unsent", fault: { reason: "stopped", code: "STOPPED" } } as const;
