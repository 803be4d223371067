import type { Batch, Ledger } from "../../../cli/command/context.ts";

type Holder = NonNullable<Awaited<ReturnType<typeof holderNow>>>;

/** The process that sends a batch now; the batch may have been read a while ago. */
export async function holderNow({ id }: Batch, ledger: Ledger) {
  const now = await ledger.batches.find(id);
  return now && (await ledger.batches.holderOf(now));
}

export function underWayText({ pid, machine }: Holder): string {
  return `Process ${pid} on ${machine} is sending it; what is under way counts as uncertain until it ends.`;
}
