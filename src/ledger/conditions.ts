import { differingCode, testCommand } from "../domain/state.ts";
import type { GuardScope } from "./account.ts";
import type { RowSet, Traits } from "./batch.ts";

/*
 * Conditions and values in SQL that every database reads in the same way: of an operation `o`, of a row `r` of a
 * batch, and of its batch `b`.
 */

/** When an operation may first have been sent, and when a process last took it to send it. */
export const openedAt = "coalesce(o.reopened_at, o.created_at)";
export const lastTakenAt = "coalesce(o.resumed_at, o.reopened_at, o.created_at)";

/** As `bookedAt` has it. */
export const bookedAt = "coalesce(o.completed_at, o.created_at)";

/** True for an operation that may still be completed. */
export const mayComplete = `(o.phase = 'unresolved'
  OR (o.phase = 'live' AND coalesce(o.status, '') <> 'Completed'))`;

/** True for payouts that `repetitionOf` may find: no tests of the API; unresolved at any age, or accepted since a time. */
export const isNoTest = `o.command <> '${testCommand}'`;
export const isUnresolved = "o.phase = 'unresolved'";
export const isAcceptedSince = (since: string) => `o.phase = 'live' AND o.accepted_at >= ${since}`;

/** True for an operation that `isDiffering`. */
export const isDifferingIn = (operation: string) =>
  `(${operation}.state = 'CONFLICT' AND coalesce(${operation}.code, '') = '${differingCode}')`;

/** True for a batch that was not cancelled, by its events, which no one can change. */
const isNotCancelled = `NOT EXISTS (SELECT 1 FROM lenden.events e
  WHERE e.batch = b.number AND e.event = 'cancelled')`;

/**
 * True for a row that was not sent, of a plan that still sends its rows: by the newest event of its batch, because the
 * batch itself can be edited.
 */
export const isOpenRow = `(o.phase IS NULL OR o.phase = 'free')
  AND (SELECT e.event FROM lenden.events e WHERE e.batch = b.number
    AND e.event IN ('plan', 'cancelled') ORDER BY e.number DESC LIMIT 1) = 'plan'`;

/**
 * The batch of an operation, as its seal covers it: the ID, and whether the batch still sent its rows when the
 * operation was recorded. A seal has no end, so a copy of a row that a cancelled batch never sent has a valid one. The
 * numbers of events, which no one can change, are the order; an intent without one is being recorded.
 */
export const batchOfOperation = `
  (SELECT b.id FROM lenden.batches b WHERE b.number = o.batch AND b.account = o.account) AS batch_id,
  (SELECT CASE WHEN count(*) > 0 AND count(CASE WHEN e.event = 'cancelled' THEN 1 END) = 0
      THEN 1 ELSE 0 END
    FROM lenden.events e WHERE e.batch = o.batch AND e.event IN ('plan', 'cancelled')
      AND e.number < coalesce((SELECT min(i.number) FROM lenden.events i WHERE i.operation = o.number),
        e.number + 1)) AS was_planned`;

/** True if an operation is the payout of a row, as by `isSamePayout`. */
export const isSamePayout = `(o.amount_paisa = r.amount_paisa
  AND o.recipient_key = r.recipient_key AND coalesce(o.method_id, r.method_id) = r.method_id)`;

/** True for the operation of a row's reference. A payout that another batch sent after this one was cancelled is not its. */
export const isOfBatch = `o.account = b.account AND o.reference = r.reference
  AND (b.cancelled_at IS NULL OR o.batch IS NULL OR o.batch = b.number
    OR ${openedAt} <= b.cancelled_at)`;

/**
 * The batches that have one of some traits, newest first; each trait is looked up in its index. OFFSET makes every
 * database look up the payout of each row by its reference.
 *
 * @param columns what `batchOf` reads
 * @param whose the condition that a batch belongs to the account of the run
 * @param bind the parameter of a value
 */
