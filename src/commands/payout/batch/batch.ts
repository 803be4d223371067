import { type BatchStatus, rowStatuses, type Sum } from "../../../batches/status.ts";
import { existedText, statusNames, sumText } from "../../../batches/texts.ts";
import { readText } from "../../../cli/command/common-flags.ts";
import type { Context, Schemas } from "../../../cli/command/define-command.ts";
import { argument } from "../../../cli/command/flag.ts";
import { type Card, card, field, text, time } from "../../../cli/output/view.ts";
import { type Failure, inOneLine } from "../../../domain/failure.ts";
import { personText, workerText } from "../../../domain/person.ts";
import { rowsText } from "../../../domain/text.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { waitOptionsOf } from "../../wait-options.ts";

export const batchArgument = argument.required(
  "batch",
  "File, ID or name of the batch, or @last",
  readText,
  "batch",
);

/** As in `batches/lookup.ts`, which is loaded when a batch is named. */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const lookup = await import("../../../batches/lookup.ts");
  return lookup.batchNamed(name, ledger, byLines);
}

/** Says that a process sends the batch now. @returns true if one does */
export async function noteInProgress(batch: Batch, ledger: Ledger, { ui }: Context) {
  const by = await ledger.batches.holderOf(batch);
  if (by)
    ui.notice(
      `Another process is sending this batch: ${workerText(by)}. Rows in flight count as unknown.`,
      "batch.in-progress",
    );
  return by !== undefined;
}

/**
 * Waits until every accepted row is Completed or Cancelled, with progress on stderr.
 *
 * @returns why the last status check failed, if it did
 */
export async function waitWithProgress(
  batch: Batch,
  waitOptions: ReturnType<typeof waitOptionsOf>,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { waitForBatch } = await import("../../../batches/wait.ts");
  const deps = await context.api.deps();
  let line = "Waiting";
  const progress = context.ui.progress(() => ({ parts: [line] }));
  try {
    const unseen = await waitForBatch(batch, waitOptions, ledger, deps, (open) => {
      line = `Waiting for ${rowsText(open)}`;
    });
    warnOfUnchecked(unseen, context);
    return unseen;
  } finally {
    progress.close();
  }
}

export function warnOfUnchecked(unseen: Failure | undefined, { ui }: Context): void {
  if (unseen)
    ui.notice(`Not all statuses were retrieved. ${inOneLine(unseen)}`, "batch.not-all-checked");
}

export function statusCard({ batch, total, sums, sentBefore }: BatchStatus): Card {
  const { id, name, user, login, createdAt, cancelledAt } = batch;
  const sumField = (key: string, label: string, sum: Sum) =>
    sum.count > 0 ? [field(key, label, text(sumText(sum)))] : [];
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Created", time(createdAt)),
    field("login", "Created by", text(personText(user, login))),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "Total", text(sumText(total))),
    ...rowStatuses.flatMap((one) => sumField(one, statusNames[one], sums[one])),
    ...(sentBefore.count > 0
      ? [field("sentBefore", "Already existed", text(existedText(sentBefore, total)))]
      : []),
  ]);
}

/** The fields of a batch. */
export function batchFields({ z, text, textOrNull, count, amount, each }: Schemas) {
  const sum = z.strictObject({ rows: count, total: amount });
  return {
    ...each(text, "batch name user login createdAt"),
    cancelledAt: textOrNull,
    rows: count,
    total: amount,
    sentBefore: sum,
    states: z.strictObject(
      each(sum, "completed processing cancelled refused conflict uncertain unsent"),
    ),
  };
}
