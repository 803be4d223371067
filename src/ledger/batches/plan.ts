import { createHash } from "node:crypto";
import type { Database, Value } from "../../sqlite/database.ts";
import { payeeOf } from "../payee.ts";
import { recordPlan } from "../recorded.ts";
import { nowIn, type Worker } from "../worker.ts";
import type { Batch, PlannedRow } from "./batch.ts";

const rowsPerCommit = 20_000;
const rowsPerPage = 500;

/** Makes plans, and shows whether a plan still has the rows that it was made of. */
export function openPlans(database: Database, worker: Worker) {
  const count = database.prepare(
    "UPDATE batches SET row_count = ?, total_paisa = ?, digest = ?, created_at = ? WHERE number = ?",
  );
  const accept = database.prepare(
    "UPDATE batch_rows SET accepted = 1 WHERE batch = ? AND line IN (SELECT value FROM json_each(?))",
  );
  const replaceDigest = database.prepare("UPDATE batches SET digest = ? WHERE number = ?");
  const isUnaltered = ({ number, plan }: Batch): boolean =>
    plan?.digest === digestOf(database, number);
  return {
    /**
     * Makes these rows the plan of a batch. The plan counts only when its last row is durable: rows that an
     * interrupted run left are deleted first, because nothing of it was sent.
     *
     * @param check throws to forbid the plan, in the transaction that makes it count
     */
    plan: (batch: Batch, rows: Iterable<PlannedRow>, check: () => void): Batch => {
      const { number } = batch;
      deleteRows(database, number);
      const sum = insertRows(database, number, rows);
      const digest = digestOf(database, number);
      const createdAt = nowIn(worker);
      database.transaction(() => {
        check();
        count.run(BigInt(sum.rowCount), sum.totalPaisa, digest, createdAt, number);
        recordPlan(database, number, createdAt);
      });
      return { ...batch, createdAt, plan: { ...sum, digest } };
    },

    /** Stores that duplicates of the rows on these lines were accepted, in a plan that is unaltered. */
    acceptLines: (batch: Batch, lines: number[]): Batch =>
      database.transaction(() => {
        accept.run(batch.number, JSON.stringify(lines));
        const digest = digestOf(database, batch.number);
        replaceDigest.run(digest, batch.number);
        recordPlan(database, batch.number, nowIn(worker));
        return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
      }),

    /** Whether its rows are still those that were planned. */
    isUnaltered,
  };
}

function deleteRows(database: Database, number: bigint): void {
  const clear = database.prepare(
    `DELETE FROM batch_rows WHERE batch = ? AND row IN
       (SELECT row FROM batch_rows WHERE batch = ? LIMIT ${rowsPerCommit})`,
  );
  while (database.transaction(() => clear.run(number, number)) > 0);
}

/** Inserts the rows, some thousands in one commit, so that others need not wait for all of them. */
function insertRows(database: Database, number: bigint, rows: Iterable<PlannedRow>) {
  const insert = database.prepare(
    `INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method,
       name, description, cells, accepted, recipient_key, fingerprint)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
  );
  const waiting = rows[Symbol.iterator]();
  const sum = { rowCount: 0, totalPaisa: 0n };
  const insertSome = (): boolean => {
    for (let some = 0; some < rowsPerCommit; some += 1) {
      const next = waiting.next();
      if (next.done) return false;
      insert.run(number, ...valuesOf(next.value));
      sum.rowCount += 1;
      sum.totalPaisa += next.value.amountPaisa;
    }
    return true;
  };
  while (database.transaction(insertSome));
  return sum;
}

function valuesOf(row: PlannedRow): Value[] {
  return [
    ...[BigInt(row.row), BigInt(row.line), row.reference, row.amountPaisa, row.recipient],
    ...[row.methodId, row.method, row.name, row.description, JSON.stringify(row.cells)],
    ...[row.isAccepted ? 1n : 0n, payeeOf(row.recipient)],
  ];
}

/** Covers what is sent of every row of a plan, in its order. */
export function digestOf(database: Database, number: bigint): string {
  const hash = createHash("sha256");
  const page = database.prepare(
    `SELECT row, reference, amount_paisa, recipient, method_id, name, description, fingerprint, accepted
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${rowsPerPage}`,
  );
  for (let after = 0n; ; ) {
    const rows = page.all(number, after);
    for (const { accepted, ...row } of rows) {
      hash.update(JSON.stringify(Object.values(row).map(String)));
      // Plans that were made before there were accepted rows keep their digests.
      if (accepted === 1n) hash.update("accepted");
    }
    if (rows.length < rowsPerPage) return hash.digest("hex");
    after = BigInt(rows.at(-1)?.row ?? 0n);
  }
}
