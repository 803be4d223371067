import { hasEnded } from "../contract/record.ts";
import type { Operation } from "../ledger/operation.ts";
import { dataOf } from "./outcome.ts";
import { askForRecord, resourceOf } from "./service-record.ts";
import { isFinal } from "./wait.ts";
import type { World } from "./world.ts";

const atOnce = 8;

/**
 * Asks the service for the status of each, a few at a time, and writes down what changed.
 *
 * @param looksAgain whether somebody comes back later: then no answer is no failure
 * @returns how many have not ended
 * @throws Failure of the first look that failed; those that are under way are not waited for
 */
export async function refreshStatus(
  operations: Iterable<Operation>,
  { looksAgain }: { looksAgain: boolean },
  world: World,
): Promise<number> {
  const ledger = await world.ledger();
  const left = operations[Symbol.iterator]();
  let open = 0;
  let isBroken = false;
  const work = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) {
      if (isBroken || world.isStopping()) return;
      const operation = next.value;
      const status = await statusOf(operation, looksAgain, world);
      if (status === undefined || !hasEnded({ status })) open += 1;
      if (status === undefined || status === operation.status) continue;
      await ledger.settle(operation, { state: operation.state, status }, { letGo: true });
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error) => {
      isBroken = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return open;
}

async function statusOf(
  operation: Operation,
  looksAgain: boolean,
  world: World,
): Promise<string | undefined> {
  const id = operation.remoteId ?? "";
  const answer = await askForRecord(resourceOf(operation), id, world);
  if (looksAgain && answer.kind !== "data" && !isFinal(answer)) return undefined;
  return dataOf(answer, id).status;
}
