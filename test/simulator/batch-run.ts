import { claimBatch, planBatch, resumeBatch } from "../../src/batch/claim.ts";
import { addUp, endingOf, type Standings } from "../../src/batch/standing.ts";
import { sendBatch } from "../../src/batches/send.ts";
import { Failure } from "../../src/failure.ts";
import type { Batch } from "../../src/ledger/batches/batch.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { payoutFingerprint } from "../../src/operations/payout/claim.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import type { World } from "../../src/operations/world.ts";
import type { Place, Ran } from "./commands.ts";
import { Tool } from "./tool.ts";

const file = {
  name: "payroll.csv",
  fileName: "payroll.csv",
  hash: "ab".repeat(32),
  columns: ["ref"],
  method: null,
};

/** One process that sends the batch, from reading the file to its exit code. */
export async function sendsBatch(
  orders: PayoutOrder[],
  concurrency: number,
  { universe, network }: Place,
): Promise<Ran<Standings>> {
  const tool = new Tool(universe, "batch", { isBatch: true });
  const ended = await tool.run(
    (request, one) => network.exchange(request, one),
    async (world) => {
      const ledger = await tool.ledger();
      const batch = planOf(orders, ledger, world, () => universe.disk.forgetDraft());
      const sending = { batch, ledger, concurrency, perSecond: undefined, onRow: () => {} };
      const reason = await sendBatch(sending, world);
      const sums = addUp(batch, ledger.batches().tally(batch));
      const kind = endingOf(sums, { stoppedBy: reason?.kind });
      if (kind) throw new Failure(kind, reason?.message ?? `ended ${kind}`);
      return sums;
    },
  );
  return { tool, ended, startedMs: tool.startedMs };
}

function planOf(orders: PayoutOrder[], ledger: Ledger, world: World, forget: () => void): Batch {
  const known = ledger.batches().ofFile(file.hash);
  if (known?.plan) return resumeBatch(known, undefined, ledger);
  try {
    const draft = ledger.batches().draft();
    for (const [index, order] of orders.entries()) draft.add(rowOf(index, order, world));
    draft.finish({ since: "9999", places: { ref: 1, to: 2 } });
    const batch = claimBatch(file, draft, ledger);
    return planBatch(batch, draft, ledger, { count: 0, sumPaisa: 0n, mark: "" });
  } finally {
    forget();
  }
}

function rowOf(index: number, order: PayoutOrder, world: World) {
  const { reference, amountPaisa, recipientNumber: recipient, paymentMethodId: methodId } = order;
  const cells = { method: methodId, name: null, description: null, cells: [reference] };
  const fingerprint = payoutFingerprint(order, world);
  return {
    ...{
      row: index + 1,
      line: index + 2,
      reference,
      amountPaisa,
      recipient,
      methodId,
      fingerprint,
    },
    ...cells,
  };
}
