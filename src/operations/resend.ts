import type { Answer } from "../api/response.ts";

/** After a time-out the service may still be at work on a request for so long (I3). */
export const atWorkMs = 10_000;

/**
 * How often a payout goes out in all, and how long it waits in between.
 */
const policy = {
  attempts: 5,
  garbledAttempts: 2,
  firstMs: 500,
  longestAskedMs: 60_000,
};

/** Milliseconds to wait before the same reference goes out again, or undefined to stop; pure. */
export function pauseBeforeResending(
  answer: Answer,
  { attempt, garbled, random }: { attempt: number; garbled: number; random: number },
): number | undefined {
  if (attempt >= policy.attempts || isFinal(answer)) return undefined;
  if (isGarbled(answer) && garbled >= policy.garbledAttempts) return undefined;
  const askedMs = "times" in answer ? answer.times.retryAfterMs : undefined;
  if (askedMs !== undefined)
    return Math.min(Math.max(askedMs, policy.firstMs), policy.longestAskedMs);
  const backOffMs = policy.firstMs * 2 ** attempt * (0.5 + random / 2);
  return answer.kind === "unclear" && answer.why === "no answer in time"
    ? Math.max(backOffMs, atWorkMs)
    : backOffMs;
}

/** The service has this reference in work, or wants to be left alone (P19, P20). */
export function isWaiting(answer: Answer): boolean {
  return answer.kind === "refused" && (answer.why === "busy" || answer.why === "clash");
}

function isFinal(answer: Answer): boolean {
  if (answer.kind === "unsent") return ["certificate", "stopped"].includes(answer.fault.reason);
  if (answer.kind === "unclear") return answer.why === "stopped";
  return answer.kind === "data" || !isWaiting(answer);
}

/**
 * A 2xx whose body cannot be understood: worth one more try for a clean copy (P14). A response for
 * another reference is not one of these: it gets the usual attempts (P15b).
 */
export function isGarbled(answer: Answer): boolean {
  return (
    answer.kind === "unclear" &&
    answer.why !== "another record" &&
    answer.status !== undefined &&
    answer.status >= 200 &&
    answer.status < 300
  );
}
