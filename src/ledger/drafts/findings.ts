import type { Database } from "../../sqlite/database.ts";
import { accountInSql } from "../account.ts";
import type { Owner } from "../operation.ts";

/** What is looked through, and under which columns a problem is put down. */
export interface Scope {
  /** Payouts of the ledger since then count as repeated, ISO 8601. */
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
  database.prepare(repeatedReferences).run(ref);
  database.prepare(repeatedPayees).run(to);
  database.prepare(takenReferences).run(ref, baseUrl, keyId);
  database.prepare(paidBefore).run(to, baseUrl, keyId, since);
}

/** One person, however the number is written on the wire: its last eleven digits. */
export function payeeOf(recipient: string): string {
  return recipient.replace(/[^0-9]/g, "").slice(-11);
}

/** The same of a value in SQL. */
function payee(recipient: string): string {
  return `substr(replace(replace(${recipient}, ' ', ''), '-', ''), -11)`;
}

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

const paidBefore = `
  INSERT INTO draft_problems
  SELECT 'repeated', r.line, ?, 'to', r.recipient,
    'The same person ' || CASE o.state WHEN 'CONFIRMED' THEN 'was' ELSE 'may have been' END
      || ' sent the same amount at ' || datetime(max(o.created_at), 'localtime') || ', as ' || o.reference || '.'
  FROM operations o JOIN draft_rows r
    ON r.amount_paisa = o.amount_paisa
    AND r.payee = ${payee("json_extract(o.asked, '$.recipientNumber')")}
  WHERE o.account = ${accountInSql} AND o.kind = 'payout' AND o.created_at >= ?
    AND o.state IN ('INTENT', 'UNCERTAIN', 'CONFIRMED')
    AND o.status IS NOT 'Cancelled' AND o.reference IS NOT r.reference
  GROUP BY r.row`;
