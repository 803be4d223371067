import type { payments } from "../../api/contract/index.ts";
import { amountNumber } from "../../domain/amount.ts";
import type { Handlers } from "../handlers.ts";
import { payPath } from "../pay-page.ts";
import { paymentOf, paymentReply, wholePaisa } from "../replies.ts";
import type { Store } from "../store.ts";

interface PaymentOptions {
  store: Store;
  /** Where the payment page is: `http://127.0.0.1:4700`. */
  origin: string;
}

/** What the sandbox answers about payments. */
export function paymentHandlers({ store, origin }: PaymentOptions): Handlers<typeof payments> {
  return {
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
  };
}
