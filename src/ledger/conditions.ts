import { generatedId, generatedPrefix } from "../domain/reference.ts";
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

/** A guard compares so many of the newest equal operations with their events, whatever their columns say now. */
export const mostCompared = 50;
/** More operations whose reference may be sent again are not read: they were all tried within a day. */
const mostFree = 200;

/** Beside the row `given` of a payout, the parameters of the own account and of the guard's scope. */
interface Given {
  own: string;
  scope: string;
}

/** The payouts that a condition selects, the first of an order. */
const payouts = (where: string, order: string, most = 1, columns = "o.number") =>
  `(SELECT ${columns} FROM lenden.operations o WHERE o.kind = 'payout' AND ${isNoTest} AND ${where}
    ORDER BY ${order} LIMIT ${most})`;

/**
 * For a payout that is claimed, the row `given`: the operation of its reference; and the newest of those with its
 * amount and recipient, as a JSON array. Both are found by columns that never change.
 */
export function payoutFacts(
  { ofOperations }: GuardScope,
  { own, scope }: Given,
  { unindexed, jsonArrayOf }: ClaimDialect,
) {
  const alike = `o.recipient_key = given.recipient AND o.amount_paisa = given.amount
    AND ${ofOperations("o", scope)}`;
  return {
    same: `(SELECT o.number FROM lenden.operations o
      WHERE o.account = ${own} AND o.reference = given.reference)`,
    newest: `(SELECT ${jsonArrayOf}(CAST(one.number AS text))
      FROM ${payouts(alike, `${unindexed("o.number")} DESC`, mostCompared)} one)`,
  };
}

/**
 * For a payout with so many equal ones that not all were read, whatever the age the newest that is unresolved, that was
 * accepted since a time, that has its reference in another account, that was cancelled, and, unless it is the row of a
 * batch, whose reference may be sent again. One of each is enough, because the rule depends on nothing else.
 *
 * @param since the parameter of the time since when accepted payouts count
 */
export function olderPayouts(
  { isProduction, ofOperations }: GuardScope,
  { own, scope, since }: Given & { since: string },
  dialect: ClaimDialect,
): Record<string, string> {
  const { isIn, unindexed } = dialect;
  const number = unindexed("o.number");
  const alike = `${recipientByPhase(dialect)} = given.recipient AND o.amount_paisa = given.amount
    AND ${ofOperations("o", scope)}`;
  const latest = `o.accepted_at DESC, ${number} DESC`;
  const another = `NOT (o.account = ${own} AND o.reference IS NOT DISTINCT FROM given.reference)`;
  const isOwn = `o.account = ${own} AND coalesce(o.method_id, given.method) = given.method`;
  const free = (phase: string, isRight: string) =>
    `CASE WHEN given.batch IS NULL THEN (SELECT o.number FROM ${payouts(
      `${alike} AND o.phase = '${phase}' AND o.accepted_at IS NULL`,
      latest,
      mostFree,
      "o.number, o.account, o.method_id, o.reference, o.batch, o.phase, o.state, o.updated_at",
    )} o WHERE ${isRight} AND o.updated_at >= ${since} AND ${isOwn} ORDER BY o.number DESC LIMIT 1) END`;
  // Its index finds few: without a function, a database could choose that of the recipient.
  const elsewhere = `${isIn("o.account", productionAccounts)} AND o.reference = given.reference
    AND o.account <> ${own} AND coalesce(o.recipient_key, '') = given.recipient
    AND coalesce(o.amount_paisa, 0) = given.amount`;
  return {
    unresolved: payouts(`${alike} AND ${isUnresolved} AND ${another}`, latest),
    accepted: payouts(`${alike} AND ${isAcceptedSince(since)} AND ${another}`, latest),
    elsewhere: isProduction
      ? payouts(elsewhere, `(${isUnresolved}) DESC, (o.phase = 'live') DESC, ${number} DESC`)
      : "NULL",
    free: free("free", "true"),
    rejected: free("retired", isRepeatable),
    cancelled: payouts(
      `${alike} AND o.phase = 'retired' AND o.accepted_at IS NOT NULL AND ${isCancelled} AND ${isOwn}`,
      latest,
    ),
  };
}

/** What statements of a claim need of a `Dialect`. */
interface ClaimDialect {
  isIn(column: string, select: string): string;
  unindexed(column: string): string;
  unindexedText(column: string): string;
  jsonArrayOf: string;
}

