import type { Paisa } from "../domain/amount.ts";
import type { Intent, Operation } from "../ledger/operation.ts";
import { overLimit, type Repeat, retrieveCompleted } from "../refunds/refundable.ts";
import type { World } from "./deps.ts";
import { sameAgain } from "./same-again.ts";

/**
 * The intents of payments and refunds, which the API does not make idempotent. The commands and raw calls
 * begin them here, so that both are checked in the same way.
 */

interface PaymentRequest {
  /** Null if a raw body has an amount that cannot be read. */
  amountPaisa: Paisa | null;
  /** The request's body, without what the API does not document. */
  asked: Record<string, unknown>;
  /** The method as it was given. */
  methodName?: string | undefined;
}

interface RefundRequest extends Pick<PaymentRequest, "asked"> {
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
export function beginPayment(
  { amountPaisa, asked, methodName }: PaymentRequest,
  { again }: Repeat,
  world: World,
): Promise<Operation> {
  const what = { kind: "payment", reference: null, target: null } as const;
  const intent = { ...what, amountPaisa, asked, methodName: methodName ?? null };
  return begin(intent, { again }, world);
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
  const intent = { kind: "refund", reference: null, target: payment, amountPaisa, asked } as const;
  return begin(intent, { again, paidPaisa }, world);
}

async function begin(
  intent: Intent & { kind: "payment" | "refund" },
  { again, paidPaisa = 0n }: Repeat & { paidPaisa?: Paisa },
  world: World,
): Promise<Operation> {
  const ledger = await world.ledger();
  const claim = await ledger.claim({ intent, onDuplicate: again ? "send" : "reject", paidPaisa });
  if (claim.kind === "new") return claim.operation;
  if (claim.kind === "duplicate") throw sameAgain(intent.kind, claim.earlier);
  if (claim.kind !== "over-limit") throw new Error(`a ${intent.kind} cannot be ${claim.kind}`);
  const { live, refundablePaisa } = claim;
  const amounts = { paidPaisa, amountPaisa: intent.amountPaisa ?? 0n, refundablePaisa };
  throw overLimit(intent.target ?? "", amounts, live);
}
