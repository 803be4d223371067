import { statusJson, sumJson } from "../../../batches/plain.ts";
import {
  type BatchStatus,
  readStatus,
  type StatusSums,
  type Sum,
} from "../../../batches/status.ts";
import { sumText } from "../../../batches/texts.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import type { Confirmation } from "../../../cli/terminal/confirm.ts";
import { formatTime } from "../../../domain/local-time.ts";
import type { Batch } from "../../../ledger/batch.ts";
import { batchArgument, batchFields, batchNamed, statusCard } from "./batch.ts";

export const batchCancel = defineCommand({
  description:
    "Accepted payouts are not cancelled, and unknown outcomes still have to be resolved. A new batch of the file ('lenden payout batch send --name <name>') pays all of its rows: first remove those that were accepted.",
  examples: { "Cancel a batch by its file": "lenden payout batch cancel payroll.csv --yes" },
  arguments: { batch: batchArgument },
  exitCodes: {
    refused: "every row was already sent; nothing changed",
  },
  async run({ batch: name }, context): Promise<BatchStatus> {
    const ledger = await context.ledger.own();
    const batch = await batchNamed(name, ledger);
    const { cancelledAt } = batch;
    if (cancelledAt !== null) {
      context.ui.notice(`Batch ${batch.id} was already cancelled on ${formatTime(cancelledAt)}.`);
      return readStatus(batch, ledger);
    }
    const { cancelBatch, unknownText } = await import("../../../batches/cancel.ts");
    const cancelled = await cancelBatch(batch, ledger, ({ total, sums }, isArriving) => {
      if (isArriving)
        context.ui.notice(
          `Batch ${batch.id} is from a ledger file whose move is not complete: rows that look unsent may be paid.`,
          "ledger.not-moved",
        );
      return context.ui.confirm(questionOf(batch, total, sums));
    });
    const { uncertain } = cancelled.sums;
    if (uncertain.count > 0) context.ui.notice(unknownText(uncertain), "batch.outcome-unknown");
    return cancelled;
  },
  output: (schema) => {
    const { z, count, amount, warnings } = schema;
    const released = z.strictObject({ rows: count, total: amount });
    return z.strictObject({ ...batchFields(schema), released, warnings });
  },
  json: (done) => ({ ...statusJson(done), released: sumJson(done.sums.unsent) }),
  view: statusCard,
});

function questionOf(
  { id, name }: Batch,
  total: Sum,
  { unsent, uncertain }: StatusSums,
): Confirmation {
  return {
    action: "Cancel a batch",
    rows: [
      ["Batch", `${id}, ${name}`],
      ["Total", sumText(total)],
      ["To be cancelled", sumText(unsent)],
      ["Outcome unknown", uncertain.count > 0 ? `${sumText(uncertain)}, not cancelled` : null],
    ],
    alwaysAsked: true,
  };
}
