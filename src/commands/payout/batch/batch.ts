import { existsSync } from "node:fs";
import { basename } from "node:path";
import { addUp, type Standings, type Sum, standings } from "../../../batches/status.ts";
import { placeIn, readWord } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Card, card, field, text, time } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import { Failure, usage } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { patienceOf } from "../../patience.ts";

export const batchArgument = argument.required(
  "batch",
  "The file, the batch's ID or name, or @last",
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
  throw new Failure(
    "batch.not-found",
    `The ledger has no batch ${JSON.stringify(name)} of this account.`,
    {
      hint: "To list them, run 'lenden payout batch list'; 'lenden payout batch send <file>' creates one.",
    },
  );
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
      [`${name} has the rows of batch ${same.id}, but its lines may be different.`],
      `Name the batch by its ID, ${same.id}, and its rows by their lines in the file that was sent first.`,
    );
  const other = await batches.find(basename(name));
  if (same || !other?.plan) return same;
  throw usage(
    [`The rows of ${name} are not those of batch ${other.id}, which has its name.`],
    `'lenden payout batch check' shows what differs. To see that batch, name it by its ID, ${other.id}.`,
  );
}

/** A batch with the status of its rows, proved to add up to its plan. */
export interface BatchStanding {
  batch: Batch;
  sums: Standings;
  /** Rows that were sent before this batch was planned: by another batch, or as a single payout. */
  sentBefore: Sum;
}

export async function readStanding(batch: Batch, { batches }: Ledger): Promise<BatchStanding> {
  const sums = addUp(batch, await batches.tally(batch));
  return { batch, sums, sentBefore: await batches.sentBefore(batch) };
}

/** What a batch can still send: rows that were not sent, and rows whose outcome is unknown. */
export function openOf({ unsent, uncertain }: Standings): Sum {
  return {
    count: unsent.count + uncertain.count,
    sumPaisa: unsent.sumPaisa + uncertain.sumPaisa,
  };
}

/** As scripts get it: amounts in BDT, as text. */
export function standingJson({ batch, sums, sentBefore }: BatchStanding) {
  const { id, name, createdAt, cancelledAt, plan } = batch;
  return {
    batch: id,
    name,
    createdAt,
    cancelledAt,
    rows: plan?.rowCount ?? 0,
    total: amountText(plan?.totalPaisa ?? 0n),
    sentBefore: sumJson(sentBefore),
    states: Object.fromEntries(standings.map((one) => [one, sumJson(sums[one])])),
  };
}

export function sumJson({ count, sumPaisa }: Sum) {
  return { rows: count, total: amountText(sumPaisa) };
}

const labels: Record<(typeof standings)[number], string> = {
  completed: "Completed",
  processing: "Processing",
  cancelled: "Cancelled",
  refused: "Rejected",
  conflict: "Conflict",
  uncertain: "Outcome unknown",
  unsent: "Not sent",
};

export function standingCard({ batch, sums, sentBefore }: BatchStanding): Card {
  const { id, name, createdAt, cancelledAt, plan } = batch;
  const total = { count: plan?.rowCount ?? 0, sumPaisa: plan?.totalPaisa ?? 0n };
  const parts = standings.filter((standing) => sums[standing].count > 0);
  const before = sentBefore.count > 0 ? [sentBefore] : [];
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Created", time(createdAt)),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "Total", text(sumText(total))),
    ...parts.map((one) => field(one, labels[one], text(sumText(sums[one])))),
    ...before.map((sum) => field("sentBefore", "Sent before", text(sumText(sum)))),
  ]);
}

/** `3 rows, BDT 1,250.50`. */
export function sumText({ count, sumPaisa }: Sum): string {
  return `${rowsText(count)}, ${formatPaisa(sumPaisa)}`;
}

/** The process that sends a batch now; the batch may have been read a while ago. */
export async function holderNow({ id }: Batch, { batches }: Ledger) {
  const now = await batches.find(id);
  return now && (await batches.holderOf(now));
}

export function inProgressText({ pid, machine }: { pid: number; machine: string }): string {
  return `Process ${pid} on ${machine} is sending it. Rows in flight count as unknown until it ends.`;
}

/**
 * Waits until all that was sent is Completed or Cancelled, with its progress on stderr.
 *
 * @returns why the last status check failed, if it did
 */
export async function waitWithProgress(
  batch: Batch,
  patience: ReturnType<typeof patienceOf>,
  ledger: Ledger,
  context: Context,
): Promise<Failure | undefined> {
  const { waitForBatch } = await import("../../../batches/wait.ts");
  let open: number | undefined;
  const line = () => (open === undefined ? "Waiting" : `Waiting for ${rowsText(open)}`);
  const progress = context.ui.progress(() => [line()]);
  try {
    return await waitForBatch({ batch, ledger }, patience, await context.api.deps(), (count) => {
      open = count;
    });
  } finally {
    progress.close();
  }
}
