import type { Ledger } from "../ledger/ledger.ts";
import { type BatchStatus, openOf, readStatus } from "./status.ts";

/** An open batch has rows that were not sent, or whose outcome is unknown. */
export const listStatuses = ["open", "ended", "cancelled"] as const;

/** The status of a batch in a list. */
export function listStatusOf({ batch, sums }: BatchStatus): (typeof listStatuses)[number] {
  if (batch.cancelledAt !== null) return "cancelled";
  return openOf(sums).count > 0 ? "open" : "ended";
}

interface Wanted {
  /** ISO 8601, inclusive. */
  since: string;
  until: string;
  status: (typeof listStatuses)[number] | undefined;
}

/** The newest batches with the status of their rows. */
export async function* newestBatches(
  { since, until, status }: Wanted,
  most: number,
  ledger: Ledger,
): AsyncGenerator<BatchStatus> {
  let left = most;
  for (const batch of await ledger.batches.list(Number.MAX_SAFE_INTEGER)) {
    if (batch.createdAt < since || batch.createdAt > until) continue;
    const one = await readStatus(batch, ledger);
    if (status !== undefined && listStatusOf(one) !== status) continue;
    yield one;
    left -= 1;
    if (left === 0) return;
  }
}
