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

/** A payment that can be paid back, and what this ledger leaves of it. */
export interface Refundable {
  payment: RetrievedPayment;
  paidPaisa: Paisa;
  leftPaisa: Paisa;
  /** What was paid back of it, or may have been. */
  live: Operation[];
}

/**
 * Looks at a payment before anybody is asked how much of it is to be paid back.
 *
 * @throws Failure `refused` if it is not Completed, or if nothing is left of it
 */
export async function refundable(transactionId: string, world: World): Promise<Refundable> {
  const { payment, paidPaisa } = await retrieveCompleted(transactionId, world);
  await remembered({ kind: "payment", id: transactionId }, payment, world);
  const live = (await (await world.ledger()).refundsOf(transactionId)).filter(isLiveRefund);
  const leftPaisa = paidPaisa - sumOf(live);
  if (leftPaisa > 0n) return { payment, paidPaisa, leftPaisa, live };
  throw new Failure(
    "refused",
    `All of payment ${transactionId} (${formatPaisa(paidPaisa)}) was refunded or may have been.`,
    {
      hint: whereItWent(live),
      operation: transactionId,
    },
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
      "unreachable",
      `The service's record of payment ${transactionId} makes no sense (${told}).`,
      {
        hint: "Nothing was sent.",
        operation: transactionId,
      },
    );
  }
  if (payment.status === "Completed") return { payment, paidPaisa };
  throw new Failure(
    "refused",
    `Payment ${transactionId} is ${payment.status}; only a Completed payment can be paid back.`,
    {
      hint: "Nothing was sent.",
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
  /** What this ledger has refunded of it, or may have. */
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
      ? `, and ${formatPaisa(refundedPaisa)} of it was refunded or may have been`
      : "";
  return new Failure(
    "refused",
    `Payment ${transactionId} was ${formatPaisa(paidPaisa)}${before}: ${formatPaisa(amountPaisa)} is too much.`,
    {
      hint: whereItWent(live),
      operation: transactionId,
    },
  );
}

/** By its id: of another API key of the merchant no list has it. */
function whereItWent(live: Operation[]): string {
  const last = live.at(-1);
  if (!last) return "Nothing was sent.";
  const look = last.remoteId ? `refund wait ${last.remoteId}` : `ledger show ${last.id}`;
  return `Nothing was sent. 'lenden refund list --refresh' shows what was paid back, and 'lenden ${look}' what became of the last of it.`;
}

function sumOf(operations: Operation[]): Paisa {
  return operations.reduce((sum, one) => sum + (one.amountPaisa ?? 0n), 0n);
}
