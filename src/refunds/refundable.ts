import type { Data } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import { decideRefund, isLiveRefund } from "../ledger/decide.ts";
import type { Operation } from "../ledger/operation.ts";
import type { World } from "../operations/deps.ts";
import { dataOf } from "../operations/outcome.ts";
import { sameAgain } from "../operations/same-again.ts";
import { remembered } from "../operations/wait.ts";

type RetrievedPayment = Data<ServiceContract["retrievePayment"]>;

/** A payment that can be refunded, and the amount that can still be refunded. */
export interface Refundable {
  payment: RetrievedPayment;
  paidPaisa: Paisa;
  leftPaisa: Paisa;
  /** Its refunds that were created, or may have been. */
  live: Operation[];
}

/**
 * Retrieves a payment before a dialog asks for the amount of its refund.
 *
 * @throws Failure `refused` if it is not Completed, or if nothing is left of it
 */
export async function refundable(transactionId: string, world: World): Promise<Refundable> {
  const { payment, paidPaisa } = await retrieveCompleted(transactionId, world);
  await remembered({ kind: "payment", id: transactionId }, payment, world);
  const live = (await (await world.ledger()).refundsOf(transactionId)).filter(isLiveRefund);
  const leftPaisa = paidPaisa - sumOf(live);
  if (leftPaisa > 0n) return { payment, paidPaisa, leftPaisa, live };
  const hint = refundsHint(live);
  throw new Failure(
    "refund.already-refunded",
    `Payment ${transactionId} (${formatPaisa(paidPaisa)}) was refunded completely, or may have been.`,
    { ...(hint ? { hint } : {}), operation: transactionId },
  );
}

/** Retrieves the payment, which must be Completed. */
export async function retrieveCompleted(
  transactionId: string,
  world: World,
): Promise<{ payment: RetrievedPayment; paidPaisa: Paisa }> {
  const payment = dataOf(await world.client.retrievePayment({ transactionId }), transactionId);
  const paidPaisa = paisaOf(payment.amount);
  if (paidPaisa === undefined || payment.transactionId !== transactionId) {
    const told = `${payment.transactionId}, ${formatAmount(payment.amount)}`;
    throw new Failure(
      "refund.invalid-payment",
      `Cannot refund payment ${transactionId}: the API's record of it is invalid (${told}).`,
      { operation: transactionId },
    );
  }
  if (payment.status === "Completed") return { payment, paidPaisa };
  throw new Failure(
    "refund.payment-not-completed",
    `Cannot refund payment ${transactionId}: its status is ${payment.status}.`,
    {
      ...(payment.status === "Processing"
        ? { hint: `Wait for it with 'lenden pay wait ${transactionId}', then retry.` }
        : {}),
      operation: transactionId,
    },
  );
}

/** Lets the same payment or refund be sent although the ledger has one like it. */
export interface Repeat {
  again: boolean;
}

interface Left {
  paidPaisa: Paisa;
  amountPaisa: Paisa;
  /** Its refunds that were created, or may have been. */
  live: Operation[];
}

/** @throws Failure `refused` if the refunds would exceed the payment, or if the same refund was created */
export function checkRefund(
  transactionId: string,
  { paidPaisa, amountPaisa, live }: Left,
  { again }: Repeat,
): void {
  const intent = { amountPaisa, target: transactionId };
  const decision = decideRefund(
    { intent, paidPaisa, onDuplicate: again ? "send" : "reject" },
    live,
  );
  if (!("kind" in decision)) return;
  if (decision.kind === "duplicate") throw sameAgain("refund", decision.earlier);
  const { refundablePaisa } = decision;
  throw overLimit(transactionId, { paidPaisa, amountPaisa, refundablePaisa }, live);
}

interface Amounts {
  paidPaisa: Paisa;
  amountPaisa: Paisa;
  refundablePaisa: Paisa;
}

/** The failure of a refund that exceeds what is left of its payment. */
export function overLimit(
  transactionId: string,
  { paidPaisa, amountPaisa, refundablePaisa }: Amounts,
  live: Operation[],
): Failure {
  const refundedPaisa = paidPaisa - refundablePaisa;
  const before =
    refundedPaisa > 0n
      ? `, of which ${formatPaisa(refundedPaisa)} was refunded or may have been`
      : "";
  const hint = refundsHint(live);
  return new Failure(
    "refund.amount-too-large",
    `Cannot refund ${formatPaisa(amountPaisa)} of payment ${transactionId}: it was ${formatPaisa(paidPaisa)}${before}.`,
    { ...(hint ? { hint } : {}), operation: transactionId },
  );
}

/** Names the newest refund by its ID, because lists do not have the refunds of other accounts. */
function refundsHint(live: Operation[]): string | undefined {
  const last = live.at(-1);
  if (!last) return undefined;
  const show = last.remoteId ? `refund wait ${last.remoteId}` : `ledger show ${last.id}`;
  return `To list its refunds, run 'lenden refund list --refresh'. To see the newest one, run 'lenden ${show}'.`;
}

function sumOf(operations: Operation[]): Paisa {
  return operations.reduce((sum, one) => sum + (one.amountPaisa ?? 0n), 0n);
}
