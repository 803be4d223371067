import type { Database } from "../../sqlite/database.ts";
import { accountInSql } from "../account.ts";
import { besideOtherKeys, isVeryPayout, saysOfOtherKey } from "../other-keys.ts";
import {
  type Again,
  againOf,
  type Elsewhere,
  gatherOthers,
  isAnother,
  saysOther,
  sumAgain,
  timeInSql,
} from "../others.ts";
import { isUsedUpInSql } from "../state-in-sql.ts";

/** What is looked through, and under which columns a problem is put down. */
export interface Scope {
  elsewhere: Elsewhere;
  /** Of the columns `ref` and `to`, from 1. */
  places: { ref: number; to: number };
}

/**
 * Adds the problems of a draft that no row has by itself: they show between its rows, or between
 * them and what the ledger has.
 */
export function findProblems(database: Database, { elsewhere, places }: Scope): void {
  const [ref, to] = [BigInt(places.ref), BigInt(places.to)];
  const { baseUrl, keyId, environment } = elsewhere.owner;
  database.exec(byPayee);
  database.prepare(repeatedReferences).run(ref);
  database.prepare(repeatedPayees).run(to);
  database.prepare(takenReferences).run(ref, baseUrl, keyId);
  database.prepare(conflicts).run(ref, baseUrl, keyId);
  database.prepare(usedReferences).run(ref, baseUrl, keyId);
  database.prepare(begunByOtherKeys).run(ref, baseUrl, keyId, environment);
  findAgain(database, { elsewhere, places });
}

/**
 * Adds the problems of rows whose recipients get the same amount otherwise: they were paid since, or
 * another batch is to pay them. It may be asked again: others work on the same ledger meanwhile.
 */
export function findAgain(database: Database, { elsewhere, places }: Scope): void {
  database.exec("DELETE FROM draft_problems WHERE kind = 'again'");
  gatherOthers(database, "draft_others", elsewhere);
  const { baseUrl, keyId } = elsewhere.owner;
  database.prepare(paidAgain).run(BigInt(places.to), baseUrl, keyId);
}

/** What the rows of a draft that were found so come to. */
export function againIn(database: Database, { baseUrl, keyId }: Elsewhere["owner"]): Again {
  return againOf(database.prepare(sumAgain(rowsAgain)).get(baseUrl, keyId));
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

/** A new reference could pay these twice, so none is suggested. */
const mayBePaid = "o.state IN ('INTENT', 'UNCERTAIN', 'CONFLICT')";

const takenReferences = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'The ledger has this reference for another payout'
    || iif(${mayBePaid}, ', which may have been paid: run ''lenden ledger resolve ' || o.reference || ''' first.',
      ': ''lenden ledger show ' || o.reference || ''' says more.'
        || iif(${isUsedUpInSql}, '', ' For a new payout, use a new reference.'))
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE r.fingerprint IS NOT NULL AND o.fingerprint != r.fingerprint`;

const conflicts = `
  INSERT INTO draft_problems
  SELECT 'taken', r.line, ?, 'ref', r.reference, 'The service has another payout under this reference: '
    || 'check the dashboard, then run ''lenden ledger resolve ' || o.reference || ''' with --created <id> or --not-created.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE o.fingerprint = r.fingerprint AND o.state = 'CONFLICT'`;

const usedReferences = `
  INSERT INTO draft_problems
  SELECT 'used', r.line, ?, 'ref', r.reference,
    'This reference ended ' || iif(o.state = 'CONFIRMED', o.status, o.state) || ' at '
    || ${timeInSql("o.updated_at")} || ', and is not used again.'
  FROM draft_rows r JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference
  WHERE o.fingerprint = r.fingerprint AND ${isUsedUpInSql}`;

/** What does not pass at all is what another key left of the very payout, but that it was sent. */
const begunByOtherKeys = `
  INSERT INTO draft_problems
  SELECT iif(o.state != 'CONFIRMED' AND ${isVeryPayout("r.payee")}, 'used', 'other key'),
    r.line, ?1, 'ref', r.reference, ${saysOfOtherKey("r.payee")}
  ${besideOtherKeys("draft_rows")} AND (o.state != 'CONFIRMED' OR ${isVeryPayout("r.payee")})
  GROUP BY r.row`;

// A row whose own payout was made goes out no more: nobody gets it again.
const besideRows = `
  FROM draft_others t CROSS JOIN draft_rows r
    ON r.payee = t.payee AND r.amount_paisa = t.amount_paisa
  WHERE ${isAnother("r.reference")} AND NOT EXISTS (SELECT 1 FROM operations o
    WHERE o.account = ${accountInSql} AND o.reference = r.reference
      AND o.fingerprint = r.fingerprint AND o.state = 'CONFIRMED')`;

const paidAgain = `
  INSERT INTO draft_problems
  SELECT 'again', r.line, ?, 'to', r.recipient, ${saysOther("r.reference")} ${besideRows}
  GROUP BY r.row`;

const rowsAgain = `
  SELECT r.row, r.amount_paisa, sum(t.payouts) AS payouts ${besideRows} GROUP BY r.row`;
