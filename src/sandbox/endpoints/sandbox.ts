import type { sandbox } from "../../api/contract/index.ts";
import type { Handlers } from "../handlers.ts";
import { alreadyEnded, paymentOf, paymentReply, payoutOf, payoutReply } from "../replies.ts";
import type { Store } from "../store.ts";

interface SandboxOptions {
  store: Store;
  baseUrl: string;
}

/** What the service has in its sandbox alone: completing a record by hand, and the account. */
export function sandboxHandlers({ store, baseUrl }: SandboxOptions): Handlers<typeof sandbox> {
  return {
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
