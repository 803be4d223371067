import type { Database } from "../sqlite/database.ts";
import type { Intent, Operation, Owner } from "./operation.ts";
import { payeeInSql, payeeOf } from "./payee.ts";
import { openSelect, openSelectOfGuards } from "./select.ts";

export type Similar = ReturnType<typeof openSimilar>;

/** What makes two payouts look alike. */
interface PayoutKey {
  amountPaisa: bigint;
  recipient: string;
  reference: string;
}

/** Earlier operations that decide whether the same request may be sent once more. */
export function openSimilar(database: Database, owner: Owner) {
  const select = openSelectOfGuards(database, owner);
  const selectPayouts = owner.environment === "production" ? select : openSelect(database, owner);
  const byTarget = select("AND kind = ? AND target = ? ORDER BY +number");
  const sameRequest = select(
    "AND kind = 'payment' AND amount_paisa IS ? AND json_extract(asked, '$.description') IS ? ORDER BY +number",
  );
  const samePayout = selectPayouts(samePayoutInSql);
  return {
    /** Refunds of the same payment, or payments of the same amount and description, oldest first. */
    similarTo: ({ kind, target, amountPaisa, asked }: Intent): Operation[] =>
      kind === "payment"
        ? sameRequest.all(amountPaisa, textOrNull(asked.description))
        : byTarget.all(kind, target),

    /** Refunds of a payment, whatever their state. */
    refundsOf: (transactionId: string): Operation[] => byTarget.all("refund", transactionId),

    /**
     * Payouts of this amount to this recipient that are unresolved, at any age, or that were accepted and
     * not cancelled: since then (ISO 8601), or at any age under the same reference. Unresolved ones come
     * first, then the newest.
     */
    payoutsLike: ({ amountPaisa, recipient, reference }: PayoutKey, since: string): Operation[] =>
      samePayout.all(amountPaisa, payeeOf(recipient), since, reference),
  };
}

/** When the API first confirmed an operation. */
const acceptedAt = `coalesce(
  (SELECT min(e.at) FROM events e WHERE e.operation = operations.number AND e.data ->> 'state' = 'CONFIRMED'),
  updated_at)`;

const samePayoutInSql = `AND kind = 'payout' AND amount_paisa = ?
  AND ${payeeInSql("json_extract(asked, '$.recipientNumber')")} = ?
  AND (state IN ('INTENT', 'UNCERTAIN', 'CONFLICT')
    OR (state = 'CONFIRMED' AND status IS NOT 'Cancelled' AND (${acceptedAt} >= ? OR reference = ?)))
  ORDER BY state = 'CONFIRMED', +number DESC`;

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
