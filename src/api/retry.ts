import type { Answer } from "./response.ts";

/** How often a read is tried in all, its longest first pause, and how long it lets itself be asked to wait. */
const policy = { tries: 3, firstMs: 500, longestAskedMs: 60_000 };

/**
 * How many milliseconds to wait before reading again, or undefined to stop. Reads alone: what
 * moves money has rules of its own, in operations/.
 *
 * @param tries how many times it has been tried
 * @param random a number in [0, 1)
 */
export function pauseBeforeReading(
  answer: Answer,
  { tries, random }: { tries: number; random: number },
): number | undefined {
  if (tries >= policy.tries || !isWorthAnotherTry(answer)) return undefined;
  const asked = "times" in answer ? answer.times.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(asked, policy.longestAskedMs);
  return policy.firstMs * 2 ** (tries - 1) * (0.5 + random / 2);
}

function isWorthAnotherTry(answer: Answer): boolean {
  if (answer.kind === "unsent") return !["certificate", "stopped"].includes(answer.fault.reason);
  if (answer.kind === "refused") return answer.why === "busy";
  if (answer.kind === "unclear")
    return !["redirect", "wrong shape", "stopped"].includes(answer.why);
  return false;
}
