import { collect } from "../domain/collect.ts";
import type { BatchFilter } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type BatchStatus, openOf, readStatuses } from "./status.ts";

/** An open batch has rows that were not sent, or whose outcome is unknown. */
export const listStatuses = ["open", "ended", "cancelled"] as const;

/** The status of a batch in a list. */
export function listStatusOf({ batch, sums }: BatchStatus): (typeof listStatuses)[number] {
  if (batch.cancelledAt !== null) return "cancelled";
  return openOf(sums).count > 0 ? "open" : "ended";
}

interface Wanted {
  /** ISO 8601, inclusive. */
  since: string;
  until: string;
  status: (typeof listStatuses)[number] | undefined;
}

/** Some of them: what a page reads is in memory, and a server answers it in one round trip. */
const pageSize = 50;

/** The newest batches with the status of their rows. */
export async function* newestBatches(
  { since, until, status }: Wanted,
  most: number,
  ledger: Pick<Ledger, "batches">,
): AsyncGenerator<BatchStatus> {
  const filter = filterOf({ since, until, status });
  let below: bigint | undefined;
  for (let left = most; left > 0; ) {
    const size = Math.min(left, pageSize);
    const page = await ledger.batches.list(size, { ...filter, ...(below && { below }) });
    for (const one of await readStatuses(page, ledger)) {
      if (status !== undefined && listStatusOf(one) !== status) continue;
      yield one;
      left -= 1;
      if (left === 0) return;
    }
    if (page.length < size) return;
    below = page.at(-1)?.number;
  }
}

/** How many there are; more than `most` are not counted. */
export async function countBatches(
  wanted: Wanted,
  most: number,
  ledger: Pick<Ledger, "batches">,
): Promise<number> {
  const open = async () =>
    (await collect(newestBatches({ ...wanted, status: "open" }, most, ledger))).length;
  if (wanted.status === "open") return open();
  if (wanted.status !== "ended") return ledger.batches.count(filterOf(wanted), most);
  return (await ledger.batches.count(filterOf(wanted), Number.MAX_SAFE_INTEGER)) - (await open());
}

function filterOf({ since, until, status }: Wanted): BatchFilter {
  return {
    since,
    until,
    ...(status && { isCancelled: status === "cancelled" }),
    ...(status === "open" && { mayBeOpen: true }),
  };
}
