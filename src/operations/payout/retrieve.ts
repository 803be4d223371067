import type { Data } from "../../api/contract/endpoint.ts";
import type { ServiceContract } from "../../api/contract/index.ts";
import type { Answer } from "../../api/response.ts";
import { Failure } from "../../domain/failure.ts";
import { newReference } from "../../domain/new-reference.ts";
import { inCommand } from "../../domain/text.ts";
import type { Operation } from "../../ledger/operation.ts";
import type { OperationDeps } from "../deps.ts";
import { confirmedUnseen, differingOutcome, recordShown } from "../known-record.ts";
import { describe, resolveHint, unread } from "../response-failure.ts";
import { compare, type PayoutOrder, uncertain } from "./order.ts";

type Unseen = Exclude<Answer, { kind: "data" }>;
export type Retrieved = Data<ServiceContract["retrievePayout"]>;

/** Limits of retrieving a record while the responses are for another reference. */
const readings = { most: 3, firstPauseMs: 500 };

/**
 * Retrieves the payout and compares all of it: an earlier payout of the same reference may have another
 * recipient, which the response to its creation does not show.
 *
 * @throws Failure `conflict` if it is another payout; `uncertain` if it cannot be compared, or if every
 * response was for another reference (P15b)
 */
export async function retrievePayout(
  order: PayoutOrder,
  payoutId: string,
  deps: OperationDeps,
  unseen: (answer: Unseen) => Failure = (answer) =>
    uncertain(
      order,
      `the API accepted it as ${payoutId}, but its recipient cannot be compared (${describe(answer)})`,
    ),
): Promise<Retrieved> {
  for (let reading = 1; ; reading += 1) {
    const answer = await deps.client.retrievePayout({ payoutId });
    if (answer.kind !== "data") throw unseen(answer);
    const { data } = answer;
    const pauseMs = readings.firstPauseMs * 2 ** (reading - 1);
    const isOver = deps.now() + pauseMs >= deps.deadlineMs || deps.isStopping();
    if (data.merchantRef === order.reference || reading >= readings.most || isOver) {
      const theirs = {
        payoutId: data.payoutId,
        amount: data.amount,
        reference: data.merchantRef,
        recipient: data.recipientNumber,
        currency: data.currency,
      };
      compare(order, theirs, deps.account);
      return data;
    }
    await deps.sleep(pauseMs);
  }
}

/** P5: sends nothing; gives the payout as it is now, or the failure that says how it ended. */
export async function knownPayout(
  order: PayoutOrder,
  operation: Operation,
  deps: OperationDeps,
): Promise<Retrieved> {
  const { state, remoteId } = operation;
  if (state !== "CONFIRMED" || remoteId === null) throw usedBefore(order, operation);
  const ledger = await deps.ledger();
  try {
    const payout = await retrievePayout(order, remoteId, deps, (answer) =>
      confirmedUnseen(order.reference, remoteId, unread(answer, remoteId)),
    );
    await recordShown(operation, payout, undefined, deps);
    return payout;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "conflict") throw error;
    await ledger.learn({ seen: operation, outcome: differingOutcome(error) });
    throw error;
  }
}

/** A reference whose payout was rejected or is in conflict cannot be used again. */
export function usedBefore({ reference }: PayoutOrder, operation: Operation): Failure {
  const { state, message } = operation;
  const isConflict = state === "CONFLICT";
  const next = newReference(reference);
  return new Failure(
    isConflict ? "payout.in-conflict" : "payout.reference-ended",
    `Reference ${reference} belongs to an earlier payout that ${isConflict ? "conflicts with the API's record" : "was rejected"}${message === null ? "" : `: ${message.replace(/\.$/, "")}`}.`,
    {
      hint: isConflict
        ? resolveHint(reference, "payout", operation)
        : `A reference cannot be used again. To send the payout again, use --ref ${inCommand(next)}.`,
      operation: reference,
    },
  );
}
