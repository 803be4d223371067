import type { Batch, PaidElsewhere } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Again } from "../ledger/others.ts";

const rowsShown = 20;

/** The rows of a plan that are still open, and that somebody else pays too since a day before it was made. */
export function paidElsewhere(batch: Batch, ledger: Ledger): PaidElsewhere {
  const since = aDayBefore(Date.parse(batch.createdAt));
  return ledger.batches().paidElsewhere(batch, { since, limit: rowsShown });
}

/** The rows of a plan that are still open, and that another API key left refused or in doubt. */
export function leftByOtherKeys(batch: Batch, ledger: Ledger): PaidElsewhere["first"] {
  return ledger.batches().leftByOtherKeys(batch, rowsShown);
}

/** Since when somebody who got the same amount counts, ISO 8601 (money-safety.md §4). */
export function aDayBefore(ms: number): string {
  return new Date(ms - 24 * 60 * 60_000).toISOString();
}

/** Whether others pay anything that was not shown: another row, or one of those once more. */
export function isMore(now: Again, shown: Again): boolean {
  if (now.mark === shown.mark) return false;
  const known = new Map(rowsOf(shown).map(([row, payouts]) => [row, Number(payouts)]));
  return rowsOf(now).some(([row, payouts]) => Number(payouts) > (known.get(row) ?? 0));
}

/** Each row, with how many payouts others make of it. */
function rowsOf({ count, mark }: Again): [row: string, payouts: string][] {
  if (count === 0) return [];
  return mark.split(",").map((one) => {
    const [row = "", payouts = ""] = one.split("x");
    return [row, payouts];
  });
}
