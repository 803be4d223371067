import { accountInSql } from "./account.ts";
/**
 * Questions to a draft whose answer no row has by itself: they look at all rows together, or at the
 * rows and what the ledger has.
 */
export const findings = {
  repeatedReferences: `
    INSERT INTO draft_problems
    SELECT 'cell', line, ?, 'ref', reference, 'This reference stands on line ' || first || ' already.'
    FROM (SELECT line, reference, min(line) OVER (PARTITION BY reference) AS first
          FROM draft_rows WHERE reference IS NOT NULL)
    WHERE line > first`,

  repeatedPayees: `
    INSERT INTO draft_problems
    SELECT 'repeated', line, ?, 'to', recipient, 'The same person and amount as on line ' || first || '.'
    FROM (SELECT line, recipient, min(line) OVER (PARTITION BY payee, amount_paisa) AS first
          FROM draft_rows WHERE recipient IS NOT NULL AND amount_paisa IS NOT NULL)
    WHERE line > first`,

  takenReferences: `
    INSERT INTO draft_problems
    SELECT 'taken', r.line, ?, 'ref', r.reference, 'The ledger has this reference for another payout, ' || o.id || '.'
    FROM draft_rows r JOIN operations o
      ON o.account = ${accountInSql} AND o.reference = r.reference
    WHERE r.fingerprint IS NOT NULL AND o.fingerprint != r.fingerprint`,

  paidBefore: `
    INSERT INTO draft_problems
    SELECT 'repeated', r.line, ?, 'to', r.recipient,
      'The same person was sent the same amount at ' || datetime(max(o.created_at), 'localtime') || ', as ' || o.reference || '.'
    FROM operations o JOIN draft_rows r
      ON r.amount_paisa = o.amount_paisa
      AND r.payee = ${payee("json_extract(o.asked, '$.recipientNumber')")}
    WHERE o.account = ${accountInSql} AND o.kind = 'payout' AND o.created_at >= ?
      AND o.state IN ('INTENT', 'UNCERTAIN', 'CONFLICT', 'CONFIRMED')
      AND o.status IS NOT 'Cancelled' AND o.reference IS NOT r.reference
    GROUP BY r.row`,

  sentBefore: `
    SELECT count(*) AS count, sum(r.amount_paisa) AS sum
    FROM draft_rows r JOIN operations o
      ON o.account = ${accountInSql} AND o.reference = r.reference
    WHERE o.fingerprint = r.fingerprint AND o.state = 'CONFIRMED'`,

  differences: `
    SELECT 'line ' || d.line || ': ' || CASE WHEN r.row IS NULL
        THEN 'this row is not in the plan'
        ELSE ${payment("d")} || '; the plan has ' || ${payment("r")} END AS text
      FROM draft_rows d LEFT JOIN batch_rows r ON r.batch = ? AND r.row = d.row
      WHERE r.fingerprint IS NOT d.fingerprint
    UNION ALL
    SELECT 'the plan has ' || ${payment("r")} || ', and the file does not'
      FROM batch_rows r WHERE batch = ? AND row > (SELECT count(*) FROM draft_rows)
    LIMIT ?`,
};

/** One person, however the number is written on the wire: its last eleven digits. */
export function payeeOf(recipient: string): string {
  return recipient.replace(/[^0-9]/g, "").slice(-11);
}

/** The same of a value in SQL. */
function payee(recipient: string): string {
  return `substr(replace(replace(${recipient}, ' ', ''), '-', ''), -11)`;
}

/** What a row pays to whom, in SQL: `1250.50 to 01712345678 by bkash`. */
function payment(row: string): string {
  const amount = `printf('%d.%02d', ${row}.amount_paisa / 100, ${row}.amount_paisa % 100)`;
  return `${amount} || ' to ' || ${row}.recipient || coalesce(' by ' || ${row}.method, '')`;
}
