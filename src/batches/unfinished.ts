import { isTest } from "../domain/state.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { rowStatusOf } from "./status.ts";

/** The newest batches; older ones that are still open are rare. */
const mostBatches = 1_000;

/**
 * What an account still has to send: its payouts of unknown outcome, by reference, and its batches with rows that
 * were not sent or whose outcome is unknown.
 */
export async function unfinishedIn(ledger: Ledger) {
  const unknown = await ledger.unsettled();
  const payouts = unknown
    .filter((one) => one.kind === "payout" && !isTest(one))
    .map(({ reference, id }) => reference ?? id);
  const batches: string[] = [];
  const wanted = { isCancelled: false, mayBeOpen: true };
  for (const batch of await ledger.batches.list(mostBatches, wanted))
    if (await isOpen(batch, ledger)) batches.push(`${batch.id} (${batch.name})`);
  return { payouts, batches };
}

async function isOpen(batch: Batch, { batches }: Ledger): Promise<boolean> {
  const statuses = (await batches.tally(batch)).map(rowStatusOf);
  return statuses.some((status) => status === "unsent" || status === "uncertain");
}
