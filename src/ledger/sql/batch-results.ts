import { type BatchResults, planModified, type RowResult, type RowSet } from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { PageDigests } from "../plan.ts";
import { isTrue, numberIn, type Row, reader } from "../values.ts";
import { loginOf } from "../worker.ts";
import { isDifferingIn, isOfBatch, isPayoutOfRow, lastTakenAt, openedAt } from "./conditions.ts";
import type { Dialect, Driver } from "./driver.ts";
import { type FoundBy, foundIn } from "./found.ts";
import { all, query, type Value } from "./work.ts";

/** FROM and WHERE of the rows `r` of a batch. */
export const rowsOfBatch = "FROM lenden.batch_rows r WHERE r.batch = $1";
const joined = `FROM lenden.batch_rows r CROSS JOIN lenden.batches b
  LEFT JOIN lenden.operations o ON ${isOfBatch} WHERE b.number = r.batch AND r.batch = $1`;
const isFreeNow = "o.phase = 'free'";

const isUnknown = `(${isPayoutOfRow} AND o.state IN ('INTENT', 'UNCERTAIN'))`;
const isUnsent = `(o.state IS NULL OR (${isPayoutOfRow} AND ${isFreeNow}))`;

const rowSets: Record<RowSet, string> = {
  all: "true",
  unknown: isUnknown,
  unsent: isUnsent,
  open: `(${isUnsent} OR ${isUnknown})`,
  used: `${isPayoutOfRow} AND o.phase = 'retired'`,
  unfinished: `${isPayoutOfRow} AND o.state = 'CONFIRMED' AND o.status NOT IN ('Completed', 'Cancelled')`,
  differing: `${isPayoutOfRow} AND ${isDifferingIn("o")}`,
};

// If another payout has the reference, the row only shows that it cannot be sent.
const stateOfRow = `CASE WHEN NOT ${isPayoutOfRow} THEN 'CONFLICT'
  WHEN ${isFreeNow} THEN 'NOT_SENT' ELSE o.state END`;
const statusOfRow = `CASE WHEN ${isPayoutOfRow} THEN o.status END`;
const resultOf = (column: string) => [column, `CASE WHEN ${isPayoutOfRow} THEN o.${column} END`];

/** The columns that `rowResultOf` reads. */
const rowColumns: Record<string, string> = Object.fromEntries([
  ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method", "name"]
    .concat("description", "accepted", "cells")
    .map((name) => [name, `r.${name}`]),
  ["state", stateOfRow],
  ...["remote_id", "status", "code", "message", "updated_at"].map(resultOf),
  ["sent_at", `CASE WHEN ${isPayoutOfRow} AND NOT ${isFreeNow} THEN ${openedAt} END`],
]);

/** As `existedBefore` has it. */
const wasSentBefore = `(${isPayoutOfRow} AND o.state = 'CONFIRMED'
  AND (${openedAt} < b.created_at OR o.code = 'existing'))`;

/**
 * What the rows of a batch add up to.
 *
 * @param joined FROM and WHERE of the rows of one batch with their operations
 */