export function knownBatches(
  columns: string,
  whose: (batch: string) => string,
  { id, hash, identity, size, name }: Traits,
  bind: (value: string | number | bigint) => string,
): string {
  const isAccepted = `EXISTS (SELECT 1 FROM lenden.operations o
    WHERE o.account = b.account AND o.reference = r.reference AND ${isSamePayout}
      AND o.state = 'CONFIRMED' AND coalesce(o.status, '') <> 'Cancelled' LIMIT 1 OFFSET 0)`;
  const isUnfinished = `CASE WHEN b.number = named.number AND ${isNotCancelled}
    THEN EXISTS (SELECT 1 FROM lenden.batch_rows r WHERE r.batch = b.number AND NOT ${isAccepted})
    ELSE false END`;
  const having = (which: string) =>
    `SELECT n.number FROM lenden.batches n WHERE ${whose("n")} AND ${which}`;
  const planned = (which: string) => having(`n.row_count IS NOT NULL AND ${which}`);
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
    hash !== undefined && planned(`n.file_hash = ${bind(hash)}`),
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
    WHERE ${inSql("b", "$1")}
      AND b.row_count <= $3 AND b.total_paisa <= $4 AND b.number < $5
    ORDER BY b.number DESC LIMIT $6`;
}

const isFree = "o.phase = 'free'";

const isUnknown = `(${isSamePayout} AND o.state IN ('INTENT', 'UNCERTAIN'))`;
const isUnsent = `(o.state IS NULL OR (${isSamePayout} AND ${isFree}))`;

export const rowSets: Record<RowSet, string> = {
  all: "true",
  unknown: isUnknown,
  unsent: isUnsent,
  open: `(${isUnsent} OR ${isUnknown})`,
  used: `${isSamePayout} AND o.phase = 'retired'`,
  unfinished: `${isSamePayout} AND o.state = 'CONFIRMED' AND o.status NOT IN ('Completed', 'Cancelled')`,
  differing: `${isSamePayout} AND ${isDifferingIn("o")}`,
};

// If another payout has the reference, the row only shows that it cannot be sent.
const stateOfRow = `CASE WHEN NOT ${isSamePayout} THEN 'CONFLICT'
  WHEN ${isFree} THEN 'NOT_SENT' ELSE o.state END`;
const statusOfRow = `CASE WHEN ${isSamePayout} THEN o.status END`;
const resultOf = (column: string) => [column, `CASE WHEN ${isSamePayout} THEN o.${column} END`];

/** The columns that `rowResultOf` reads. */
export const rowColumns: Record<string, string> = Object.fromEntries([
  ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method", "name"]
    .concat("description", "accepted", "cells")
    .map((name) => [name, `r.${name}`]),
  ["state", stateOfRow],
  ...["remote_id", "status", "code", "message", "updated_at"].map(resultOf),
  ["sent_at", `CASE WHEN ${isSamePayout} AND NOT ${isFree} THEN ${openedAt} END`],
]);

/** As `existedBefore` has it. */
const wasSentBefore = `(${isSamePayout} AND o.state = 'CONFIRMED'
  AND (${openedAt} < b.created_at OR o.code = 'existing'))`;

/**
 * What the rows of a batch add up to.
 *
 * @param joined FROM and WHERE of the rows of one batch with their operations
 */
export const batchSums = (joined: string) => ({
  byState: `SELECT ${stateOfRow} AS state, ${statusOfRow} AS status, count(*) AS count,
    sum(r.amount_paisa) AS sum, count(CASE WHEN ${wasSentBefore} THEN 1 END) AS before_count,
    coalesce(sum(CASE WHEN ${wasSentBefore} THEN r.amount_paisa END), 0) AS before_sum
    ${joined} GROUP BY 1, 2`,
  sendTimes: `SELECT min(${openedAt}) AS first, max(${lastTakenAt}) AS last ${joined}
    AND ${isSamePayout} AND NOT ${isFree}`,
});
