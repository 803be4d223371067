import { amountNumber, type Paisa, paisaOf } from "../../contract/amount.ts";
import { Failure, type FailureDetails } from "../../failure.ts";
import type { Operation } from "../../ledger/operation.ts";
import { compared, type Theirs } from "../compared.ts";

/** A payout as it was decided; nothing in it changes between attempts. */
export interface PayoutOrder {
  amountPaisa: Paisa;
  reference: string;
  /** As it goes on the wire. */
  recipientNumber: string;
  recipientName?: string | undefined;
  description?: string | undefined;
  paymentMethodId: string;
}

/** The body of the request, but for the timestamp, which each attempt gets anew. */
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

/** The order that a request's body asks for; undefined where it lacks what decides who gets how much. */
export function orderIn(body: Record<string, unknown>): PayoutOrder | undefined {
  const text = (name: string) => (typeof body[name] === "string" ? body[name] : undefined);
  const amountPaisa = typeof body.amount === "number" ? paisaOf(body.amount) : undefined;
  const [reference, recipientNumber] = [text("merchantRef"), text("recipientNumber")];
  const paymentMethodId = text("paymentMethodId");
  if (amountPaisa === undefined || !reference || !recipientNumber || !paymentMethodId)
    return undefined;
  return {
    amountPaisa,
    reference,
    recipientNumber,
    recipientName: text("recipientName"),
    description: text("description"),
    paymentMethodId,
  };
}

/** The order of a payout that the ledger has. */
export function orderOf({ id, asked }: Pick<Operation, "id" | "asked">): PayoutOrder {
  const order = orderIn(asked);
  if (order) return order;
  throw new TypeError(`the ledger has ${id} as a payout, without who gets how much`);
}

/** What of an order stays as the ledger has it, whatever was given now; who gets how much is the same. */
export function keptTexts(given: PayoutOrder, order: PayoutOrder): string {
  const texts = [
    ["name", given.recipientName, order.recipientName],
    ["description", given.description, order.description],
  ];
  return texts
    .filter(([, now, before]) => now !== before)
    .map(([what, , before]) => (before === undefined ? `without a ${what}` : `${what} ${before}`))
    .join(", ");
}

/**
 * Holds an order beside what the service has (P15, P16).
 *
 * @throws Failure `conflict` where they differ, `uncertain` where the recipients cannot be compared
 */
export function compare(
  what: "answer" | "record",
  order: PayoutOrder,
  { payoutId, ...theirs }: Theirs & { payoutId: string },
): void {
  const { amountPaisa, reference, recipientNumber: recipient } = order;
  const { different, unclear } = compared({ amountPaisa, reference, recipient }, theirs);
  if (different.length > 0)
    throw new Failure(
      "conflict",
      `The service's ${what} for reference ${reference} is another payout, ${payoutId}.`,
      {
        problems: different,
        hint: `Look at ${payoutId} in the dashboard first: only if it is an older payout, and this one is still to be paid, give this one a reference of its own.`,
        operation: reference,
        evidence: { otherId: payoutId },
      },
    );
  if (unclear.length > 0)
    throw uncertain(
      order,
      `the service has it, but shows the recipient as ${theirs.recipient}, which cannot be compared`,
    );
}

/** The failure of a payout that may or may not have been made (exit 75). */
export function uncertain(
  order: PayoutOrder,
  why: string,
  more: Pick<FailureDetails, "evidence" | "untried" | "neverLeft" | "status" | "hint"> = {},
): Failure {
  return new Failure(
    "uncertain",
    `The payout ${order.reference} may or may not have been made: ${why.replace(/\.$/, "")}.`,
    {
      hint: `Run the same command again with --ref ${order.reference}: the service makes one payout for a reference, however often it is sent.`,
      operation: order.reference,
      ...more,
    },
  );
}
