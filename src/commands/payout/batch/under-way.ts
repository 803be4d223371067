import type { Batch, Ledger } from "../../../frame/context.ts";

type Holder = NonNullable<ReturnType<typeof holderNow>>;

/** Who sends a batch at this moment: one that was read a while ago may have been let go of. */
export function holderNow({ id }: Batch, ledger: Ledger) {
  const now = ledger.batches().find(id);
  return now && ledger.batches().holderOf(now);
}

export function underWayText({ pid, machine }: Holder): string {
  return `Process ${pid} on ${machine} is sending it; what is under way counts as uncertain until it ends.`;
}