const batchSums = (joined: string) => ({
  byState: `SELECT ${stateOfRow} AS state, ${statusOfRow} AS status, count(*) AS count,
    sum(r.amount_paisa) AS sum, count(CASE WHEN ${wasSentBefore} THEN 1 END) AS before_count,
    coalesce(sum(CASE WHEN ${wasSentBefore} THEN r.amount_paisa END), 0) AS before_sum
    ${joined} GROUP BY 1, 2`,
  sendTimes: `SELECT min(${openedAt}) AS first, max(${lastTakenAt}) AS last ${joined}
    AND ${isPayoutOfRow} AND NOT ${isFreeNow}`,
});
const sums = batchSums(joined);
const selectReferences = `SELECT r.reference ${rowsOfBatch} AND r.reference LIKE '%-lenden%' ORDER BY r."row"`;

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchResults(driver: Driver, recorder: FoundBy): BatchResults {
  const operations = operationsSql(driver.dialect);
  const read = (sql: string, ...values: Value[]): Promise<Row[]> =>
    driver.read(() => query(sql, ...values));
  const pages = (columns: Record<string, string>, from: string, batch: bigint) =>
    driver.pages(columns, from, { by: "r.row", values: [batch] });

  return {
    tally: async ({ number }) => (await read(sums.byState, number)).map(tallyOf),

    tallies: async (batches) => {
      const works = () => batches.map(({ number }) => query(sums.byState, number));
      return (await driver.read(() => all(works()))).map((rows) => rows.map(tallyOf));
    },

    acceptedByOthers: async ({ number }) => {
      const found = await read(acceptedBy, number, loginOf(recorder));
      return found.map((row) => ({
        login: String(row.login),
        count: Number(row.count),
        sumPaisa: numberIn(row.sum),
      }));
    },

    isCancelledByOthers: async ({ number }) =>
      (await read(cancelledBy, number, loginOf(recorder))).length > 0,

    sentBetween: async ({ number }) => {
      const [row = {}] = await read(sums.sendTimes, number);
      const { text, maybe } = reader(row);
      return maybe("first") === null ? undefined : { first: text("first"), last: text("last") };
    },

    newReferences: async ({ number }) => {
      const found = await read(selectReferences, number);
      const references = found.map((row) => reader(row).text("reference"));
      return references.filter((reference) => /-lenden[1-9]/.test(reference));
    },

    async *recipients({ number }) {
      for await (const page of pages(recipientColumns, rowsOfBatch, number))
        for (const row of page) {
          const { text, maybe } = reader(row);
          const amountPaisa = numberIn(row.amount_paisa);
          yield { recipient: text("recipient"), name: maybe("name"), amountPaisa };
        }
    },

    async *rows({ number }, set) {
      for await (const page of pages(rowColumns, `${joined} AND ${rowSets[set]}`, number))
        for (const row of page) yield rowResultOf(row);
    },

    assertRecorded: async ({ number }) => {
      for (let after = 0n; ; ) {
        const rows = await read(operations, number, after);
        foundIn(rows, { appendedTo: () => [], recorder });
        if (rows.length < operationsPerPage) return;
        after = numberIn(rows.at(-1)?.place);
      }
    },

    async *rowsAsRead({ batch, accepted, ...read }, set) {
      const isIn = `CASE WHEN ${rowSets[set]} THEN 1 ELSE 0 END`;
      const columns = { ...rowColumns, recipient_key: "r.recipient_key", is_in: isIn };
      const digests = new PageDigests();
      let waiting: RowResult[] = [];
      const isSame = () => digests.pages.at(-1) === read.pages[digests.pages.length - 1];
      for await (const page of pages(columns, joined, batch.number))
        for (const row of page) {
          const isPage = digests.add(row);
          if (isTrue(row.is_in)) {
            const result = rowResultOf(row);
            waiting.push({ ...result, isAccepted: accepted.has(result.row) });
          }
          if (!isPage) continue;
          if (!isSame()) throw planModified(batch);
          yield* waiting;
          waiting = [];
        }
      digests.end();
      if (digests.pages.length !== read.pages.length || !isSame()) throw planModified(batch);
      yield* waiting;
    },
  };
}

/** Who recorded that the API accepted rows of a batch, by the events with its ID. $1 batch, $2 login of this run. */
const acceptedBy = `SELECT login, count(*) AS count, sum(amount_paisa) AS sum FROM (
    SELECT o.amount_paisa, coalesce((SELECT e.login FROM lenden.events e
      WHERE e.operation = o.number AND e.data LIKE '%"remoteId":%' ORDER BY e.number DESC LIMIT 1), o.login) AS login
    ${joined} AND ${isPayoutOfRow} AND o.state = 'CONFIRMED') found
  WHERE login <> $2 GROUP BY login ORDER BY login`;

/** $1 batch, $2 login of this run. */
const cancelledBy = `SELECT 1 ${joined} AND ${isPayoutOfRow} AND o.phase = 'retired'
    AND o.state = 'CONFIRMED' AND (SELECT e.login FROM lenden.events e
      WHERE e.operation = o.number AND e.event IN ('attempt', 'look', 'final-status-changed')
      ORDER BY e.number DESC LIMIT 1) <> $2 LIMIT 1`;

const operationsPerPage = 500;
/** The operations of the references of a batch. $1 batch, $2 number of the row before. */
const operationsSql = ({ foundColumns }: Dialect) => `
  SELECT r."row" AS place, ${foundColumns}
  FROM lenden.batch_rows r CROSS JOIN lenden.batches b CROSS JOIN lenden.operations o
  WHERE r.batch = $1 AND b.number = r.batch AND o.account = b.account AND o.reference = r.reference
    AND r."row" > $2
  ORDER BY r."row" LIMIT ${operationsPerPage}`;

const recipientColumns = {
  ...{ row: "r.row", recipient: "r.recipient", name: "r.name", amount_paisa: "r.amount_paisa" },
};
