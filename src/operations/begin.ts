import type { Paisa } from "../contract/amount.ts";
import { sameMobile } from "../contract/mobile.ts";
import type { Operation } from "../ledger/operation.ts";
import { isUnresolved } from "../state.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { checkRefund, isLive, type Repeat, retrieveCompleted } from "./refundable.ts";
import { sameAgain } from "./same-again.ts";
import type { World } from "./world.ts";

/**
 * The intents of payments and refunds, which the API does not make idempotent. The commands and raw calls
 * begin them here, so that both are checked in the same way.
 */

/** A payment that is still Processing counts as a duplicate for this long. */
const samePaymentMs = 10 * 60_000;

interface PaymentRequest {
  /** Null if a raw body has an amount that cannot be read. */
  amountPaisa: Paisa | null;
  /** The request's body, without what the API does not document. */
  asked: Record<string, unknown>;
}

interface RefundRequest extends PaymentRequest {
  amountPaisa: Paisa;
  /** The transaction ID of the payment. */
  payment: string;
}

/**
 * Records the intent of a payment.
 *
 * @throws Failure `refused` if the ledger has the same amount, description, method and payer, either
 * unresolved or still Processing after less than ten minutes, unless `again` is set; nothing was sent
 */
export async function beginPayment(
  { amountPaisa, asked }: PaymentRequest,
  { again }: Repeat,
  world: World,
): Promise<Operation> {
  const ledger = await world.ledger();
  const openSince = new Date(world.now() - samePaymentMs).toISOString();
  const isProduction = world.account.environment === "production";
  const isOpen = (one: Operation): boolean =>
    isUnresolved(one) ||
    (one.state === "CONFIRMED" &&
      one.status === "Processing" &&
      one.createdAt >= openSince &&
      // Every local sandbox is a world of its own, also if it has the port of an earlier one.
      (isProduction || ledger.isOwn(one)));
  const { description, paymentMethodId } = asked;
  const decisive = [amountPaisa ?? asked.amount, description, paymentMethodId];
  const intent = {
    kind: "payment" as const,
    reference: null,
    target: null,
    fingerprint: fingerprintOf(world, decisive.map(String)),
    amountPaisa,
    asked,
  };
  return ledger.begin(intent, (before) => {
    const same = before.find((one) => isSamePayment(one.asked, asked) && isOpen(one));
    if (same && !again) throw sameAgain("payment", same);
  });
}

/** The amount and the description are the same already: the ledger looked for these. */
function isSamePayment(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const [payer, otherPayer] = [one, other].map((asked) => asked.suggestedPayerNumber ?? "");
  const isSamePayer = sameMobile(String(payer), String(otherPayer)) === "same";
  return one.paymentMethodId === other.paymentMethodId && isSamePayer;
}

/**
 * Retrieves the payment, which must be Completed, and records the intent of a refund.
 *
 * @throws Failure `refused` if the refunds of the payment would exceed its amount, or if the same refund is in
 * the ledger and `again` is not set; nothing was sent
 */
export async function beginRefund(
  { amountPaisa, payment, asked }: RefundRequest,
  { again }: Repeat,
  world: World,
): Promise<Operation> {
  const { paidPaisa } = await retrieveCompleted(payment, world);
  const decisive = [amountPaisa, payment, asked.accountNumber, asked.accountType];
  const intent = {
    kind: "refund" as const,
    reference: null,
    target: payment,
    fingerprint: fingerprintOf(world, decisive.map(String)),
    amountPaisa,
    asked,
  };
  return (await world.ledger()).begin(intent, (before) => {
    const live = before.filter(isLive);
    checkRefund(payment, { paidPaisa, amountPaisa, live }, { again });
  });
}
