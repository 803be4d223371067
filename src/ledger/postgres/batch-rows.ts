import type { BatchStore } from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { batchSums, isOfBatch, rowColumns, rowSets } from "../conditions.ts";
import { numberIn, reader } from "../rows.ts";
import type { Query, Row, Value } from "./connection.ts";

type BatchResults = Pick<
  BatchStore,
  "tally" | "sentBefore" | "sentBetween" | "newReferences" | "recipients" | "rows"
>;

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchRows(read: Query): BatchResults {
  return {
    tally: async ({ number }) => (await read(sums.byState, number)).map(tallyOf),

    sentBefore: async ({ number, createdAt }) => {
      const [row] = await read(sums.before("$2"), number, createdAt);
      return { count: Number(row?.count), sumPaisa: numberIn(row?.sum) };
    },

    sentBetween: async ({ number }) => {
      const [row] = await read(sums.sendTimes, number);
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
      const sql = `SELECT ${columns} ${joined} AND ${rowSets[set]}`;
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

const joined = `FROM lenden.batch_rows r JOIN lenden.batches b ON b.number = r.batch
  LEFT JOIN lenden.operations o ON ${isOfBatch} WHERE r.batch = $1`;
const sums = batchSums(joined);

const selectNewReferences = `
  SELECT r.reference FROM lenden.batch_rows r
  WHERE r.batch = $1 AND r.reference ~ '-lenden[1-9]' ORDER BY r.row`;

const selectRecipients = `
  SELECT r.row, r.recipient, r.name, r.amount_paisa FROM lenden.batch_rows r WHERE r.batch = $1`;

const columns = Object.entries(rowColumns).map(([name, value]) => `${value} AS ${name}`);
