import { type SentAgain, sentAgain } from "../../../batches/retries.ts";
import { addUp, type Standings, type Sum, standings } from "../../../batches/status.ts";
import type { Batch, Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type Card, card, field, text, time } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import { formatPaisa } from "../../../domain/money.ts";

/** A batch with where its rows stand, proved to add up to its plan. */
export interface BatchStanding {
  batch: Batch;
  sums: Standings;
  /** What was sent, and begun before this batch was planned: by another batch, or by a single payout. */
  sentBefore: Sum;
}

export async function readStanding(batch: Batch, ledger: Ledger): Promise<BatchStanding> {
  const batches = ledger.batches;
  const sums = addUp(batch, await batches.tally(batch));
  return { batch, sums, sentBefore: await batches.sentBefore(batch) };
}

/** As scripts get it: amounts in taka, as text. */
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
  refused: "Refused",
  conflict: "Conflict",
  uncertain: "Uncertain",
  unsent: "Not sent",
};

export function standingCard({ batch, sums, sentBefore }: BatchStanding): Card {
  const { id, name, createdAt, cancelledAt, plan } = batch;
  return card("Batch", id, [
    field("batch", "Batch", text(id)),
    field("name", "Name", text(name)),
    field("createdAt", "Planned", time(createdAt)),
    ...(cancelledAt === null ? [] : [field("cancelledAt", "Batch cancelled", time(cancelledAt))]),
    field("total", "In all", text(rowsAnd(plan?.rowCount ?? 0, plan?.totalPaisa ?? 0n))),
    ...standings
      .filter((standing) => sums[standing].count > 0)
      .map((standing) =>
        field(
          standing,
          labels[standing],
          text(rowsAnd(sums[standing].count, sums[standing].sumPaisa)),
        ),
      ),
    ...(sentBefore.count > 0
      ? [
          field(
            "sentBefore",
            "Of these",
            text(
              `${rowsAnd(sentBefore.count, sentBefore.sumPaisa)}, were sent, and begun before this batch`,
            ),
          ),
        ]
      : []),
  ]);
}

/** How many rows of a batch were sent, and what became of the others. */
export function sentText({ batch, sums }: Pick<BatchStanding, "batch" | "sums">): string {
  const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
  const accepted = [sums.completed, sums.processing, sums.cancelled];
  const count = accepted.reduce((total, one) => total + one.count, 0);
  const sumPaisa = accepted.reduce((total, one) => total + one.sumPaisa, 0n);
  const others = [
    ["cancelled", sums.cancelled],
    ["rejected", sums.refused],
    ["in conflict", sums.conflict],
    ["outcome unknown", sums.uncertain],
    ["not sent", sums.unsent],
  ] as const;
  return `${[
    `${count} of ${rowsText(rowCount)} ${rowCount === 1 ? "was" : "were"} sent (${formatPaisa(sumPaisa)} of ${formatPaisa(totalPaisa)})`,
    ...others.filter(([, sum]) => sum.count > 0).map(([label, sum]) => `${label}: ${sum.count}`),
  ].join("; ")}.`;
}

/** What to do about rows that ended without the money arriving; undefined where there are none. */
export async function adviceOn(
  { batch, sums }: BatchStanding,
  ledger: Ledger,
): Promise<string | undefined> {
  const parts: string[] = [];
  const ended = sums.refused.count + sums.cancelled.count;
  if (ended > 0) {
    const again = await sentAgain(batch, ledger);
    parts.push(`${rowsOf(ended)} refused or cancelled.`, againText(again));
    if (again.sent.count + again.others.count + again.beside.count < ended)
      parts.push(
        `'lenden payout batch export ${batch.id} --only failed' writes a file to mend and send again.`,
      );
  }
  if (sums.conflict.count > 0)
    parts.push(
      `Of ${rowsText(sums.conflict.count)} the service has something else: look at what 'lenden payout batch export ${batch.id} --only conflict' shows in the dashboard, before anybody is paid again.`,
    );
  return parts.filter((part) => part !== "").join(" ") || undefined;
}

/** What came of rows by their new references, in sentences; empty where none went on. */
export function againText({ sent, others, beside }: SentAgain): string {
  const isSent = `Sent again by new references: ${rowsAnd(sent.count, sent.sumPaisa)}.`;
  const isOpen = `By new references, but not sent so far, in doubt or in conflict: ${rowsText(others.count)}; 'lenden ledger show ${others.first}' says more.`;
  const isBeside = `In the same file once more, by new references: ${rowsText(beside.count)}, as ${beside.first}.`;
  return [
    sent.count > 0 ? isSent : "",
    others.count > 0 ? isOpen : "",
    beside.count > 0 ? isBeside : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function rowsOf(count: number): string {
  return count === 1 ? "1 row was" : `${count} rows were`;
}

/** `3 rows, BDT 1,250.50`. */
export function rowsAnd(count: number, sumPaisa: bigint): string {
  return `${rowsText(count)}, ${formatPaisa(sumPaisa)}`;
}
