import type { Database } from "../sqlite/database.ts";
import { accountInSql } from "./account.ts";
import type { Intent, Operation, Owner } from "./operation.ts";
import { payeeInSql, payeeOf } from "./payee.ts";
import { openSelect, openSelectOfGuards } from "./select.ts";
import { isFreeInSql } from "./state-in-sql.ts";

export type Similar = ReturnType<typeof openSimilar>;

/** What makes two payouts look alike. */
interface PayoutKey {
  amountPaisa: bigint;
  recipient: string;
  reference: string;
}

/** A row of a batch that was not sent yet. */
interface PlannedRow {
  /** The batch's ID. */
  batch: string;
  reference: string;
}

/** Earlier operations that decide whether the same request may be sent once more. */
export function openSimilar(database: Database, owner: Owner) {
  const isProduction = owner.environment === "production";
  const select = openSelectOfGuards(database, owner);
  const selectPayouts = isProduction ? select : openSelect(database, owner);
  const byTarget = select("AND kind = ? AND target = ? ORDER BY +number");
  const sameRequest = select(
    "AND kind = 'payment' AND amount_paisa IS ? AND json_extract(asked, '$.description') IS ? ORDER BY +number",
  );
  const samePayout = selectPayouts(samePayoutInSql);
  const plannedRow = database.prepare(plannedRowInSql(isProduction));
  const whose = isProduction ? [owner.environment] : [owner.baseUrl, owner.keyId];
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

    /**
     * A row of another reference with this amount and recipient that an open batch is still to send, however
     * old the batch is.
     */
    plannedLike: ({ amountPaisa, recipient, reference }: PayoutKey): PlannedRow | undefined => {
      const row = plannedRow.get(...whose, amountPaisa, payeeOf(recipient), reference);
      return row && { batch: String(row.batch), reference: String(row.reference) };
    },
  };
}

/** When the API confirmed an operation; one that was sent again counts from then on. */
const acceptedAt = `coalesce(
  (SELECT min(e.at) FROM events e WHERE e.operation = operations.number
    AND e.data ->> 'state' = 'CONFIRMED' AND e.at >= coalesce(reopened_at, created_at)),
  updated_at)`;

const samePayoutInSql = `AND kind = 'payout' AND amount_paisa = ?
  AND ${payeeInSql("json_extract(asked, '$.recipientNumber')")} = ?
  AND (state IN ('INTENT', 'UNCERTAIN', 'CONFLICT')
    OR (state = 'CONFIRMED' AND status IS NOT 'Cancelled' AND (${acceptedAt} >= ? OR reference = ?)))
  ORDER BY state = 'CONFIRMED', +number DESC`;

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function plannedRowInSql(isProduction: boolean): string {
  return `SELECT b.id AS batch, p.reference AS reference
    FROM batch_rows p CROSS JOIN batches b ON b.number = p.batch
      LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
    WHERE ${isProduction ? "b.environment = ?" : `b.account = ${accountInSql}`}
      AND b.digest IS NOT NULL AND b.cancelled_at IS NULL
      AND p.amount_paisa = ? AND ${payeeInSql("p.recipient")} = ? AND p.reference != ?
      AND (o.state IS NULL OR ${isFreeInSql})
    LIMIT 1`;
}
