import { amountText } from "../domain/amount.ts";
import { type BatchStatus, rowStatuses, type Sum } from "./status.ts";

/** As scripts get it: amounts in BDT, as text. */
export function sumJson({ count, sumPaisa }: Sum) {
  return { rows: count, total: amountText(sumPaisa) };
}

export function statusJson({ batch, total, sums, sentBefore }: BatchStatus) {
  const { id, name, user, login, createdAt, cancelledAt } = batch;
  return {
    batch: id,
    name,
    user,
    login,
    createdAt,
    cancelledAt,
    ...sumJson(total),
    sentBefore: sumJson(sentBefore),
    states: Object.fromEntries(rowStatuses.map((one) => [one, sumJson(sums[one])])),
  };
}

/** The status of a batch after a run, and what the run did. */
export function runJson(ended: BatchStatus & Record<"existing" | "sent", Sum>) {
  return {
    ...statusJson(ended),
    existing: sumJson(ended.existing),
    sent: sumJson(ended.sent),
  };
}
