import { amountNumber, paisaOf } from "../domain/amount.ts";
import { providerName } from "./methods.ts";
import type { Payment, Payout, Refund } from "./records.ts";
import { Refusal } from "./refusal.ts";
import type { Store } from "./store.ts";

/** A record, or the refusal that there is none (404). */
export function paymentOf(store: Store, id: string): Payment {
  return store.payments.find(id) ?? notFound("payment");
}

export function payoutOf(store: Store, id: string): Payout {
  return store.payouts.find(id) ?? notFound("payout");
}

export function refundOf(store: Store, id: string): Refund {
  return store.refunds.find(id) ?? notFound("refund request");
}

export function notFound(what: string): never {
  throw new Refusal(404, "NOT_FOUND", `There is no ${what} with this id.`);
}

/** A record in its last state cannot be moved (service.md §3, §7). */
export function alreadyEnded(what: string, status: string): Refusal {
  return new Refusal(409, "ALREADY_ENDED", `This ${what} is ${status} and moves no more.`);
}

/** A record as its retrieve endpoint shows it (service.md §4). */
export function paymentReply(payment: Payment) {
  const { id, amountPaisa, description, paymentMethodId, ...rest } = payment;
  const { status, createdAt, updatedAt } = rest;
  const paymentMethod = providerName(paymentMethodId);
  const amount = amountNumber(amountPaisa);
  return { transactionId: id, amount, description, status, paymentMethod, createdAt, updatedAt };
}

export function payoutReply({ id, amountPaisa, paymentMethodId: _untold, ...told }: Payout) {
  return { payoutId: id, amount: amountNumber(amountPaisa), ...told };
}

export function refundReply({ id, amountPaisa, ...told }: Refund) {
  return { refundRequestId: id, amount: amountNumber(amountPaisa), ...told };
}

/** The body was checked before it came here. */
export function wholePaisa(amount: number): bigint {
  const amountPaisa = paisaOf(amount);
  if (amountPaisa === undefined) throw new TypeError("an amount that was not checked");
  return amountPaisa;
}
