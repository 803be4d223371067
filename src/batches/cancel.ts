import { Failure } from "../domain/failure.ts";
import { rowsText } from "../domain/text.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { claimPlanned } from "./plan.ts";
import { type BatchStatus, recordedStatus, type Sum } from "./status.ts";

/**
 * Cancels the rows of a batch that were not sent.
 *
 * @param confirm asks the user, while no other process can send the batch; `isArriving` as that of a batch
 * @throws Failure `batch.nothing-to-cancel`; nothing changed
 */
export async function cancelBatch(
  planned: Batch,
  ledger: Ledger,
  confirm: (status: BatchStatus, isArriving: boolean) => Promise<void>,
): Promise<BatchStatus> {
  const batch = await claimPlanned(planned, "cancel", ledger);
  try {
    const status = await recordedStatus(batch, ledger);
    const { unsent, uncertain } = status.sums;
    if (unsent.count === 0) {
      const inspect = `To see the rows, run 'lenden payout batch status ${batch.id}'.`;
      throw new Failure(
        "batch.nothing-to-cancel",
        `Batch ${batch.id} has no row to cancel: all rows were sent.`,
        { hint: uncertain.count > 0 ? unknownText(uncertain) : inspect, operation: batch.id },
      );
    }
    await confirm(status, batch.isArriving ?? false);
    return await recordedStatus(await ledger.batches.cancel(batch), ledger);
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

export function unknownText({ count }: Sum): string {
  return `The outcome of ${rowsText(count)} is unknown: money may have moved. Run 'lenden ledger resolve'.`;
}
