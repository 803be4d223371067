import type { BatchStore, RowSet } from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { numberIn, reader } from "../rows.ts";
import type { Query, Row, Value } from "./connection.ts";
import { lastTakenAt, openedAt, samePayoutInSql } from "./operation-sql.ts";

type BatchResults = Pick<
  BatchStore,
  "tally" | "sentBefore" | "sentBetween" | "newReferences" | "recipients" | "rows"
>;

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchRows(read: Query): BatchResults {
  return {
    tally: async ({ number }) => (await read(sumsByState, number)).map(tallyOf),

    sentBefore: async ({ number, createdAt }) => {
      const [row] = await read(sumBefore, number, createdAt);
      return { count: Number(row?.count), sumPaisa: numberIn(row?.sum) };
    },

    sentBetween: async ({ number }) => {
      const [row] = await read(sendTimes, number);
      return row?.first && row.last ? { first: row.first, last: row.last } : undefined;
    },

    newReferences: async ({ number }) =>
      (await read(selectNewReferences, number)).map((row) => reader(row).text("reference")),

    async *recipients({ number }) {
      for await (const row of rowPages(read, selectRecipients, number)) {
        const { text, maybe } = reader(row);
        const amountPaisa = numberIn(row.amount_paisa);
        yield { recipient: text("recipient"), name: maybe("name"), amountPaisa };
      }
    },

    async *rows({ number }, set) {
      const sql = `SELECT ${columns} ${joined} AND ${conditions[set]}`;
      for await (const row of rowPages(read, sql, number)) yield rowResultOf(row);
    },
  };
}

const rowsPerPage = 2_000;

/**
 * The rows `r` that a query selects, in their order and page by page, so that memory does not grow with the batch.
 *
 * @param sql ends with a condition
 */
export async function* rowPages(query: Query, sql: string, ...values: Value[]): AsyncIterable<Row> {
  const page = `${sql} AND r.row > $${values.length + 1} ORDER BY r.row LIMIT ${rowsPerPage}`;
  for (let after = -1n; ; ) {
    const rows = await query(page, ...values, after);
    yield* rows;
    if (rows.length < rowsPerPage) return;
    after = numberIn(rows.at(-1)?.row);
  }
}

// A payout that another batch sent after this one was cancelled is not this one's.
const joined = `FROM lenden.batch_rows r JOIN lenden.batches b ON b.number = r.batch
  LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference
    AND (b.cancelled_at IS NULL OR o.batch IS NULL OR o.batch = b.number
      OR ${openedAt} <= b.cancelled_at) WHERE r.batch = $1`;

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
const own = (column: string) => `CASE WHEN ${isOwn} THEN o.${column} END AS ${column}`;

const sumsByState = `
  SELECT ${state} AS state, ${own("status")}, count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} GROUP BY 1, 2`;

const sumBefore = `
  SELECT count(*) AS count, sum(r.amount_paisa) AS sum
  ${joined} AND ${isOwn} AND o.state = 'CONFIRMED' AND (${openedAt} < $2 OR o.code = 'existing')`;

const sendTimes = `
  SELECT min(${openedAt}) AS first, max(${lastTakenAt}) AS last
  ${joined} AND ${isOwn} AND NOT ${isFree}`;

const selectNewReferences = `
  SELECT r.reference FROM lenden.batch_rows r
  WHERE r.batch = $1 AND r.reference ~ '-lenden[1-9]' ORDER BY r.row`;

const selectRecipients = `
  SELECT r.row, r.recipient, r.name, r.amount_paisa FROM lenden.batch_rows r WHERE r.batch = $1`;

const columns = [
  ...["r.row", "r.line", "r.reference", "r.amount_paisa", "r.recipient", "r.method_id"],
  ...["r.method", "r.name", "r.description", "r.accepted", "r.cells", `${state} AS state`],
  ...["remote_id", "status", "code", "message", "updated_at"].map(own),
  `CASE WHEN ${isOwn} AND NOT ${isFree} THEN ${openedAt} END AS sent_at`,
];
