import type { Input } from "../../api/contract/endpoint.ts";
import type { payouts } from "../../api/contract/index.ts";
import type { Handlers } from "../handlers.ts";
import type { Payout } from "../records.ts";
import { payoutOf, payoutReply, wholePaisa } from "../replies.ts";
import type { Store } from "../store.ts";

/** What the sandbox answers about payouts. */
export function payoutHandlers({ store }: { store: Store }): Handlers<typeof payouts> {
  return {
    createPayout(input) {
      // A used reference is not an error, whatever the rest of the body says (service.md §7).
      const payout = store.transaction(
        () => store.payoutOf(input.merchantRef) ?? newPayout(input, store),
      );
      const { payoutId, merchantRef, amount, status, createdAt } = payoutReply(payout);
      return { payoutId, merchantRef, amount, status, createdAt };
    },

    retrievePayout: ({ payoutId }) => payoutReply(payoutOf(store, payoutId)),
  };
}

function newPayout(input: Input<typeof payouts.createPayout>, store: Store): Payout {
  return store.payouts.add({
    id: store.newId("PO"),
    amountPaisa: wholePaisa(input.amount),
    merchantRef: input.merchantRef,
    recipientNumber: input.recipientNumber,
    recipientName: input.recipientName ?? null,
    description: input.description ?? null,
    paymentMethodId: input.paymentMethodId,
  });
}
