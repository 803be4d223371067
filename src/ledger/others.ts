import type { Database, Row } from "../sqlite/database.ts";
import type { Owner } from "./operation.ts";
import { mayHavePaid, payeeInSql } from "./payee.ts";
import { lastBegunAt } from "./select.ts";
import { isFreeInSql } from "./state-in-sql.ts";

/** Where else somebody may be paid: what a file, or the rest of a plan, is held against. */
export interface Elsewhere {
  owner: Pick<Owner, "baseUrl" | "keyId" | "environment">;
  /** What was paid or planned since then counts, ISO 8601; what is in doubt does always. */
  since: string;
  /** Batches that a process works on: what they are still to send counts, however old their plans are. */
  held: bigint[];
  /** The batch that is held against the others, and is none of them itself. */
  own: bigint | null;
}

/** What is paid elsewhere too. */
export interface Again {
  count: number;
  sumPaisa: bigint;
  /** Which rows, with how many payouts each: nobody confirmed others than were shown. */
  mark: string;
}

/**
 * Makes a temporary table of who got how much, or is to get it, by whatever reference and by whatever
 * API key: a merchant may have got a new one since, and nobody can tell that from another merchant's.
 */
export function gatherOthers(
  database: Database,
  table: `${string}_others`,
  { owner: { baseUrl, keyId, environment }, since, held, own }: Elsewhere,
): void {
  database.exec(`DROP TABLE IF EXISTS temp.${table}`);
  const working = JSON.stringify(held.map(Number));
  const account = [baseUrl, keyId, environment];
  // In this order: what goes out between the two is seen twice, and not never.
  const planned = database.prepare(`CREATE TEMP TABLE ${table} AS ${toBePaid}`);
  planned.run(...account, own, since, working);
  database.prepare(`INSERT INTO ${table} ${paid}`).run(...account, own, since);
  database.exec(`CREATE INDEX temp.${table}_payees ON ${table} (payee, amount_paisa)`);
}

/** That a row of such a table, `t`, is not the payout of this reference itself. */
export function isAnother(reference: string): string {
  return `NOT (t.low IS ${reference} AND t.high IS ${reference})`;
}

/** Such a row, `t`, in words. */
export function saysOther(reference: string): string {
  const newest = {
    at: "substr(t.newest, 1, 24)",
    is: "substr(t.newest, 25, 1)",
    by: "substr(t.newest, 26)",
  };
  const isNewest = `(t.newest IS NOT NULL AND ${newest.by} != ${reference})`;
  return `'The same person ' || CASE
      WHEN t.batch IS NOT NULL THEN 'is still to be sent the same amount by batch ' || t.batch
      WHEN ${isNewest} THEN iif(${newest.is} = '1', 'was', 'may have been')
        || ' sent the same amount at ' || ${timeInSql(newest.at)}
      ELSE 'may have been sent the same amount' END
    || iif(t.is_own_key, '', ' with another API key') || ', as '
    || CASE WHEN ${isNewest} THEN ${newest.by} WHEN t.high IS ${reference} THEN t.low ELSE t.high END
    || '.'`;
}

/** What rows that were found beside others, a line for each, come to; of those it needs `row` and `payouts`. */
export function sumAgain(found: string): string {
  return `SELECT count(*) AS count, sum(amount_paisa) AS sum,
    group_concat(row || 'x' || payouts) AS mark
    FROM (SELECT * FROM (${found}) ORDER BY row)`;
}

export function againOf(row: Row | undefined): Again {
  const { count, sum, mark } = row ?? {};
  return { count: Number(count ?? 0n), sumPaisa: BigInt(sum ?? 0n), mark: String(mark ?? "") };
}

/** `20 Nov 2026, 10:31:12` in the zone of this machine, as people read times of lenden everywhere. */
export function timeInSql(iso: string): string {
  const part = (format: string) => `strftime('${format}', ${iso}, 'localtime')`;
  const month = `substr('JanFebMarAprMayJunJulAugSepOctNovDec', 3 * ${part("%m")} - 2, 3)`;
  return `(0 + ${part("%d")}) || ' ' || ${month} || ${part(" %Y, %H:%M:%S")}`;
}

/**
 * True for an operation or a batch of this environment, by any API key: in production whatever its base URL, in
 * a sandbox with this base URL.
 */
function isOfEnvironment(one: string): string {
  return `${one}.account IN (SELECT number FROM accounts WHERE base_url = ?1 OR ?3 = 'production')
    AND ${one}.environment = ?3`;
}

function isOwnKey(one: string): string {
  return `${one}.account IS (SELECT number FROM accounts WHERE base_url = ?1 AND key_id = ?2)`;
}

/** Once for each person and amount, however often, with the first and last reference. */
const toBePaid = `
  SELECT ${payeeInSql("p.recipient")} AS payee, p.amount_paisa, min(p.reference) AS low,
    max(p.reference) AS high, count(*) AS payouts, ${isOwnKey("b")} AS is_own_key,
    b.id AS batch, NULL AS newest
  FROM batches b CROSS JOIN batch_rows p ON p.batch = b.number
    LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
  WHERE ${isOfEnvironment("b")} AND b.digest IS NOT NULL AND b.number IS NOT ?4
    AND (b.created_at >= ?5 OR b.number IN (SELECT value FROM json_each(?6)))
    AND (o.state IS NULL OR ${isFreeInSql})
  GROUP BY 1, 2, b.number`;

/** The newest of them as its time, which has 24 characters, whether it is certain, and its reference. */
const paid = `
  SELECT ${payeeInSql("json_extract(o.asked, '$.recipientNumber')")}, o.amount_paisa,
    min(o.reference), max(o.reference), count(*), ${isOwnKey("o")} AS is_own_key,
    NULL, max(${lastBegunAt} || (o.state = 'CONFIRMED') || o.reference)
  FROM operations o WHERE ${isOfEnvironment("o")} AND ${mayHavePaid}
    AND (${lastBegunAt} >= ?5 OR o.state IN ('INTENT', 'UNCERTAIN', 'CONFLICT'))
    AND (o.reference, o.fingerprint) NOT IN
      (SELECT reference, fingerprint FROM batch_rows WHERE batch = ?4)
  GROUP BY 1, 2, is_own_key`;
