import type { Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { formatDay } from "../../../domain/local-time.ts";
import type { BatchStanding } from "./standing-card.ts";

/** The first line about a file that has no row left to send. */
export async function alreadySentText(
  file: string,
  { batch, sums }: BatchStanding,
  ledger: Ledger,
): Promise<string> {
  const { rowCount = 0 } = batch.plan ?? {};
  const conflicts = sums.conflict.count;
  const failed = sums.refused.count + sums.cancelled.count;
  const when = daysOf(await ledger.batches.sentBetween(batch));
  const but = failed > 0 ? `, but ${failed} ${wasOrWere(failed)} rejected or cancelled` : "";
  if (conflicts === 0) {
    const rows = rowCount === 1 ? `The row of ${file} was` : `All ${rowCount} rows of ${file} were`;
    return `${rows} already sent${when}${but}. Nothing was sent.`;
  }
  const sent = rowCount - conflicts;
  const others = sent > 0 ? ` ${rowsText(sent)} ${wasOrWere(sent)} already sent${when}${but}.` : "";
  const conflict = `${rowsText(conflicts)} ${conflicts === 1 ? "conflicts" : "conflict"} with another payout.`;
  return `No row of ${file} is left to send.${others} ${conflict} Nothing was sent.`;
}

function daysOf(times: { first: string; last: string } | undefined): string {
  if (!times) return "";
  const [first, last] = [formatDay(times.first), formatDay(times.last)];
  return first === last ? ` on ${first}` : ` between ${first} and ${last}`;
}

function wasOrWere(count: number): string {
  return count === 1 ? "was" : "were";
}
