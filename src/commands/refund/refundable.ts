import type { Context } from "../../cli/command/context.ts";
import { paymentCard } from "../../cli/output/records.ts";
import { field, text } from "../../cli/output/view.ts";
import type { Paisa } from "../../domain/amount.ts";
import { formatPaisa } from "../../domain/money.ts";
import type { Refundable } from "../../operations/create.ts";

/** What the dialogue knows of a payment that is to be paid back. */
export interface Chosen {
  /** Retrieves the payment once, and shows it. @throws Failure if it cannot be paid back */
  look(typed: string): Promise<Refundable>;
  /** @throws Failure `refused` where this amount of it cannot be paid back */
  check(typed: string, amountPaisa: Paisa, how: { again: boolean }): Promise<void>;
}

/** Looks at a payment while somebody is asked about its refund. */
export function openChosen(context: Context): Chosen {
  const seen = new Map<string, Refundable>();
  const look = async (typed: string): Promise<Refundable> => {
    const transactionId = await context.idOf("payment", typed);
    const known = seen.get(transactionId);
    if (known) return known;
    const { refundable } = await import("../../operations/create.ts");
    const found = await refundable(transactionId, await context.world());
    seen.set(transactionId, found);
    await context.show(cardOf(found));
    return found;
  };
  return {
    look,
    check: async (typed, amountPaisa, how) => {
      const { checkRefund } = await import("../../operations/create.ts");
      const { payment, paidPaisa, live } = await look(typed);
      checkRefund(payment.transactionId, { paidPaisa, amountPaisa, live }, how);
    },
  };
}

function cardOf({ payment, paidPaisa, leftPaisa }: Refundable) {
  const card = paymentCard(payment);
  if (leftPaisa === paidPaisa) return card;
  const left = field("left", "Left of it", text(formatPaisa(leftPaisa)));
  return { ...card, fields: [...card.fields, left] };
}
