import type { GuardScope } from "../account.ts";
import type { Traits } from "../batch.ts";
import { isNotCancelled, isPayoutOfRow, isPlanned, plannedBy } from "./conditions.ts";

/*
 * Finds planned batches, in SQL that every database reads in the same way.
 */

/**
 * The batches that have one of some traits, newest first; each trait is looked up in its index. OFFSET makes every
 * database look up the payout of each row by its reference.
 *
 * @param columns what `batchOf` reads
 * @param whose the condition that a batch belongs to the account of the run; `login`: that of the run
 * @param bind the parameter of a value
 */
export function knownBatches(
  columns: string,
  { whose, login }: { whose: (batch: string) => string; login: string },
  { id, hash, identity, size, name }: Traits,
  bind: (value: string | number | bigint) => string,
): string {
  const isAccepted = `EXISTS (SELECT 1 FROM lenden.operations o
    WHERE o.account = b.account AND o.reference = r.reference AND ${isPayoutOfRow}
      AND o.state = 'CONFIRMED' AND coalesce(o.status, '') <> 'Cancelled' LIMIT 1 OFFSET 0)`;
  const isUnfinished = `CASE WHEN b.number = named.number AND ${isNotCancelled}
    THEN EXISTS (SELECT 1 FROM lenden.batch_rows r WHERE r.batch = b.number AND NOT ${isAccepted})
    ELSE false END`;
  const having = (which: string) =>
    `SELECT n.number FROM lenden.batches n WHERE ${whose("n")} AND ${which}`;
  const planned = (which: string) => having(`${isPlanned("n")} AND ${which}`);
  const newest = (column: string, value: string) =>
    `(${planned(`n.${column} = ${value}`)} ORDER BY n.number DESC LIMIT 1)`;
  const called = name === undefined ? undefined : bind(name);
  const named = called
    ? `coalesce(${newest("name", called)}, ${newest("file_name", called)})`
    : `(${planned("false")})`;
  const numbers = [
    "SELECT named.number FROM named",
    identity !== undefined && having(`n.identity = ${bind(identity)}`),
    id !== undefined && planned(`n.id = ${bind(id)}`),
    hash !== undefined &&
      having(`n.file_hash = ${bind(hash)} AND ${plannedBy("n")} = ${bind(login)}`),
    size && planned(`n.row_count = ${bind(size.count)} AND n.total_paisa = ${bind(size.sumPaisa)}`),
  ].filter((one) => typeof one === "string");
  return `
    WITH named AS (SELECT ${named} AS number)
    SELECT ${columns}, named.number IS NOT NULL AND b.number = named.number AS is_named,
      ${identity === undefined ? "false" : isUnfinished} AS is_unfinished
    FROM lenden.batches b CROSS JOIN named
    WHERE b.number IN (${numbers.join(" UNION ALL ")})
    ORDER BY b.number DESC`;
}

/** Rows of a plan `b`, from its first to its last, by the columns that have them. */
const samples = {
  sample_1: "1",
  sample_2: "(b.row_count + 3) / 4",
  sample_3: "(b.row_count + 1) / 2",
  sample_4: "(b.row_count * 3 + 1) / 4",
  sample_5: "b.row_count",
};
export const sampleColumns = Object.keys(samples);

/**
 * A page of plans with at most a number of rows and a total, newest first, with some of their rows. Subqueries of
 * one row each are read by the key of the rows, whatever the database expects. $1 scope, $2 own account, $3 number of
 * rows, $4 total, $5 number of the plan before, $6 number of plans.
 *
 * @param columns what `batchOf` reads
 * @param jsonArray the function that makes its arguments a JSON array
 */
export function plansWithin(columns: string, jsonArray: string, { inSql }: GuardScope): string {
  const sampled = Object.entries(samples).map(
    ([
      column,
      row,
    ]) => `(SELECT ${jsonArray}(r.recipient, CAST(r.amount_paisa AS text), r.description)
      FROM lenden.batch_rows r WHERE r.batch = b.number AND r."row" = ${row}) AS ${column}`,
  );
  return `
    SELECT ${columns}, ${sampled},
      (SELECT a.name FROM lenden.accounts a WHERE a.number = b.account AND a.number <> $2) AS other_account
    FROM lenden.batches b
    WHERE ${inSql("b", "$1")} AND ${isPlanned("b")}
      AND b.row_count <= $3 AND b.total_paisa <= $4 AND b.number < $5
    ORDER BY b.number DESC LIMIT $6`;
}
