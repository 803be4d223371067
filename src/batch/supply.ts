import type { PlannedPayout } from "../ledger/batches/batch.ts";
import type { Claim } from "../ledger/claiming.ts";

/** A row whose reference was asked for. */
export interface ClaimedRow {
  row: PlannedPayout;
  claim: Claim;
}

/** Rows that are claimed ahead of their turn. */
export interface Supply {
  /** The next one, once it is claimed; undefined when there is none left. */
  next(): Promise<ClaimedRow | undefined>;
}

interface SupplyOptions {
  /** So many are claimed in one commit, for it costs more than what is in it. */
  pageSize: number;
  /** When so few are left the next page is claimed, so that nobody waits for it. */
  fewest: number;
  claim(page: PlannedPayout[]): Promise<Claim[]>;
  /** Whether no further ones are wanted; those that are claimed still are handed out. */
  isOver(): boolean;
}

/** After an error of the ledger it gives nothing any longer (I4). */
export function openSupply(
  rows: Iterator<PlannedPayout>,
  { pageSize, fewest, claim, isOver }: SupplyOptions,
): Supply {
  const ready: ClaimedRow[] = [];
  let isDry = false;
  let failed: { error: unknown } | undefined;
  let coming: Promise<void> | undefined;

  const claimPage = async (): Promise<void> => {
    try {
      const page = pageOf(rows, pageSize);
      isDry = page.length < pageSize;
      const claims = page.length === 0 ? [] : await claim(page);
      for (const [index, one] of claims.entries()) {
        const row = page[index];
        if (row) ready.push({ row, claim: one });
      }
    } catch (error) {
      failed = { error };
    }
  };
  const refill = (): Promise<void> | undefined => {
    if (isDry || isOver()) return coming;
    coming ??= claimPage().finally(() => {
      coming = undefined;
    });
    return coming;
  };

  return {
    next: async () => {
      if (ready.length <= fewest) void refill();
      while (ready.length === 0 && !failed) {
        const more = refill();
        if (!more) return undefined;
        await more;
      }
      if (failed) throw failed.error;
      return ready.shift();
    },
  };
}

function pageOf(rows: Iterator<PlannedPayout>, size: number): PlannedPayout[] {
  const page: PlannedPayout[] = [];
  while (page.length < size) {
    const next = rows.next();
    if (next.done) break;
    page.push(next.value);
  }
  return page;
}
