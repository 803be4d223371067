import type { ServiceRecord } from "../api/contract/record.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import type { Operation } from "../ledger/operation.ts";
import { comparedRecord } from "./compare.ts";
import type { World } from "./deps.ts";
import { remembered } from "./wait.ts";

/** A record that was retrieved this moment. */
export interface Retrieved {
  kind: Resource;
  id: string;
  record: ServiceRecord;
}

/**
 * When a record may have been created: from before the operation began, for two clocks may differ, to
 * after it was last sent. An earlier one is older, and a later one was made by somebody else.
 */
const creation = { earliestMs: -5 * 60_000, latestMs: 10 * 60_000 };

/**
 * Writes down what a retrieved record shows: the status of the operation that made it, moves that it
 * proves, and the one uncertain operation that it is the record of. Where it could be that of two,
 * neither is settled.
 *
 * @returns the operations that are no longer uncertain
 */
export async function settleProved(found: Retrieved, world: World): Promise<Operation[]> {
  const ledger = await world.ledger();
  const { kind, id, record } = found;
  const unsettled = await ledger.unsettled();
  const free: Operation[] = [];
  for (const one of unsettled) if (!(await ledger.holderOf(one))) free.push(one);
  const settled: Operation[] = [];
  for (const one of free.filter((other) => isMovedTo(other, found))) {
    const outcome = { state: "CONFIRMED", status: record.status } as const;
    const learned = await ledger.learn({ seen: one, outcome });
    if (learned.kind === "recorded") settled.push(one);
  }
  if (await ledger.ofRecord(kind, id)) {
    await remembered({ kind, id }, record, world).catch((error) => {
      if (!(error instanceof Failure)) throw error;
      world.notice(inOneLine(error), `${kind}.record-differs`);
    });
    return settled;
  }
  // Also one that another process is sending may be what it is the record of.
  const [own, another] = unsettled.filter((one) => one.kind === kind && isMadeBy(one, record));
  if (!own || another || (await ledger.find(id))) return settled;
  const outcome = { state: "CONFIRMED", remoteId: id, status: record.status } as const;
  const learned = await ledger.learn({ seen: own, outcome });
  return learned.kind === "recorded" ? [...settled, own] : settled;
}

/** Whether it is a cancel or a trigger of this record, and the record is where it was to go. */
function isMovedTo({ kind, target, asked }: Operation, found: Retrieved): boolean {
  const isMove = kind === "cancel" || kind === "trigger";
  const isOfIt = target === found.id && asked.resource === found.kind;
  return isMove && isOfIt && asked.target === found.record.status;
}

/**
 * No person says here that it is the one, so more must agree than in `ledger resolve`: a payment's
 * description, and the time of its creation.
 */
function isMadeBy(operation: Operation, record: ServiceRecord): boolean {
  const { kind, asked, createdAt, updatedAt } = operation;
  const { different, unclear } = comparedRecord(operation, record);
  if (different.length + unclear.length > 0) return false;
  if (kind === "payment" && record.description !== asked.description) return false;
  const madeAtMs = Date.parse(record.createdAt ?? "");
  return (
    madeAtMs - Date.parse(createdAt) >= creation.earliestMs &&
    madeAtMs - Date.parse(updatedAt) <= creation.latestMs
  );
}
