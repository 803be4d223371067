import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure, type FailureDetails } from "../domain/failure.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import type { Operation } from "../ledger/operation.ts";
import { compared, conflictHint, type Theirs } from "../operations/compare.ts";

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

/** The order in a request's body; undefined without an amount, a recipient, a reference or a method. */
function orderIn(body: Record<string, unknown>): PayoutOrder | undefined {
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
  throw new TypeError(`payout ${id} of the ledger has no amount or no recipient`);
}

/** The texts of an earlier order that stay as they are in the ledger, although others were given now. */
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
      `the API shows its recipient as ${theirs.recipient}, which cannot be compared`,
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
    "payout.response-differs",
    `Payout ${reference} requests ${formatPaisa(amountPaisa)} to ${recipientNumber}, but the API's ${what} shows ${payoutId}: ${formatAmount(amount)}${to}.`,
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

/** The failure of a payout whose outcome is unknown (exit 75). */
export function uncertain(
  order: PayoutOrder,
  why: string,
  more: Pick<FailureDetails, "evidence" | "untried" | "neverLeft" | "status" | "hint"> = {},
): Failure {
  const { reference } = order;
  const cause = why.replace(/\.$/, "");
  return new Failure("payout.outcome-unknown", `Cannot confirm payout ${reference}: ${cause}.`, {
    hint: `Run the same command again with --ref ${reference}. The API creates one payout per reference.`,
    operation: reference,
    ...more,
  });
}
