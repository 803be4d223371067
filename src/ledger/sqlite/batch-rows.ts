import type { Database } from "../../platform/sqlite/database.ts";
import type { BatchStore, RowSet } from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { numberIn, reader } from "../rows.ts";
import { lastTakenAt, openedAt, pagedText, samePayoutInSql } from "./operation-rows.ts";

type BatchResults = Pick<
  BatchStore,
  "tally" | "sentBefore" | "sentBetween" | "newReferences" | "recipients" | "rows"
>;

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchRows(database: Database): BatchResults {
  return {
    tally: async ({ number }) => database.prepare(sumsByState).all(number).map(tallyOf),

    sentBefore: async ({ number, createdAt }) => {
      const row = database.prepare(sumBefore).get(number, createdAt);
      return { count: Number(row?.count ?? 0n), sumPaisa: numberIn(row?.sum) };
    },

    sentBetween: async ({ number }) => {
      const row = database.prepare(sendTimes).get(number);
      return row?.first == null ? undefined : { first: String(row.first), last: String(row.last) };
    },

    newReferences: async ({ number }) =>
      database
        .prepare(
          "SELECT reference FROM batch_rows WHERE batch = ? AND reference GLOB '*-lenden[1-9]*'",
        )
        .all(number)
        .map(({ reference }) => String(reference)),

    async *recipients({ number }) {
      const columns = {
        row: "r.row",
        recipient: "recipient",
        name: "name",
        amount: "amount_paisa",
      };
      const from = "FROM batch_rows r WHERE batch = ? AND r.row > ? ORDER BY r.row";
      for (const row of pagedText(database, columns, { from, by: "row", values: [number] })) {
        const { text, maybe } = reader(row);
        const amountPaisa = BigInt(text("amount"));
        yield { recipient: text("recipient"), name: maybe("name"), amountPaisa };
      }
    },

    async *rows({ number }, set) {
      const from = `${joined} AND ${conditions[set]} AND r.row > ? ORDER BY r.row`;
      for (const row of pagedText(database, columns, { from, by: "row", values: [number] }))
        yield rowResultOf(row);
    },
  };
}

// A payout that another batch sent after this one was cancelled is not this one's.
const joined = `FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference
    AND (b.cancelled_at IS NULL OR o.batch IS NULL OR o.batch = b.number
      OR ${openedAt} <= b.cancelled_at) WHERE r.batch = ?`;

// If another payout has the reference, the row only shows that it cannot be sent.
const isOwn = samePayoutInSql;
const isFree = "o.phase = 'free'";
const isUnknown = `(${isOwn} AND o.state IN ('INTENT', 'UNCERTAIN'))`;
const isUnsent = `(o.state IS NULL OR (${isOwn} AND ${isFree}))`;

const conditions: Record<RowSet, string> = {
  all: "true",
  unknown: isUnknown,
  unsent: isUnsent,
  open: `(${isUnsent} OR ${isUnknown})`,
  used: `${isOwn} AND o.phase = 'retired'`,
  unfinished: `${isOwn} AND o.state = 'CONFIRMED' AND o.status NOT IN ('Completed', 'Cancelled')`,
};

const state = `CASE WHEN NOT ${isOwn} THEN 'CONFLICT'
  WHEN ${isFree} THEN 'NOT_SENT' ELSE o.state END`;
const own = (column: string) => `CASE WHEN ${isOwn} THEN o.${column} END`;

const sumsByState = `
  SELECT ${state} AS state, ${own("status")} AS status, count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} GROUP BY 1, 2`;

const sumBefore = `
  SELECT count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} AND ${isOwn} AND o.state = 'CONFIRMED' AND (${openedAt} < ? OR o.code = 'existing')`;

const sendTimes = `
  SELECT min(${openedAt}) AS first, max(${lastTakenAt}) AS last
  ${joined} AND ${isOwn} AND NOT ${isFree}`;

const plannedColumns = [
  ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method"],
  ...["name", "description", "accepted", "cells"],
];
const columns = {
  ...Object.fromEntries(plannedColumns.map((name) => [name, `r.${name}`])),
  state,
  remote_id: own("remote_id"),
  status: own("status"),
  code: own("code"),
  message: own("message"),
  updated_at: own("updated_at"),
  sent_at: `CASE WHEN ${isOwn} AND NOT ${isFree} THEN ${openedAt} END`,
};
