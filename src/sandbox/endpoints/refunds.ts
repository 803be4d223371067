import type { Input } from "../../api/contract/endpoint.ts";
import type { refunds } from "../../api/contract/index.ts";
import { amountNumber } from "../../domain/amount.ts";
import type { Handlers } from "../handlers.ts";
import type { Refund } from "../records.ts";
import { Refusal } from "../refusal.ts";
import { alreadyEnded, paymentOf, refundOf, refundReply, wholePaisa } from "../replies.ts";
import type { Store } from "../store.ts";

/** What the sandbox answers about refunds. */
export function refundHandlers({ store }: { store: Store }): Handlers<typeof refunds> {
  return {
    createRefund(input) {
      // In one transaction: two at a time must not give back more than was paid.
      const refund = store.transaction(() => newRefund(input, store));
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
  };
}

function newRefund(input: Input<typeof refunds.createRefund>, store: Store): Refund {
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
}

/** The payment must be completed (service.md §3), and never gives back more than was paid. */
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
