import type { Context } from "../../../cli/command/context.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { Failure } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import {
  type BatchStanding,
  batchArgument,
  batchNamed,
  readStanding,
  standingCard,
  standingJson,
  sumJson,
  sumText,
} from "./batch.ts";

export const batchCancel = defineCommand({
  description:
    "Rows that were sent stay as they are, and rows with an unknown outcome remain to be resolved. A cancelled batch sends nothing more, and its rows no longer count as duplicates. To send the same file again, give the batch a new name with --name.",
  examples: [
    { comment: "By its file", command: "lenden payout batch cancel payroll.csv --yes" },
    { comment: "The newest batch", command: "lenden payout batch cancel @last --yes" },
  ],
  arguments: { batch: batchArgument },
  exitCodes: {
    refused: "rejected by the API or by a safety check; nothing changed",
    "not-found": "the API or the ledger does not know this ID",
  },
  async run({ batch: name }, context): Promise<BatchStanding> {
    const ledger = await context.ledger.own();
    const batch = await batchNamed(name, ledger);
    const { cancelledAt } = batch;
    if (cancelledAt !== null) {
      context.ui.notice(`Batch ${batch.id} was already cancelled on ${formatTime(cancelledAt)}.`);
      return readStanding(batch, ledger);
    }
    const cancelled = await cancelBatch(batch, ledger, context);
    const { count } = cancelled.sums.uncertain;
    if (count > 0) context.ui.notice(unknownText(count), "batch.outcome-unknown");
    return cancelled;
  },
  json: (done) => ({ ...standingJson(done), released: sumJson(done.sums.unsent) }),
  view: standingCard,
});

async function cancelBatch(
  planned: Batch,
  ledger: Ledger,
  context: Context,
): Promise<BatchStanding> {
  const { claimPlanned } = await import("../../../batches/plan.ts");
  const batch = await claimPlanned(planned, ledger);
  try {
    const { unsent, uncertain } = (await readStanding(batch, ledger)).sums;
    if (unsent.count === 0) throw nothingToCancel(batch, uncertain.count);
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    await context.ui.confirm({
      action: "Cancel a batch",
      rows: [
        ["Batch", `${batch.id}, ${batch.name}`],
        ["Total", sumText({ count: rowCount, sumPaisa: totalPaisa })],
        ["To be cancelled", sumText(unsent)],
        ...(uncertain.count > 0
          ? [["Outcome unknown", `${sumText(uncertain)}, not cancelled`] satisfies [string, string]]
          : []),
      ],
      alwaysAsked: true,
    });
    return readStanding(await ledger.batches.cancel(batch), ledger);
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

function nothingToCancel({ id }: Batch, unknown: number): Failure {
  const message = `Batch ${id} has no row to cancel: every row was sent before.`;
  const status = `'lenden payout batch status ${id}' shows the rows.`;
  const hint = unknown > 0 ? unknownText(unknown) : status;
  return new Failure("batch.nothing-to-cancel", message, { hint, operation: id });
}

function unknownText(count: number): string {
  return `The outcome of ${rowsText(count)} is unknown: money may have moved. Resolve ${count === 1 ? "it" : "them"} with 'lenden ledger resolve'.`;
}
