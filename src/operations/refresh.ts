import type { Operation } from "../ledger/operation.ts";
import { dataOf } from "./outcome.ts";
import type { World } from "./world.ts";

const atOnce = 4;

/** Asks the service for the status of each, a few at a time, and writes down what it says. */
export async function refreshStatus(operations: Operation[], world: World): Promise<void> {
  const ledger = await world.ledger();
  const left = [...operations];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next && !world.isStopping(); next = left.shift()) {
      const status = await statusOf(next, world);
      await ledger.settle(next, { state: next.state, status }, { letGo: true });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function statusOf({ kind, remoteId }: Operation, { client }: World): Promise<string> {
  const id = remoteId ?? "";
  if (kind === "payment")
    return dataOf(await client.retrievePayment({ transactionId: id }), id).status;
  if (kind === "refund") return dataOf(await client.retrieveRefund({ id }), id).status;
  return dataOf(await client.retrievePayout({ payoutId: id }), id).status;
}
