import { flag } from "../cli/command/flag.ts";
import { readDuration } from "../cli/output/time.ts";
import type { FailureKind } from "../domain/failure.ts";

/** The flags of the `wait` commands. */
export const patienceFlags = {
  waitTimeout: flag.optional(
    "--wait-timeout <duration>",
    "Wait at most this long (default: 10m)",
    readDuration,
  ),
  interval: flag.optional(
    "--interval <duration>",
    "Time between requests (default: grows from 0.5s to 10s)",
    readDuration,
  ),
};

/** The flags of a command that can wait after creating something. */
export const waitFlags = {
  wait: flag.toggle("--wait", "Wait until the status is Completed or Cancelled"),
  waitTimeout: { ...patienceFlags.waitTimeout, onlyWith: "wait" },
  interval: { ...patienceFlags.interval, onlyWith: "wait" },
};

export const waitExits: FailureKind[] = [
  "access",
  "pending",
  "not-found",
  "cancelled",
  "unreachable",
];

const usualTimeoutMs = 10 * 60_000;

export function patienceOf(given: {
  waitTimeout: number | undefined;
  interval: number | undefined;
}) {
  return { timeoutMs: given.waitTimeout ?? usualTimeoutMs, intervalMs: given.interval };
}

/** How a wait ended: 0 Completed, 10 Cancelled, 8 anything else. */
export function endingOf({ status }: { status: string }): FailureKind | undefined {
  if (status === "Completed") return undefined;
  return status === "Cancelled" ? "cancelled" : "pending";
}

/** How a command ended that waits only with --wait. */
export function endingAfter(done: {
  waited: boolean;
  record: { status: string };
}): FailureKind | undefined {
  return done.waited ? endingOf(done.record) : undefined;
}
