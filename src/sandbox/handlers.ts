import { amountNumber } from "../contract/amount.ts";
import type { Contract, Data, Input } from "../contract/endpoint.ts";
import type { ServiceContract } from "../contract/index.ts";
import { paymentMethods } from "./methods.ts";
import { payPath } from "./pay-page.ts";
import { Refusal } from "./refusal.ts";
import {
  alreadyEnded,
  paymentOf,
  paymentReply,
  payoutOf,
  payoutReply,
  refundOf,
  refundReply,
  wholePaisa,
} from "./replies.ts";
import type { Store } from "./store.ts";

/**
 * One function per endpoint. A missing one does not compile, nor does a reply that lacks a
 * documented field: what the contract lets the real service leave out is null here.
 */
export type Handlers<C extends Contract> = {
  [Name in keyof C]: (input: Input<C[Name]>) => Reply<Data<C[Name]>>;
};

type Reply<Data> = unknown extends Data
  ? object
  : Data extends readonly (infer Item)[]
    ? Documented<Item>[]
    : Documented<Data>;

/** The documented fields alone, every one of them present. */
export type Documented<Data> = {
  [Name in keyof Data as string extends Name
    ? never
    : number extends Name
      ? never
      : Name]-?: Exclude<Data[Name], undefined>;
};

export interface HandlerOptions {
  store: Store;
  /** Where the sandbox is reached, without the base path: `http://127.0.0.1:4700`. */
  origin: string;
  baseUrl: string;
}

/** The service (specification §4): what it answers, and what it refuses. */
export function serviceHandlers(options: HandlerOptions): Handlers<ServiceContract> {
  const { store, origin, baseUrl } = options;
  return {
    listMethods: () => paymentMethods,

    createPayment(input) {
      const { id, amountPaisa, status } = store.payments.add({
        id: store.newId("TX"),
        amountPaisa: wholePaisa(input.amount),
        description: input.description,
        paymentMethodId: input.paymentMethodId,
        redirectUrl: input.redirect_url,
        callbackUrl: input.callback_url,
        suggestedPayerNumber: input.suggestedPayerNumber ?? null,
        gatewayType: input.gatewayType ?? null,
        note: input.note ?? null,
      });
      const amount = amountNumber(amountPaisa);
      return { transactionId: id, payment_url: origin + payPath(id), amount, status };
    },

    retrievePayment: ({ transactionId }) => paymentReply(paymentOf(store, transactionId)),

    createPayout(input) {
      const payout = store.transaction(
        () =>
          // A used reference is not an error, whatever the rest of the body says (specification §7).
          store.payoutOf(input.merchantRef) ??
          store.payouts.add({
            id: store.newId("PO"),
            amountPaisa: wholePaisa(input.amount),
            merchantRef: input.merchantRef,
            recipientNumber: input.recipientNumber,
            recipientName: input.recipientName ?? null,
            description: input.description ?? null,
            paymentMethodId: input.paymentMethodId,
          }),
      );
      const { payoutId, merchantRef, amount, status, createdAt } = payoutReply(payout);
      return { payoutId, merchantRef, amount, status, createdAt };
    },

    retrievePayout: ({ payoutId }) => payoutReply(payoutOf(store, payoutId)),

    createRefund(input) {
      const refund = store.transaction(() => {
        const amountPaisa = wholePaisa(input.amount);
        requireRefundable(store, input.transactionId, amountPaisa);
        return store.refunds.add({
          id: store.newId("RF"),
          amountPaisa,
          transactionId: input.transactionId,
          accountType: input.accountType,
          accountNumber: input.accountNumber,
          note: input.note ?? null,
        });
      });
      const { refundRequestId, transactionId, amount, status, createdAt } = refundReply(refund);
      return { refundRequestId, transactionId, amount, status, createdAt };
    },

    retrieveRefund: ({ id }) => refundReply(refundOf(store, id)),

    cancelRefund({ refundRequestId: id, note }) {
      const { status } = refundOf(store, id);
      const cancelled = store.cancelRefund(id, note);
      if (!cancelled) throw alreadyEnded("refund", status);
      const { refundRequestId, note: kept, updatedAt, ...rest } = refundReply(cancelled);
      return { refundRequestId, status: rest.status, note: kept, updatedAt };
    },

    triggerPayment({ transactionId }) {
      store.payments.move(transactionId, "Completed");
      const payment = paymentOf(store, transactionId);
      if (payment.status !== "Completed") throw alreadyEnded("payment", payment.status);
      return paymentReply(payment);
    },

    triggerPayout({ payoutId }) {
      store.payouts.move(payoutId, "Completed");
      const payout = payoutOf(store, payoutId);
      if (payout.status !== "Completed") throw alreadyEnded("payout", payout.status);
      return payoutReply(payout);
    },

    sandboxInfo: () => ({
      name: "lenden local sandbox",
      environment: "sandbox",
      baseUrl,
      payments: store.payments.count(),
      payouts: store.payouts.count(),
      refunds: store.refunds.count(),
    }),
  };
}

/** The payment must be completed (specification §3), and never gives back more than was paid. */
function requireRefundable(store: Store, transactionId: string, amountPaisa: bigint): void {
  const payment = paymentOf(store, transactionId);
  if (payment.status !== "Completed") {
    const message = `Only a Completed payment can be refunded; this one is ${payment.status}.`;
    throw new Refusal(409, "PAYMENT_NOT_COMPLETED", message);
  }
  const leftPaisa = payment.amountPaisa - store.refundedPaisa(transactionId);
  if (amountPaisa <= leftPaisa) return;
  const message = `Of this payment, ${amountNumber(leftPaisa)} is left to refund.`;
  throw new Refusal(422, "REFUND_EXCEEDS_PAYMENT", message);
}
