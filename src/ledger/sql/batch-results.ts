import {
  type BatchResults,
  planModified,
  type ReadPlan,
  type RowResult,
  type RowSet,
  type Tally,
} from "../batch.ts";
import { rowResultOf, tallyOf } from "../batch-results.ts";
import { PageDigests } from "../plan.ts";
import { isTrue, numberIn, type Row, reader } from "../values.ts";
import { loginOf } from "../worker.ts";
import { isDifferingIn, isOfBatch, isPayoutOfRow, lastTakenAt, openedAt } from "./conditions.ts";
import type { Driver } from "./driver.ts";
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

/** In front of the columns of a row that is read with its operation. */
const prefix = "row_of_batch_";
/** Numbers of rows may have been changed to any value. */
const lowest = -(2n ** 63n);

/** What a tally of one row needs. */
const tallyColumns = {
  ...{ state: stateOfRow, status: statusOfRow, sum: "r.amount_paisa", count: "1" },
  before_count: `CASE WHEN ${wasSentBefore} THEN 1 ELSE 0 END`,
  before_sum: `CASE WHEN ${wasSentBefore} THEN r.amount_paisa ELSE 0 END`,
  row: "r.row",
};

/** The rows of batches with their results, which are read from the operations and stored nowhere else. */
export function createBatchResults(driver: Driver, recorder: FoundBy): BatchResults {
  const read = (sql: string, ...values: Value[]): Promise<Row[]> =>
    driver.read(() => query(sql, ...values));
  const pages = (columns: Record<string, string>, from: string, batch: bigint) =>
    driver.pages(columns, from, { by: "r.row", values: [batch] });
  const { recordedPages, rowsOfPlan } = createPlanRows(driver, recorder);

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

    recordedTally: async ({ number }) => {
      const tallies = new Map<string, Tally>();
      for await (const page of recordedPages(tallyColumns, number))
        for (const row of page) {
          const one = tallyOf(row);
          const key = `${one.state} ${one.status}`;
          tallies.set(key, addTally(tallies.get(key), one));
        }
      return [...tallies.values()];
    },

    rowsAsRead: (plan, set) =>
      rowsOfPlan(plan, set, (columns) => pages(columns, joined, plan.batch.number)),

    recordedRows: (plan, set) =>
      rowsOfPlan(plan, set, (columns) => recordedPages(columns, plan.batch.number)),
  };
}

/** Reads the rows of plans, with operations that are compared with their events if that is required. */
function createPlanRows(driver: Driver, recorder: FoundBy) {
  /**
   * The rows of a batch, each with its operation as it is compared with its events (I12): one statement reads all of it,
   * so that no edit can be between them.
   */
  async function* recordedPages(
    columns: Record<string, string>,
    batch: bigint,
  ): AsyncIterable<Row[]> {
    const names = Object.keys(columns);
    const own = Object.entries(columns).map(([name, sql]) => `${sql} AS "${prefix}${name}"`);
    const sql = `SELECT ${own}, ${driver.dialect.foundColumns} ${joined} AND r."row" > $2
      ORDER BY r."row" LIMIT ${operationsPerPage}`;
    for (let after = lowest; ; ) {
      const found = await driver.read(() => query(sql, batch, after));
      foundIn(
        found.filter(({ id }) => id != null),
        { appendedTo: () => [], recorder },
      );
      yield found.map((row) =>
        Object.fromEntries(names.map((name) => [name, row[prefix + name] ?? null])),
      );
      if (found.length < operationsPerPage) return;
      after = numberIn(found.at(-1)?.[`${prefix}row`]);
    }
  }
  /** The rows of a set, in pages that are the same as when the plan was read. */
  async function* rowsOfPlan(
    { batch, accepted, ...read }: ReadPlan,
    set: RowSet,
    pagesOf: (columns: Record<string, string>) => AsyncIterable<Row[]>,
  ): AsyncIterable<RowResult> {
    const isIn = `CASE WHEN ${rowSets[set]} THEN 1 ELSE 0 END`;
    const columns = { ...rowColumns, recipient_key: "r.recipient_key", is_in: isIn };
    const digests = new PageDigests();
    let waiting: RowResult[] = [];
    const isSame = () => digests.pages.at(-1) === read.pages[digests.pages.length - 1];
    for await (const page of pagesOf(columns))
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
  }
  return { recordedPages, rowsOfPlan };
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

function addTally(sum: Tally | undefined, one: Tally): Tally {
  if (!sum) return one;
  const { sentBefore } = sum;
  return {
    ...one,
    count: sum.count + one.count,
    sumPaisa: sum.sumPaisa + one.sumPaisa,
    sentBefore: {
      count: sentBefore.count + one.sentBefore.count,
      sumPaisa: sentBefore.sumPaisa + one.sentBefore.sumPaisa,
    },
  };
}
const recipientColumns = {
  ...{ row: "r.row", recipient: "r.recipient", name: "r.name", amount_paisa: "r.amount_paisa" },
};
