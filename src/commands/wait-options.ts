import { flag, type Input } from "../cli/command/flag.ts";
import { readDuration } from "../cli/output/time.ts";
import type { Resource } from "../domain/statuses.ts";
import type { OperationDeps } from "../operations/deps.ts";
import type { RecordOf } from "../operations/status.ts";

/** The flags of the `wait` commands. */
export const waitOptionFlags = {
  waitTimeout: flag.optional(
    "--wait-timeout <duration>",
    "Maximum wait (default: 10m)",
    readDuration,
  ),
  interval: flag.optional(
    "--interval <duration>",
    "Pause between checks (default: 500ms, rising to 10s)",
    readDuration,
  ),
};

/** The flags of a command that can wait after creating something. */
export const waitFlags = {
  wait: flag.toggle("--wait", "Wait for status Completed or Cancelled"),
  waitTimeout: { ...waitOptionFlags.waitTimeout, onlyWith: "wait" },
  interval: { ...waitOptionFlags.interval, onlyWith: "wait" },
};

/** The exit codes of a wait, as help shows them. */
export const waitExits = {
  pending: "still Processing after --wait-timeout",
  cancelled: "the status is Cancelled",
};

const usualTimeoutMs = 10 * 60_000;

export function waitOptionsOf(given: Input<typeof waitOptionFlags>) {
  return { timeoutMs: given.waitTimeout ?? usualTimeoutMs, intervalMs: given.interval };
}

/** The ending of a wait: none for Completed, `cancelled`, or `pending` for any other status. */
export function endingOf({ status }: { status: string }): "cancelled" | "pending" | undefined {
  if (status === "Completed") return undefined;
  return status === "Cancelled" ? "cancelled" : "pending";
}

/** With --wait, the record once it is Completed or Cancelled. */
export async function recordAfter<Kind extends Resource, Created>(
  kind: Kind,
  id: string,
  created: Created,
  given: Input<typeof waitFlags>,
  deps: OperationDeps,
): Promise<{ record: Created | RecordOf[Kind]; waited: boolean }> {
  if (!given.wait) return { record: created, waited: false };
  const { waitForRecord } = await import("../operations/status.ts");
  const options = { ...waitOptionsOf(given), justMade: true };
  return { record: await waitForRecord(kind, id, options, deps), waited: true };
}

/** The ending of a command that waits only with --wait. A new record may be Cancelled right away. */
export function endingAfter(done: {
  waited: boolean;
  record: { status: string };
}): "cancelled" | "pending" | undefined {
  return done.waited || done.record.status === "Cancelled" ? endingOf(done.record) : undefined;
}
