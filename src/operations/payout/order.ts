import { amountNumber, type Paisa, paisaOf } from "../../domain/amount.ts";
import { Failure, type FailureDetails } from "../../domain/failure.ts";
import type { Operation } from "../../ledger/operation.ts";
import { compared, differingPayout, resendHint, type Theirs } from "../compare.ts";
import type { OperationDeps } from "../deps.ts";

/** A payout as it was decided; nothing in it changes between attempts. */
export interface PayoutOrder {
  amountPaisa: Paisa;
  reference: string;
  /** As it is sent. */
  recipientNumber: string;
  recipientName?: string | undefined;
  description?: string | undefined;
  paymentMethodId: string;
  /** As it was given, for the ledger alone. */
  methodName?: string | undefined;
}

/** The body of the request without the timestamp, which is set for each attempt. */
export function payoutBody(order: PayoutOrder) {
  const { amountPaisa, reference, recipientNumber, recipientName, description, paymentMethodId } =
    order;
  return {
    amount: amountNumber(amountPaisa),
    merchantRef: reference,
    recipientNumber,
    ...(recipientName === undefined ? {} : { recipientName }),
    ...(description === undefined ? {} : { description }),
    paymentMethodId,
  };
}

/** The order that a request of the ledger is. */
export function orderOf({ id, asked }: Pick<Operation, "id" | "asked">): PayoutOrder {
  const text = (name: string) => (typeof asked[name] === "string" ? asked[name] : undefined);
  const amountPaisa = typeof asked.amount === "number" ? paisaOf(asked.amount) : undefined;
  const [reference, recipientNumber] = [text("merchantRef"), text("recipientNumber")];
  const paymentMethodId = text("paymentMethodId");
  if (amountPaisa === undefined || !reference || !recipientNumber || !paymentMethodId)
    throw new TypeError(`payout ${id} of the ledger has no amount or no recipient`);
  return {
    amountPaisa,
    reference,
    recipientNumber,
    recipientName: text("recipientName"),
    description: text("description"),
    paymentMethodId,
  };
}

/**
 * Compares an order with what the API has under its reference (P15, P16).
 *
 * @throws Failure `conflict` if they differ; `uncertain` if the recipients cannot be compared, or if the
 * record has another reference, because it is then not the record of this payout (P15b)
 */
export function compare(
  order: PayoutOrder,
  { payoutId, reference, ...theirs }: Theirs & { payoutId: string; reference: string },
  account: OperationDeps["account"],
): void {
  const { amountPaisa, recipientNumber: recipient } = order;
  if (reference !== order.reference) {
    const why = `the API's record ${payoutId} is for reference ${reference || "none"}`;
    throw uncertain(order, why, { evidence: { otherId: payoutId } });
  }
  const { different, unclear } = compared({ amountPaisa, recipient }, theirs);
  if (different.length > 0) throw differingPayout(reference, payoutId, different, account);
  if (unclear.length > 0)
    throw uncertain(
      order,
      theirs.recipient
        ? `the API shows its recipient as ${theirs.recipient}, which cannot be compared with ${recipient}`
        : `the API's record ${payoutId} has no recipient to compare with ${recipient}`,
    );
}

/** The failure of a payout whose outcome is unknown (exit 75). */
export function uncertain(
  order: PayoutOrder,
  why: string,
  more: Pick<
    FailureDetails,
    "evidence" | "untried" | "neverLeft" | "status" | "hint" | "cause"
  > = {},
): Failure {
  const { reference } = order;
  const cause = why.replace(/\.$/, "");
  return new Failure("payout.outcome-unknown", `Cannot confirm payout ${reference}: ${cause}.`, {
    hint: resendHint(reference),
    operation: reference,
    ...more,
  });
}