/** The recipient as the index has it that finds payouts of a phase. */
export const recipientByPhase = ({ unindexedText }: Pick<ClaimDialect, "unindexedText">) =>
  unindexedText("o.recipient_key");

const productionAccounts =
  "SELECT a.number FROM lenden.accounts a WHERE a.environment = 'production'";
const isCancelled = "o.state = 'CONFIRMED' AND o.status = 'Cancelled'";

/** The numbers of operations that several parts find, each once. */
const union = (parts: string[]) =>
  parts.map((part) => `SELECT number FROM (${part}) found`).join(" UNION ");

/** What is equal in payments that are the same: a condition for each column. */
interface EqualPayment {
  amount(column: string): string;
  /** Of texts, and of the guard's scope. */
  others: string;
}

/**
 * The numbers of the payments that one may repeat: the newest of unknown outcome, of those that are Processing and of
 * those that are Completed, created since a time; and the newest of all, whatever their columns say now. Each part has
 * its own bound, so that none hides another. Each is read from an index, so that the time does not grow with the equal
 * payments of all time.
 *
 * @param processingSince, completedSince parameters
 */
export function equalPayments(
  { amount, others }: EqualPayment,
  { processingSince, completedSince }: Record<"processingSince" | "completedSince", string>,
  { unindexed }: Pick<ClaimDialect, "unindexed">,
): string {
  // A column that is null is no equal one for PostgreSQL, which then sorts unless it is named.
  const newest = (amountColumn: string, which: string, status = "") => `SELECT o.number
    FROM lenden.operations o WHERE o.kind = 'payment' AND ${amount(amountColumn)} AND ${others} ${which}
    ORDER BY ${amountColumn} DESC, o.description DESC, o.payer_key DESC, ${status} o.created_at DESC
    LIMIT ${mostCompared}`;
  const accepted = (status: string, since: string) =>
    newest(
      "o.amount_paisa",
      `AND o.phase = 'live' AND o.status = '${status}' AND o.created_at >= ${since}`,
    );
  return union([
    newest("o.amount_paisa", `AND ${isUnresolved}`, "o.status DESC,"),
    accepted("Processing", processingSince),
    accepted("Completed", completedSince),
    newest(unindexed("o.amount_paisa"), ""),
  ]);
}

/**
 * The numbers of the refunds of a payment that decide about another one: all that may have been paid, the newest of the
 * amount that was rejected since a time, and the newest of all.
 *
 * @param target, isGuarded, amount conditions on the payment, the scope and the amount; `since`: a parameter
 */
export function refundsOfPayment(
  { target, isGuarded, amount }: { target: string; isGuarded: string; amount: string },
  since: string,
  { unindexed, unindexedText }: Pick<ClaimDialect, "unindexed" | "unindexedText">,
): string {
  const which = (column: string, where: string) => `SELECT o.number FROM lenden.operations o
    WHERE o.kind = 'refund' AND ${column} = ${target} AND ${isGuarded} ${where}`;
  const ofPhase = (phase: string, where = "") =>
    which(unindexedText("o.target"), `AND o.phase = '${phase}' ${where}`);
  return union([
    ofPhase("unresolved"),
    ofPhase("live"),
    ofPhase(
      "retired",
      `AND o.updated_at >= ${since} AND ${amount} AND o.state = 'REFUSED'
        ORDER BY o.updated_at DESC LIMIT 1`,
    ),
    which("o.target", `ORDER BY ${unindexed("o.number")} DESC LIMIT ${mostCompared}`),
  ]);
}

/** The numbers of the cancels or triggers of a record: the first that was confirmed, and the newest of all. */
export function changesOfRecord(
  ofRecord: string,
  { unindexed }: Pick<ClaimDialect, "unindexed">,
): string {
  const number = unindexed("o.number");
  const which = `SELECT o.number FROM lenden.operations o WHERE ${ofRecord}`;
  return union([
    `${which} AND o.state = 'CONFIRMED' ORDER BY ${number} LIMIT 1`,
    `${which} ORDER BY ${number} DESC LIMIT ${mostCompared}`,
  ]);
}

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

/** As `isRepeatable` of decide.ts, without the age. */
const isRepeatable = `(o.phase = 'retired' AND o.state = 'REFUSED' AND o.batch IS NULL
  AND length(o.reference) = ${generatedPrefix.length + generatedId.length}
  AND substr(o.reference, 1, ${generatedPrefix.length}) = '${generatedPrefix}'
  AND ltrim(substr(o.reference, ${generatedPrefix.length + 1}), '${generatedId.alphabet}') = '')`;
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
