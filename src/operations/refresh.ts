import { hasEnded, type ServiceRecord } from "../api/contract/record.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import type { Operation } from "../ledger/operation.ts";
import type { World } from "./deps.ts";
import { unread } from "./outcome.ts";
import { outcomeOf } from "./record-outcome.ts";
import { askForRecord, conflictIn, resourceOf } from "./service-record.ts";

const atOnce = 8;
/** So many without an answer, one after the other: the service is not there. */
const mostInARow = 8;

/** What came of looking at many. */
export interface Refreshed {
  /** How many have not ended, as far as is known. */
  open: number;
  /** Why one could not be looked at. */
  unseen: Failure | undefined;
  /** A stop came in between: then not all were looked at. */
  isCutShort: boolean;
}

/**
 * Asks the service for the status of each, a few at a time, and writes down what changed: also that a
 * payout turned out to be somebody else's. One that cannot be looked at does not keep the others from it,
 * but a service that answers nothing, or gives no access, ends it.
 */
export async function refreshStatus(
  operations: AsyncIterable<Operation> | Operation[],
  world: World,
): Promise<Refreshed> {
  const left = each(operations);
  const refreshed: Refreshed = { open: 0, unseen: undefined, isCutShort: false };
  let silent = 0;
  let isBroken = false;
  const cutShort = (): void => {
    refreshed.isCutShort = true;
    if (world.isOutOfTime()) refreshed.unseen ??= outOfTime();
  };
  const look = async (operation: Operation): Promise<void> => {
    const id = operation.remoteId ?? "";
    const answer = await askForRecord(resourceOf(operation), id, world);
    if (answer.kind === "data") {
      silent = 0;
      if (await mayChange(operation, answer.data, world)) refreshed.open += 1;
      return;
    }
    refreshed.open += 1;
    // What a stop cut short says nothing about the service.
    if (world.isStopping()) return cutShort();
    const failure = unread(answer, id);
    silent = failure.kind === "unreachable" ? silent + 1 : 0;
    refreshed.unseen = worse(failure, refreshed.unseen);
    if (failure.kind === "access") isBroken = true;
  };
  const work = async (): Promise<void> => {
    for (let next = await left.next(); !next.done; next = await left.next()) {
      if (isBroken || silent >= mostInARow) return;
      if (world.isStopping()) return cutShort();
      await look(next.value);
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error) => {
      isBroken = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return refreshed;
}

/** Several workers share it: each operation goes to one of them. */
async function* each<Item>(items: AsyncIterable<Item> | Item[]): AsyncGenerator<Item> {
  yield* items;
}

function outOfTime(): Failure {
  return new Failure("unreachable", "The time of --timeout was over before all were looked at.", {
    hint: "What is shown may be old. Give it more time.",
  });
}

/** Of two reasons the one that says more of the service. */
function worse(one: Failure, other: Failure | undefined): Failure {
  const weight = ({ kind }: Failure) => ["unreachable", "access"].indexOf(kind);
  return other && weight(other) > weight(one) ? other : one;
}

/** Writes down what was seen, and says whether it may still change. */
async function mayChange(
  operation: Operation,
  record: ServiceRecord,
  world: World,
): Promise<boolean> {
  const ledger = await world.ledger();
  const conflict = conflictIn(operation, record);
  if (conflict?.kind === "uncertain") {
    world.notice(inOneLine(conflict));
    return true;
  }
  if (conflict) {
    await ledger.learn({ seen: operation, outcome: outcomeOf(conflict) });
    world.notice(inOneLine(conflict), "payout.record-differs");
    return false;
  }
  const { state, status: known } = operation;
  const { status } = record;
  if (status !== known) await ledger.learn({ seen: operation, outcome: { state, status } });
  return !hasEnded(record);
}

/** An id that the service does not know says nothing of the others: it is told, and no more. */
export function throwUnlessUnknown(unseen: Failure, { notice }: Pick<World, "notice">): void {
  if (unseen.kind !== "not-found") throw unseen;
  notice(inOneLine(unseen));
}
