import { flag } from "../cli/command/flag.ts";
import { readDuration } from "../cli/output/time.ts";

/** The flags of the `wait` commands. */
export const waitOptionFlags = {
  waitTimeout: flag.optional(
    "--wait-timeout <duration>",
    "Longest wait (default: 10m)",
    readDuration,
  ),
  interval: flag.optional(
    "--interval <duration>",
    "Time between checks (default: 500ms to 10s)",
    readDuration,
  ),
};

/** The flags of a command that can wait after creating something. */
export const waitFlags = {
  wait: flag.toggle("--wait", "Wait for Completed or Cancelled"),
  waitTimeout: { ...waitOptionFlags.waitTimeout, onlyWith: "wait" },
  interval: { ...waitOptionFlags.interval, onlyWith: "wait" },
};

/** The exit codes of a wait, as help shows them. */
export const waitExits = {
  pending: "still Processing when the wait timed out",
  cancelled: "the status is Cancelled",
};

const usualTimeoutMs = 10 * 60_000;

export function waitOptionsOf(given: {
  waitTimeout: number | undefined;
  interval: number | undefined;
}) {
  return { timeoutMs: given.waitTimeout ?? usualTimeoutMs, intervalMs: given.interval };
}

/** The ending of a wait: none for Completed, `cancelled`, or `pending` for any other status. */
export function endingOf({ status }: { status: string }): "cancelled" | "pending" | undefined {
  if (status === "Completed") return undefined;
  return status === "Cancelled" ? "cancelled" : "pending";
}

/** The ending of a command that waits only with --wait. */
export function endingAfter(done: {
  waited: boolean;
  record: { status: string };
}): "cancelled" | "pending" | undefined {
  return done.waited ? endingOf(done.record) : undefined;
}
