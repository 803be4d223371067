import type { Database, Row } from "../../sqlite/database.ts";
import { lastSentAt, openedAt, samePayoutInSql } from "../sqlite/operation-rows.ts";
import type { Batch, PlannedPayout, RowResult, Tally } from "./batch.ts";
import { plannedPayoutOf, rowResultOf, tallyOf } from "./from-row.ts";

const pageSize = 500;

/**
 * The rows of batches, beside the operations of their references. Where a row stands is read from
 * its operation each time, and kept nowhere else.
 */
export function openBatchRows(database: Database) {
  return {
    tally: ({ number }: Batch): Tally[] =>
      database.prepare(sumsByStanding).all(number).map(tallyOf),

    /** Rows that were sent, and begun before the batch was planned: by another one, or by themselves. */
    sentBefore: ({ number, createdAt }: Batch): { count: number; sumPaisa: bigint } => {
      const row = database.prepare(sumBefore).get(number, createdAt);
      return { count: Number(row?.count ?? 0n), sumPaisa: BigInt(row?.sum ?? 0n) };
    },

    /** When the first and the last of its rows were sent; undefined if no row was. */
    sentBetween: ({ number }: Batch): { first: string; last: string } | undefined => {
      const row = database.prepare(sendTimes).get(number);
      return row?.first == null ? undefined : { first: String(row.first), last: String(row.last) };
    },

    /** Its references that took the place of used ones: `…-lenden2`. */
    newReferences: ({ number }: Batch): string[] =>
      database
        .prepare(
          "SELECT reference FROM batch_rows WHERE batch = ? AND reference GLOB '*-lenden[1-9]*'",
        )
        .all(number)
        .map(({ reference }) => String(reference)),

    /** Rows of which nobody knows whether they were paid. */
    doubtful: (batch: Batch): Iterable<RowResult> => rows(batch, isDoubtful, withResult),

    /** Rows that were not sent, as far as is proved, and that may be. */
    unsent: (batch: Batch): Iterable<PlannedPayout> => rows(batch, isUnsent, asPlanned),

    /** All rows with what came of them. */
    results: (batch: Batch): Iterable<RowResult> => rows(batch, "true", withResult),

    /** Rows whose references came to an end without a payout that stands. */
    used: (batch: Batch): Iterable<RowResult> => rows(batch, isUsed, withResult),

    /** Rows that may still be sent: not sent as far as is proved, or of unknown outcome. */
    open: (batch: Batch): Iterable<RowResult> =>
      rows(batch, `(${isUnsent}) OR (${isDoubtful})`, withResult),

    /** Confirmed rows that had not ended when they were last looked at. */
    unfinished: (batch: Batch): Iterable<RowResult> => rows(batch, isUnfinished, withResult),
  };

  /** In their order, and page by page, so that memory does not grow with the batch. */
  function* rows<Item>({ number }: Batch, condition: string, as: Reading<Item>): Iterable<Item> {
    const page = database.prepare(pageInSql(as.columns, condition));
    for (let after = 0n; ; ) {
      const text = page.get(number, after)?.page;
      const found: Row[] = JSON.parse(String(text));
      for (const row of found) yield as.read(row);
      if (found.length < pageSize) return;
      after = BigInt(found.at(-1)?.row ?? 0n);
    }
  }
}

// What another batch sent after a batch was cancelled is not a payout of the cancelled one.
const joined = `FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference
    AND (b.cancelled_at IS NULL OR o.batch IS NULL OR o.batch = b.number
      OR ${openedAt} <= b.cancelled_at) WHERE r.batch = ?`;

// A reference that was used for another payout says nothing of this one, but that it cannot be sent.
const isOwn = samePayoutInSql;
const isFree = "o.phase = 'free'";
const isDoubtful = `${isOwn} AND o.state IN ('INTENT', 'UNCERTAIN')`;
const isUnsent = `o.state IS NULL OR (${isOwn} AND ${isFree})`;
const isUnfinished = `${isOwn} AND o.state = 'CONFIRMED'
  AND o.status NOT IN ('Completed', 'Cancelled')`;

const isUsed = `${isOwn} AND o.phase = 'retired'`;

const state = `CASE WHEN NOT ${isOwn} THEN 'CONFLICT'
  WHEN ${isFree} THEN 'NOT_SENT' ELSE o.state END`;
const own = (column: string) => `CASE WHEN ${isOwn} THEN o.${column} END`;

const sumsByStanding = `
  SELECT ${state} AS state, ${own("status")} AS status, count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} GROUP BY 1, 2`;
const sumBefore = `
  SELECT count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} AND ${isOwn} AND o.state = 'CONFIRMED' AND ${openedAt} < ?`;

const sendTimes = `
  SELECT min(${openedAt}) AS first, max(${lastSentAt}) AS last
  ${joined} AND ${isOwn} AND NOT ${isFree}`;

/** What is read of a row, each by its name, and what is made of it. */
interface Reading<Item> {
  columns: Record<string, string>;
  read(row: Row): Item;
}

const ofPlan = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `r.${name}`]));
const ofOwn = (...names: string[]) => Object.fromEntries(names.map((name) => [name, own(name)]));

const asPlanned: Reading<PlannedPayout> = {
  columns: ofPlan(
    ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method"],
    ...["name", "description", "accepted"],
  ),
  read: plannedPayoutOf,
};
const withResult: Reading<RowResult> = {
  columns: {
    ...asPlanned.columns,
    ...ofPlan("cells"),
    state,
    ...ofOwn("remote_id", "status", "code", "message", "updated_at"),
    sent_at: `CASE WHEN ${isOwn} AND NOT ${isFree} THEN ${openedAt} END`,
  },
  read: rowResultOf,
};

/** A page as one text, and every value in it as text: to hand it over row by row costs more than to read it. */
function pageInSql(columns: Reading<unknown>["columns"], condition: string): string {
  const names = Object.keys(columns);
  const values = Object.entries(columns).map(
    ([name, value]) => `CAST(${value} AS TEXT) AS ${name}`,
  );
  return `
    SELECT json_group_array(json_object(${names.map((name) => `'${name}', p.${name}`)})) AS page
    FROM (SELECT ${values} ${joined} AND r.row > ? AND (${condition})
      ORDER BY r.row LIMIT ${pageSize}) p`;
}
