import { Failure } from "../domain/failure.ts";
import { isTest, isUnsettled } from "../domain/state.ts";
import { hasValidSeal } from "../ledger/decide.ts";
import type { RecordedOrder } from "../ledger/ledger.ts";
import type { Holder, Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { isUnresendable } from "./payout/unknown.ts";

/** What a run would do with payouts of unknown outcome, before it does. */
export interface Resends {
  sent: RecordedOrder[];
  /** Without a valid seal they are not sent (I11). */
  notSealed: RecordedOrder[];
  /** Those that a process works on: what it leaves is not sent by this run, because no one was asked about it. */
  held: Map<string, Holder>;
}

const ordersPerRead = 500;

/** @param found the IDs of operations that are resolved without a request */
export async function readResends(
  all: Operation[],
  found: ReadonlySet<string>,
  deps: Pick<OperationDeps, "ledger" | "sealer" | "guarantees" | "now">,
): Promise<Resends> {
  const resends: Resends = { sent: [], notSealed: [], held: new Map() };
  const ledger = await deps.ledger();
  const payouts = all.filter(
    (one) => one.kind === "payout" && isUnsettled(one) && !isTest(one) && !found.has(one.id),
  );
  if (payouts.length === 0) return resends;
  const guarantees = await deps.guarantees();
  const free: Operation[] = [];
  for (const one of payouts) {
    const by = one.holder && (await ledger.holderOf(one));
    if (by) resends.held.set(one.id, by);
    const isSent = !isUnresendable(one.openedAt, guarantees, deps) && ledger.isOfThisKey(one);
    if (!by && isSent) free.push(one);
  }
  const sealer = free.length > 0 ? await sealerOrNone(deps) : undefined;
  if (!sealer) return resends;
  for (let from = 0; from < free.length; from += ordersPerRead) {
    const page = free.slice(from, from + ordersPerRead);
    for (const order of await ledger.ordersOf(page))
      resends[hasValidSeal(order.payout, sealer) ? "sent" : "notSealed"].push(order);
  }
  return resends;
}

/** Without the payout secret nothing is sent: the failure is that of each payout. */
async function sealerOrNone({ sealer }: Pick<OperationDeps, "sealer">) {
  try {
    return await sealer();
  } catch (error) {
    if (error instanceof Failure && error.kind === "access") return undefined;
    throw error;
  }
}
