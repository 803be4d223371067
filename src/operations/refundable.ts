import { type Paisa, paisaOf } from "../contract/amount.ts";
import type { Data } from "../contract/endpoint.ts";
import type { ServiceContract } from "../contract/index.ts";
import { formatAmount, formatPaisa } from "../contract/money.ts";
import { Failure } from "../failure.ts";
import type { Operation } from "../ledger/operation.ts";
import { isUnresolved } from "../state.ts";
import { dataOf } from "./outcome.ts";
import { sameAgain } from "./same-again.ts";
import { remembered } from "./wait.ts";
import type { World } from "./world.ts";

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
  const live = (await world.ledger()).refundsOf(transactionId).filter(isLive);
  const leftPaisa = paidPaisa - sumOf(live);
  if (leftPaisa > 0n) return { payment, paidPaisa, leftPaisa, live };
  throw new Failure(
    "refused",
    `All of payment ${transactionId} (${formatPaisa(paidPaisa)}) is paid back or may be.`,
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
  /** What this ledger has paid back of it, or may have. */
  live: Operation[];
}

/** @throws Failure `refused` where more would be paid back than was paid, or the same once more */
export function checkRefund(transactionId: string, left: Left, { again }: Repeat): void {
  checkLeft(transactionId, left);
  const same = left.live.find((one) => one.amountPaisa === left.amountPaisa);
  if (same && !again) throw sameAgain("refund", same);
}

function checkLeft(transactionId: string, { paidPaisa, amountPaisa, live }: Left): void {
  const backPaisa = sumOf(live);
  if (backPaisa + amountPaisa <= paidPaisa) return;
  const before =
    backPaisa > 0n ? `, and ${formatPaisa(backPaisa)} of it is paid back or may be` : "";
  throw new Failure(
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

/** Whether a refund counts against what was paid: it was made, or it may have been. */
export function isLive(refund: Operation): boolean {
  return (isUnresolved(refund) || refund.state === "CONFIRMED") && refund.status !== "Cancelled";
}

function sumOf(operations: Operation[]): Paisa {
  return operations.reduce((sum, one) => sum + (one.amountPaisa ?? 0n), 0n);
}
