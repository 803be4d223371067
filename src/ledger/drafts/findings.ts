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
  findAgain(database, { baseUrl, keyId }, { since, places });
}

/**
 * Adds the problems of rows whose recipients get the same amount otherwise: they were paid since, or
 * another batch is to pay them. It may be asked again: others work on the same ledger meanwhile.
 */
export function findAgain(
  database: Database,
  { baseUrl, keyId }: Pick<Owner, "baseUrl" | "keyId">,
  { since, places }: Scope,
): void {
  database.exec(
    "DROP TABLE IF EXISTS temp.draft_others; DELETE FROM draft_problems WHERE kind = 'again'",
  );
  database.prepare(paidBefore).run(baseUrl, keyId, since);
  database.prepare(plannedBefore).run(baseUrl, keyId, since);
  database.prepare(paidAgain).run(BigInt(places.to));
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

/** `20 Nov 2026, 10:31:12` in the zone of this machine, as people read times of lenden everywhere. */
function timeInSql(iso: string): string {
  const part = (format: string) => `strftime('${format}', ${iso}, 'localtime')`;
  const month = `substr('JanFebMarAprMayJunJulAugSepOctNovDec', 3 * ${part("%m")} - 2, 3)`;
  return `(0 + ${part("%d")}) || ' ' || ${month} || ${part(" %Y, %H:%M:%S")}`;
}

const takenReferences = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'The ledger has this reference for another payout, ' || o.id || '.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE r.fingerprint IS NOT NULL AND o.fingerprint != r.fingerprint`;

const usedReferences = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'This reference ended ' || o.state || ' at '
    || ${timeInSql("o.updated_at")} || ', and is not used again: give the row a new one.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE o.fingerprint = r.fingerprint
    AND (o.state = 'CONFLICT' OR (o.state = 'REFUSED' AND o.code IS NOT 'access'))`;

/** Who got how much, or is to get it: once each, however often, with the first and last reference. */
const paidBefore = `
  CREATE TEMP TABLE draft_others AS
  SELECT ${payeeInSql("json_extract(o.asked, '$.recipientNumber')")} AS payee, o.amount_paisa,
    min(o.reference) AS low, max(o.reference) AS high, max(${openedAt}) AS at,
    min(o.state = 'CONFIRMED') AS is_certain
  FROM operations o WHERE o.account = ${accountInSql} AND ${openedAt} >= ? AND ${mayHavePaid}
  GROUP BY 1, 2`;

const plannedBefore = `
  INSERT INTO draft_others
  SELECT ${payeeInSql("p.recipient")}, p.amount_paisa, min(p.reference), max(p.reference), b.id, NULL
  FROM batches b CROSS JOIN batch_rows p ON p.batch = b.number
    LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
  WHERE b.account = ${accountInSql} AND b.digest IS NOT NULL AND b.created_at >= ?
    AND (o.state IS NULL OR o.state = 'NOT_SENT' OR (o.state = 'REFUSED' AND o.code = 'access'))
  GROUP BY 1, 2, b.id`;

// A row's own payout is no other one.
const paidAgain = `
  INSERT INTO draft_problems
  SELECT 'again', r.line, ?, 'to', r.recipient, CASE
    WHEN t.is_certain IS NULL
      THEN 'The same person is still to be sent the same amount by batch ' || t.at || ', as '
    ELSE 'The same person ' || iif(t.is_certain, 'was', 'may have been')
      || ' sent the same amount at ' || ${timeInSql("t.at")} || ', as ' END
    || iif(t.high IS r.reference, t.low, t.high) || '.'
  FROM draft_others t CROSS JOIN draft_rows r
    ON r.payee = t.payee AND r.amount_paisa = t.amount_paisa
  WHERE NOT (t.low IS r.reference AND t.high IS r.reference)
  GROUP BY r.row`;
