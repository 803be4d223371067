import { timeInSql } from "./others.ts";
import { payeeInSql } from "./payee.ts";
import { lastBegunAt } from "./select.ts";
import { isFreeInSql, isFreeOf } from "./state-in-sql.ts";

/**
 * Rows, `r`, beside what another key did under their references, `o`: of that this key knows nothing. Where
 * this key has the reference itself, and it is not free, that counts. The values are the base URL (?2), this
 * key (?3) and the environment (?4).
 */
export function besideOtherKeys(rows: string): string {
  const own = "SELECT number FROM accounts WHERE base_url = ?2 AND key_id = ?3";
  // In this order, or SQLite would hold each payout of a person against each row of the same.
  return `FROM ${rows} r CROSS JOIN operations o ON o.reference = r.reference
      AND o.account IN (SELECT number FROM accounts
        WHERE (base_url = ?2 OR ?4 = 'production') AND NOT (base_url = ?2 AND key_id = ?3))
    WHERE o.environment = ?4 AND NOT ${isFreeInSql} AND o.status IS NOT 'Cancelled'
      AND NOT EXISTS (SELECT 1 FROM operations own WHERE own.reference = r.reference
        AND own.account = (${own}) AND NOT ${isFreeOf("own")})`;
}

/** That it is the very payout of the row, whose payee is given; another one may be another merchant's, or mended. */
export function isVeryPayout(payee: string): string {
  return `(o.amount_paisa = r.amount_paisa
    AND ${payeeInSql("json_extract(o.asked, '$.recipientNumber')")} = ${payee})`;
}

/**
 * How the other key left it. Refused: it may have gone on by a new reference. Sent: a mistake, if that key is
 * another merchant's, and no second payout, if it is this one's.
 */
export function saysOfOtherKey(payee: string): string {
  return `'With another API key ' || iif(${isVeryPayout(payee)}, 'this very payout ', 'another payout of this reference ')
    || CASE o.state WHEN 'CONFIRMED' THEN 'was sent at ' || ${timeInSql(lastBegunAt)}
      WHEN 'REFUSED' THEN 'was refused at ' || ${timeInSql("o.updated_at")}
        || ', and may have gone on by a new reference'
      WHEN 'CONFLICT' THEN 'is in conflict'
      ELSE 'is in doubt since ' || ${timeInSql("o.created_at")} END
    || ': ''lenden ledger show ' || o.id || ''' says more.'
    || CASE WHEN o.state = 'CONFIRMED' THEN ''
      WHEN o.state IN ('INTENT', 'UNCERTAIN') THEN ' Look in the merchant dashboard, then run ''lenden ledger resolve '
        || o.id || ''' with --created <id> or --not-created.'
      WHEN o.state = 'CONFLICT' THEN ' It may have been paid: check the dashboard, then run ''lenden ledger resolve '
        || o.id || ''' with --created <id> or --not-created.'
      ELSE ' If it was not paid since, give it a new reference; else remove the row.' END`;
}
