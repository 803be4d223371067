import { type BatchStatus, readStatus, type Sum } from "../../../batches/status.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { rowsText } from "../../../cli/output/view.ts";
import { Failure } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { batchArgument, batchNamed, statusCard, statusJson, sumJson, sumText } from "./batch.ts";

export const batchCancel = defineCommand({
  description:
    "Accepted rows stay as they are, and unknown outcomes still have to be resolved. To send the file again, use --name.",
  examples: { "Cancel a batch by its file": "lenden payout batch cancel payroll.csv --yes" },
  arguments: { batch: batchArgument },
  exitCodes: {
    refused: "every row was already sent; nothing changed",
    conflict: "the file differs from its batch",
    locked: "another process is sending the batch",
  },
  async run({ batch: name }, context): Promise<BatchStatus> {
    const ledger = await context.ledger.own();
    const batch = await batchNamed(name, ledger);
    const { cancelledAt } = batch;
    if (cancelledAt !== null) {
      context.ui.notice(`Batch ${batch.id} was already cancelled on ${formatTime(cancelledAt)}.`);
      return readStatus(batch, ledger);
    }
    const cancelled = await cancelBatch(batch, ledger, context);
    const { uncertain } = cancelled.sums;
    if (uncertain.count > 0) context.ui.notice(unknownText(uncertain), "batch.outcome-unknown");
    return cancelled;
  },
  json: (done) => ({ ...statusJson(done), released: sumJson(done.sums.unsent) }),
  view: statusCard,
});

async function cancelBatch(planned: Batch, ledger: Ledger, context: Context): Promise<BatchStatus> {
  const { claimPlanned } = await import("../../../batches/plan.ts");
  const batch = await claimPlanned(planned, ledger);
  try {
    const { sums, total } = await readStatus(batch, ledger);
    const { unsent, uncertain } = sums;
    if (unsent.count === 0) {
      const inspect = `To see the rows, run 'lenden payout batch status ${batch.id}'.`;
      throw new Failure(
        "batch.nothing-to-cancel",
        `Batch ${batch.id} has no row to cancel: all rows were sent.`,
        { hint: uncertain.count > 0 ? unknownText(uncertain) : inspect, operation: batch.id },
      );
    }
    await context.ui.confirm({
      action: "Cancel a batch",
      rows: [
        ["Batch", `${batch.id}, ${batch.name}`],
        ["Total", sumText(total)],
        ["To be cancelled", sumText(unsent)],
        ["Outcome unknown", uncertain.count > 0 ? `${sumText(uncertain)}, not cancelled` : null],
      ],
      alwaysAsked: true,
    });
    return readStatus(await ledger.batches.cancel(batch), ledger);
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

function unknownText({ count }: Sum): string {
  return `${rowsText(count)} with an unknown outcome: money may have moved. Run 'lenden ledger resolve'.`;
}
