import type { Data } from "../../contract/endpoint.ts";
import type { ServiceContract } from "../../contract/index.ts";
import { Failure } from "../../failure.ts";
import type { Operation } from "../../ledger/operation.ts";
import { describe, unread } from "../outcome.ts";
import { outcomeOf } from "../recorded.ts";
import type { World } from "../world.ts";
import { newReference } from "./new-reference.ts";
import { compare, type PayoutOrder, uncertain } from "./order.ts";

export type Retrieved = Data<ServiceContract["retrievePayout"]>;

/**
 * Retrieves the payout and compares all of it: an old payout of the same reference may have gone
 * to somebody else, and the answer to its creation does not say so.
 *
 * @throws Failure `conflict` where it is another payout, `uncertain` where it cannot be compared
 */
export async function retrievePayout(
  order: PayoutOrder,
  payoutId: string,
  world: World,
): Promise<Retrieved> {
  const answer = await world.client.retrievePayout({ payoutId });
  if (answer.kind !== "data") {
    throw uncertain(
      order,
      `the service has it as ${payoutId}, but it could not be retrieved to compare the recipient (${describe(answer)})`,
    );
  }
  return comparedPayout(order, answer.data);
}

function comparedPayout(order: PayoutOrder, payout: Retrieved): Retrieved {
  const { payoutId, amount, merchantRef: reference, recipientNumber: recipient } = payout;
  compare("record", order, { payoutId, amount, reference, recipient });
  return payout;
}

/** A payout that the API confirmed earlier stays confirmed although it cannot be retrieved now. */
function confirmedUnseen({ reference }: PayoutOrder, payoutId: string, why: Failure): Failure {
  return new Failure(
    why.kind,
    `Payout ${reference} is confirmed (${payoutId}), but its status cannot be retrieved now. Nothing was sent. ${why.message}`,
    { ...why.details, operation: reference },
  );
}

/** P5: sends nothing; gives the payout as it is now, or the failure that says how it ended. */
export async function knownPayout(
  order: PayoutOrder,
  operation: Operation,
  world: World,
): Promise<Retrieved> {
  const { state, remoteId } = operation;
  if (state !== "CONFIRMED" || remoteId === null) throw usedBefore(order, operation);
  const ledger = await world.ledger();
  const answer = await world.client.retrievePayout({ payoutId: remoteId });
  if (answer.kind !== "data") throw confirmedUnseen(order, remoteId, unread(answer, remoteId));
  try {
    const payout = comparedPayout(order, answer.data);
    ledger.learn(operation, { state, status: payout.status });
    return payout;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "conflict") throw error;
    ledger.learn(operation, outcomeOf(error));
    throw error;
  }
}

/** A reference that came to an end without a payout stays used. */
export function usedBefore({ reference }: PayoutOrder, { state, message }: Operation): Failure {
  const isConflict = state === "CONFLICT";
  return new Failure(
    isConflict ? "conflict" : "refused",
    `Reference ${reference} was used before, and ended ${state}: ${message}`,
    {
      hint: isConflict
        ? "Nothing was sent. Look in the dashboard what the service has under it, before anybody is paid again."
        : `Nothing was sent. A reference is used once: look with 'lenden ledger show ${newReference(reference)}' whether it was paid by that since; if not, that is its next reference.`,
      operation: reference,
    },
  );
}
