import type { Database } from "../../platform/sqlite/database.ts";
import type { BatchStore } from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { batchSums, isOfBatch, rowColumns, rowSets } from "../conditions.ts";
import { numberIn, reader } from "../rows.ts";
import { pagedText } from "./operation-rows.ts";

type BatchResults = Pick<
  BatchStore,
  "tally" | "sentBefore" | "sentBetween" | "newReferences" | "recipients" | "rows"
>;

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchRows(database: Database): BatchResults {
  return {
    tally: async ({ number }) => database.prepare(sums.byState).all(number).map(tallyOf),

    sentBefore: async ({ number, createdAt }) => {
      const row = database.prepare(sums.before("?")).get(number, createdAt);
      return { count: Number(row?.count ?? 0n), sumPaisa: numberIn(row?.sum) };
    },

    sentBetween: async ({ number }) => {
      const row = database.prepare(sums.sendTimes).get(number);
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
      const from = `${joined} AND ${rowSets[set]} AND r.row > ? ORDER BY r.row`;
      for (const row of pagedText(database, rowColumns, { from, by: "row", values: [number] }))
        yield rowResultOf(row);
    },
  };
}

const joined = `FROM batch_rows r CROSS JOIN batches b ON b.number = r.batch
  LEFT JOIN operations o ON ${isOfBatch} WHERE r.batch = ?`;
const sums = batchSums(joined);
