import { Failure } from "../domain/failure.ts";
import { isTest, isUnsettled } from "../domain/state.ts";
import { hasValidSeal } from "../ledger/decide.ts";
import type { RecordedOrder } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { Sealer } from "../ledger/seal.ts";
import type { OperationDeps } from "./deps.ts";
import { notSealed, sentWithOtherKey } from "./payout/claim.ts";
import { assertResendable } from "./payout/unknown.ts";
import { lockedError } from "./record-outcome.ts";

/** What a run would do with payouts of unknown outcome, before it does. */
export interface Resends {
  sent: RecordedOrder[];
  /** Without a valid seal they are not sent (I11). */
  notSealed: RecordedOrder[];
  /** Why this run does not send the others, by their IDs: no one is asked about them, whatever changes meanwhile. */
  unsent: Map<string, Failure>;
}

const ordersPerRead = 500;

/** @param found the IDs of operations that are resolved without a request */
export async function readResends(
  all: Operation[],
  found: ReadonlySet<string>,
  deps: Pick<OperationDeps, "ledger" | "sealer" | "guarantees" | "now">,
): Promise<Resends> {
  const resends: Resends = { sent: [], notSealed: [], unsent: new Map() };
  const ledger = await deps.ledger();
  const payouts = all.filter(
    (one) => one.kind === "payout" && isUnsettled(one) && !isTest(one) && !found.has(one.id),
  );
  if (payouts.length === 0) return resends;
  const free: Operation[] = [];
  for (const one of payouts) {
    const by = one.holder && (await ledger.holderOf(one));
    const why = by
      ? lockedError(one.reference ?? one.id, by)
      : await unsendable(one, ledger.isOfThisKey(one), deps);
    if (why) resends.unsent.set(one.id, why);
    else free.push(one);
  }
  const sealer = free.length > 0 ? await sealerOrWhy(deps) : undefined;
  if (!sealer) return resends;
  if (sealer instanceof Failure) {
    for (const { id } of free) resends.unsent.set(id, sealer);
    return resends;
  }
  for (let from = 0; from < free.length; from += ordersPerRead) {
    const page = free.slice(from, from + ordersPerRead);
    for (const order of await ledger.ordersOf(page)) {
      const { payout } = order;
      const known = { ...payout, ...payout.trusted };
      const isSealed = hasValidSeal(payout, sealer);
      const why =
        (await unsendable(known, ledger.isOfThisKey(known), deps)) ??
        (isSealed ? undefined : await notSealed(payout, ledger));
      if (why) resends.unsent.set(payout.id, why);
      if (!why) resends.sent.push(order);
      else if (!isSealed) resends.notSealed.push(order);
    }
  }
  return resends;
}

/** Why a payout of unknown outcome is not sent again by this run, whoever confirms it (P25, P25b, P25c). */
async function unsendable(
  operation: Operation,
  isOfThisKey: boolean,
  deps: Pick<OperationDeps, "guarantees" | "now">,
): Promise<Failure | undefined> {
  if (!isOfThisKey) return sentWithOtherKey(operation);
  try {
    await assertResendable(operation, deps);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** Without the payout secret nothing is sent: the failure is that of each payout. */
async function sealerOrWhy({ sealer }: Pick<OperationDeps, "sealer">): Promise<Sealer | Failure> {
  try {
    return await sealer();
  } catch (error) {
    if (error instanceof Failure && error.kind === "access") return error;
    throw error;
  }
}
