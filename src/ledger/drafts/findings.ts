import type { Database } from "../../sqlite/database.ts";
import { accountInSql } from "../account.ts";
import type { Owner } from "../operation.ts";
import { mayHavePaid, payeeInSql } from "../payee.ts";
import { openedAt } from "../select.ts";

/** What is looked through, and under which columns a problem is put down. */
export interface Scope {
  /** What the ledger has since then counts as repeated, ISO 8601. */
  since: string;
  /** Of the columns `ref` and `to`, from 1. */
  places: { ref: number; to: number };
}

/**
 * Adds the problems of a draft that no row has by itself: they show between its rows, or between
 * them and what the ledger has.
 */
export function findProblems(
  database: Database,
  { baseUrl, keyId }: Owner,
  { since, places }: Scope,
): void {
  const [ref, to] = [BigInt(places.ref), BigInt(places.to)];
  database.exec(byPayee);
  database.prepare(repeatedReferences).run(ref);
  database.prepare(repeatedPayees).run(to);
  database.prepare(takenReferences).run(ref, baseUrl, keyId);
  database.prepare(usedReferences).run(ref, baseUrl, keyId);
  database.prepare(paidBefore).run(to, baseUrl, keyId, since);
  database.prepare(plannedBefore).run(to, baseUrl, keyId, since);
}

/** Without it each payout of a busy day would be held against each row. */
const byPayee = "CREATE INDEX temp.draft_payees ON draft_rows (payee, amount_paisa, line)";

const repeatedReferences = `
  INSERT INTO draft_problems
  SELECT 'cell', line, ?, 'ref', reference, 'This reference stands on line ' || first || ' already.'
  FROM (SELECT line, reference, min(line) OVER (PARTITION BY reference) AS first
        FROM draft_rows WHERE reference IS NOT NULL)
  WHERE line > first`;

const repeatedPayees = `
  INSERT INTO draft_problems
  SELECT 'repeated', line, ?, 'to', recipient, 'The same person and amount as on line ' || first || '.'
  FROM (SELECT line, recipient, min(line) OVER (PARTITION BY payee, amount_paisa) AS first
        FROM draft_rows WHERE recipient IS NOT NULL AND amount_paisa IS NOT NULL)
  WHERE line > first`;

const takenReferences = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'The ledger has this reference for another payout, ' || o.id || '.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE r.fingerprint IS NOT NULL AND o.fingerprint != r.fingerprint`;

const usedReferences = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'This reference ended ' || o.state || ' at '
    || datetime(o.updated_at, 'localtime') || ', and is not used again: give the row a new one.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE o.fingerprint = r.fingerprint
    AND (o.state = 'CONFLICT' OR (o.state = 'REFUSED' AND o.code IS NOT 'access'))`;

// From the payouts to the rows: there is an index on these alone.
const paidBefore = `
  INSERT INTO draft_problems
  SELECT 'again', r.line, ?, 'to', r.recipient,
    'The same person ' || CASE o.state WHEN 'CONFIRMED' THEN 'was' ELSE 'may have been' END
      || ' sent the same amount at ' || datetime(max(${openedAt}), 'localtime') || ', as ' || o.reference || '.'
  FROM operations o CROSS JOIN draft_rows r
    ON r.amount_paisa = o.amount_paisa
    AND r.payee = ${payeeInSql("json_extract(o.asked, '$.recipientNumber')")}
  WHERE o.account = ${accountInSql} AND ${openedAt} >= ? AND ${mayHavePaid}
    AND o.reference IS NOT r.reference
  GROUP BY r.row`;

const plannedBefore = `
  INSERT INTO draft_problems
  SELECT 'again', r.line, ?, 'to', r.recipient,
    'The same person is still to be sent the same amount by batch ' || b.id || ', as ' || min(p.reference) || '.'
  FROM batches b CROSS JOIN batch_rows p ON p.batch = b.number
    CROSS JOIN draft_rows r ON r.amount_paisa = p.amount_paisa AND r.payee = ${payeeInSql("p.recipient")}
    LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
  WHERE b.account = ${accountInSql} AND b.digest IS NOT NULL AND b.created_at >= ?
    AND p.reference IS NOT r.reference
    AND (o.state IS NULL OR o.state = 'NOT_SENT' OR (o.state = 'REFUSED' AND o.code = 'access'))
  GROUP BY r.row`;
