import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure, type FailureDetails } from "../domain/failure.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import type { Operation } from "../ledger/operation.ts";
import { compared, conflictHint, type Theirs } from "../operations/compare.ts";

/** A payout as it was decided; nothing in it changes between attempts. */
export interface PayoutOrder {
  amountPaisa: Paisa;
  reference: string;
  /** As it goes on the wire. */
  recipientNumber: string;
  recipientName?: string | undefined;
  description?: string | undefined;
  paymentMethodId: string;
  /** As it was given, for the ledger alone. */
  methodName?: string | undefined;
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
    ["number", given.recipientNumber, order.recipientNumber],
    ["name", given.recipientName, order.recipientName],
    ["description", given.description, order.description],
  ];
  return texts
    .filter(([, now, before]) => now !== before)
    .map(([what, , before]) => (before === undefined ? `without a ${what}` : `${what} ${before}`))
    .join(", ");
}

/**
 * Compares an order with what the API has under its reference (P15, P16).
 *
 * @throws Failure `conflict` if they differ; `uncertain` if the recipients cannot be compared, or if the
 * record has another reference, because it is then not the record of this payout (P15b)
 */
export function compare(
  what: "response" | "record",
  order: PayoutOrder,
  { payoutId, reference, ...theirs }: Theirs & { payoutId: string; reference: string },
): void {
  const { amountPaisa, recipientNumber: recipient } = order;
  if (reference !== order.reference) throw otherReference(order, { payoutId, reference });
  const { different, unclear } = compared({ amountPaisa, recipient }, theirs);
  if (different.length > 0) throw differs(what, order, { payoutId, ...theirs }, different);
  if (unclear.length > 0)
    throw uncertain(
      order,
      `the service has it, but shows the recipient as ${theirs.recipient}, which cannot be compared`,
    );
}

/** P15: shows both records. Another reference could pay the recipient twice, so no hint names one. */
function differs(
  what: "response" | "record",
  { amountPaisa, reference, recipientNumber }: PayoutOrder,
  theirs: Theirs & { payoutId: string },
  problems: string[],
): Failure {
  const { payoutId, amount, recipient } = theirs;
  const to = recipient === undefined ? "" : ` to ${recipient}`;
  return new Failure(
    "conflict",
    `Payout ${reference} asks for ${formatPaisa(amountPaisa)} to ${recipientNumber}, but the API's ${what} shows ${payoutId}: ${formatAmount(amount)}${to}. Outcome unknown: money may have moved.`,
    {
      problems,
      hint: conflictHint(reference),
      operation: reference,
      evidence: { otherId: payoutId },
    },
  );
}

/** The failure of a record that belongs to another reference: it shows nothing about this payout (P15b). */
function otherReference(
  order: PayoutOrder,
  { payoutId, reference }: { payoutId: string; reference: string },
): Failure {
  const why = `the API's record ${payoutId} is for reference ${reference || "none"}`;
  return uncertain(order, why, { evidence: { otherId: payoutId } });
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
