import { existsSync } from "node:fs";
import { basename } from "node:path";
import {
  addUp,
  type BatchStatus,
  rowStatuses,
  type Sum,
  totalOf,
} from "../../../batches/status.ts";
import { placeIn, readWord } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Card, card, field, text, time } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import { Failure, inOneLine, usage } from "../../../domain/failure.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { waitOptionsOf } from "../../wait-options.ts";
import { statusNames, sumText } from "./texts.ts";

export const batchArgument = argument.required(
  "batch",
  "File, ID or name of the batch, or @last",
  readWord,
  "batch",
);

/**
 * The batch with the rows of a file, with this ID or name, or among the newest.
 *
 * @param byLines whether the command line names rows by their lines in the file
 * @throws Failure `not-found` if there is none; `usage` for a file with other rows than the batch of its name,
 * and by lines for one that is not the planned file byte for byte
 */
export async function batchNamed(name: string, ledger: Ledger, byLines = false): Promise<Batch> {
  const place = placeIn(name);
  const found =
    place === undefined
      ? await batchOfName(name, ledger, byLines)
      : (await ledger.batches.list(place))[place - 1];
  if (found?.plan) return found;
  const message = `This account has no batch ${JSON.stringify(name)} in the ledger.`;
  const hint = "To list batches, run 'lenden payout batch list'.";
  throw new Failure("batch.not-found", message, { hint });
}

async function batchOfName(
  name: string,
  ledger: Ledger,
  byLines: boolean,
): Promise<Batch | undefined> {
  const { batches } = ledger;
  if (!existsSync(name)) return batches.find(name);
  const { hashOf } = await import("../../../batches/csv.ts");
  const hash = await hashOf(name);
  const own = await batches.newestOfFile(hash);
  if (own) return own;
  const { batchOfRows } = await import("../../../batches/plan.ts");
  const same = await batchOfRows({ path: name, hash, delimiter: "," }, ledger);
  if (same && byLines)
    throw usage(
      [`${name} has the rows of batch ${same.id}, but on other lines.`],
      `Use the batch ID, ${same.id}, and the lines of the file that was sent.`,
    );
  const other = await batches.find(basename(name));
  if (same || !other?.plan) return same;
  throw usage(
    [`${name} has changed since batch ${other.id} was created.`],
    `To see that batch, use its ID: ${other.id}. To see what differs, run 'lenden payout batch check'.`,
  );
}

/** The status of a batch, proved to add up to its plan. */
export async function readStatus(batch: Batch, { batches }: Ledger): Promise<BatchStatus> {
  const sums = addUp(batch, await batches.tally(batch));
  return { batch, total: totalOf(batch), sums, sentBefore: await batches.sentBefore(batch) };
}

/** As scripts get it: amounts in BDT, as text. */
export function statusJson({ batch, total, sums, sentBefore }: BatchStatus) {
  const { id, name, createdAt, cancelledAt } = batch;
  return {
    batch: id,
    name,
    createdAt,
    cancelledAt,
    ...sumJson(total),
    sentBefore: sumJson(sentBefore),
    states: Object.fromEntries(rowStatuses.map((one) => [one, sumJson(sums[one])])),
  };
}

export function sumJson({ count, sumPaisa }: Sum) {
  return { rows: count, total: amountText(sumPaisa) };
}

export function statusCard({ batch, total, sums, sentBefore }: BatchStatus): Card {
  const { id, name, createdAt, cancelledAt } = batch;
  const sumField = (key: string, label: string, sum: Sum) =>
    sum.count > 0 ? [field(key, label, text(sumText(sum)))] : [];
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Created", time(createdAt)),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "Total", text(sumText(total))),
    ...rowStatuses.flatMap((one) => sumField(one, statusNames[one], sums[one])),
    ...sumField("sentBefore", "Accepted before", sentBefore),
  ]);
}

/** The process that sends a batch now; the batch may have been read a while ago. */
export async function holderNow({ id }: Batch, { batches }: Ledger) {
  const now = await batches.find(id);
  return now && (await batches.holderOf(now));
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
  const world = await context.api.deps();
  let line = "Waiting";
  const progress = context.ui.progress(() => [line]);
  try {
    const unseen = await waitForBatch(batch, waitOptions, { ledger, world }, (open) => {
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
