import type { ServiceRecord } from "../api/contract/record.ts";
import type { Answer } from "../api/response.ts";
import { Failure } from "../domain/failure.ts";
import { type Resource, resources } from "../domain/statuses.ts";
import type { Operation } from "../ledger/operation.ts";
import { compare, orderOf } from "../payouts/order.ts";
import { confirmedUnseen } from "../payouts/record.ts";
import type { World } from "./deps.ts";
import { dataOf } from "./outcome.ts";

/** @throws Failure `not-found` where the service does not know it, or that of no usable answer */
export async function retrieveRecord(
  resource: Resource,
  id: string,
  world: Pick<World, "client">,
): Promise<ServiceRecord> {
  return dataOf(await askForRecord(resource, id, world), id);
}

/** The same, with the answer as it came. */
export function askForRecord(
  resource: Resource,
  id: string,
  { client }: Pick<World, "client">,
): Promise<Answer<ServiceRecord>> {
  if (resource === "payment") return client.retrievePayment({ transactionId: id });
  if (resource === "refund") return client.retrieveRefund({ id });
  return client.retrievePayout({ payoutId: id });
}

/** The kind of record that an operation makes; a cancel and a trigger make none. */
export function resourceOf({ kind }: Pick<Operation, "kind">): Resource {
  const resource = resources.find((one) => one === kind);
  if (resource) return resource;
  throw new TypeError(`a ${kind} makes no record`);
}

/**
 * A payout of ours may turn out to be another one, for somebody else: the answer to its creation does
 * not name the recipient (P16). One that cannot be compared proves nothing. A record of another reference
 * is `uncertain`: it is not the record of this payout, and its status must not be stored (P15b).
 */
export function conflictIn(operation: Operation, record: ServiceRecord): Failure | undefined {
  if (operation.kind !== "payout") return undefined;
  const [payoutId, reference] = [operation.remoteId ?? "", record.merchantRef ?? ""];
  const order = orderOf(operation);
  if (reference !== order.reference) return ofOtherReference(order.reference, payoutId, reference);
  try {
    compare("record", order, {
      payoutId,
      amount: record.amount,
      reference,
      recipient: record.recipientNumber ?? "",
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.kind === "conflict" ? error : undefined;
  }
}

/** A payout that the API confirmed stays confirmed, whatever another record says. */
function ofOtherReference(reference: string, payoutId: string, other: string): Failure {
  const what = `The API's response is for reference ${other || "none"}.`;
  const why = new Failure("unreachable", what, { hint: "Run the same command again." });
  return confirmedUnseen(reference, payoutId, why);
}
