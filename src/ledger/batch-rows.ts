import { accountInSql } from "./account.ts";
import type { Batch, PlannedRow, RowResult, Tally } from "./batch.ts";
import type { Database, Row } from "./database.ts";
import type { Owner } from "./operation.ts";
import { plannedRowOf, rowResultOf, tallyOf } from "./rows.ts";

const pageSize = 500;

/**
 * The rows of batches, beside the operations of their references. Where a row stands is read from
 * its operation each time, and kept nowhere else.
 */
export function openBatchRows(database: Database, { baseUrl, keyId }: Owner) {
  const joined = `FROM batch_rows r LEFT JOIN operations o
    ON o.account = ${accountInSql} AND o.reference = r.reference WHERE r.batch = ?`;
  // A reference that was used for another payout says nothing of this one, but that it cannot be sent.
  const isOwn = "o.fingerprint = r.fingerprint";
  // A refusal for want of access said nothing of the payout itself: it is still to be sent.
  const state = `CASE WHEN o.fingerprint != r.fingerprint THEN 'CONFLICT'
    WHEN o.state = 'REFUSED' AND o.code = 'access' THEN 'NOT_SENT' ELSE o.state END AS state`;
  const ofRow = (column: string) => `CASE WHEN ${isOwn} THEN o.${column} END`;
  const result = `r.*, ${state}, ${ofRow("remote_id")} AS remote_id, ${ofRow("status")} AS status,
    ${ofRow("code")} AS code, ${ofRow("message")} AS message, ${ofRow("created_at")} AS sent_at,
    ${ofRow("updated_at")} AS updated_at`;
  /** Page by page, so that memory does not grow with the batch. */
  function* pages(select: string, { number }: Batch, more: string): Iterable<Row[]> {
    const page = database.prepare(
      `SELECT ${select} ${joined} AND r.row > ? ${more} ORDER BY r.row LIMIT ${pageSize}`,
    );
    for (let after = 0n; ; ) {
      const rows = page.all(baseUrl, keyId, number, after);
      if (rows.length > 0) yield rows;
      if (rows.length < pageSize) return;
      after = BigInt(rows.at(-1)?.row ?? 0n);
    }
  }

  return {
    tally: ({ number }: Batch): Tally[] =>
      database
        .prepare(
          `SELECT ${state}, ${ofRow("status")} AS status, count(*) AS count,
             sum(r.amount_paisa) AS sum ${joined} GROUP BY 1, 2`,
        )
        .all(baseUrl, keyId, number)
        .map(tallyOf),

    /** Rows whose payout was made before the batch was: by another one, or by itself. */
    sentBefore: ({ number, createdAt }: Batch): { count: number; sumPaisa: bigint } => {
      const row = database
        .prepare(
          `SELECT count(*) AS count, sum(r.amount_paisa) AS sum ${joined}
             AND ${isOwn} AND o.state = 'CONFIRMED' AND o.created_at < ?`,
        )
        .get(baseUrl, keyId, number, createdAt);
      return { count: Number(row?.count ?? 0n), sumPaisa: BigInt(row?.sum ?? 0n) };
    },

    /** Rows of which nobody knows whether they were paid. */
    doubtful: (batch: Batch): Iterable<RowResult> =>
      flat(
        pages(result, batch, `AND ${isOwn} AND o.state IN ('INTENT', 'UNCERTAIN')`),
        rowResultOf,
      ),

    /** Rows that were not sent, as far as is proved, and that may be. */
    unsent: (batch: Batch): Iterable<PlannedRow> =>
      flat(
        pages(
          "r.*",
          batch,
          `AND (o.state IS NULL OR (${isOwn} AND
            (o.state = 'NOT_SENT' OR (o.state = 'REFUSED' AND o.code = 'access'))))`,
        ),
        plannedRowOf,
      ),

    /** All rows with what came of them. */
    results: (batch: Batch): Iterable<RowResult> => flat(pages(result, batch, ""), rowResultOf),

    /** Confirmed rows that had not ended when they were last looked at. */
    unfinished: (batch: Batch): Iterable<RowResult> =>
      flat(
        pages(
          result,
          batch,
          `AND ${isOwn} AND o.state = 'CONFIRMED' AND o.status NOT IN ('Completed', 'Cancelled')`,
        ),
        rowResultOf,
      ),
  };
}

function* flat<Item>(pages: Iterable<Row[]>, read: (row: Row) => Item): Iterable<Item> {
  for (const page of pages) for (const row of page) yield read(row);
}
