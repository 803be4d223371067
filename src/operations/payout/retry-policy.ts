import type { Answer } from "../../api/response.ts";
import { isHopeless, isWaiting } from "../response-failure.ts";

/** After a timeout the API may still process a request for so long (I3). */
export const atWorkMs = 10_000;

const policy = {
  attempts: 5,
  unreadableAttempts: 2,
  firstMs: 500,
  longestRequestedMs: 60_000,
};

/**
 * Milliseconds to wait before the same reference is sent again; undefined if it is not. Pure.
 *
 * @param unreadable how many responses so far could not be read
 */
export function pauseBeforeRetry(
  answer: Answer,
  { attempt, unreadable, random }: { attempt: number; unreadable: number; random: number },
): number | undefined {
  if (attempt >= policy.attempts || isFinal(answer)) return undefined;
  if (isUnreadable(answer) && unreadable >= policy.unreadableAttempts) return undefined;
  const requestedMs = "times" in answer ? answer.times.retryAfterMs : undefined;
  if (requestedMs !== undefined)
    return Math.min(Math.max(requestedMs, policy.firstMs), policy.longestRequestedMs);
  const backOffMs = policy.firstMs * 2 ** attempt * (0.5 + random / 2);
  return answer.kind === "unclear" && answer.why === "no response in time"
    ? Math.max(backOffMs, atWorkMs)
    : backOffMs;
}

function isFinal(answer: Answer): boolean {
  if (answer.kind === "unsent") return isHopeless(answer);
  if (answer.kind === "unclear") return ["stopped", "out of time"].includes(answer.why);
  return answer.kind === "data" || !isWaiting(answer);
}

/**
 * True for a 2xx whose body cannot be read: one more attempt may bring a valid one (P14). A response for
 * another reference is not one of these: it gets the usual attempts (P15b).
 */
export function isUnreadable(answer: Answer): boolean {
  return (
    answer.kind === "unclear" &&
    answer.why !== "another record" &&
    answer.status !== undefined &&
    answer.status >= 200 &&
    answer.status < 300
  );
}
