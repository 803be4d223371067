import { createHash } from "node:crypto";
import type { Database } from "../../sqlite/database.ts";
import { recordPlan } from "../recorded.ts";
import { nowIn, type Worker } from "../worker.ts";
import type { Batch, Plan } from "./batch.ts";

const rowsPerCommit = 20_000;
const rowsPerPage = 500;

/** Makes plans of drafts, and shows whether a plan still has the rows that it was made of. */
export function openPlans(database: Database, worker: Worker) {
  const count = database.prepare(
    "UPDATE OR IGNORE batches SET row_count = ?, total_paisa = ?, digest = ?, created_at = ? WHERE number = ?",
  );
  const isUnaltered = ({ number, plan }: Batch): boolean =>
    plan?.digest === planDigest(database, number);
  return {
    /**
     * Makes the draft the plan of a batch. The plan counts only when its last row is durable: what an
     * interrupted run left of one is deleted first, for nothing of it was sent.
     *
     * @param check throws to forbid it, in the transaction that makes it count
     * @returns undefined where another file got the name meanwhile
     */
    plan: (
      batch: Batch,
      { rowCount, totalPaisa }: Omit<Plan, "digest">,
      check: () => void,
    ): Batch | undefined => {
      const { number } = batch;
      deleteRows(database, number);
      copyDraft(database, number, rowCount);
      const digest = planDigest(database, number);
      const createdAt = nowIn(worker);
      const changed = database.transaction(() => {
        check();
        const counted = count.run(BigInt(rowCount), totalPaisa, digest, createdAt, number);
        if (counted > 0) recordPlan(database, number, createdAt);
        return counted;
      });
      const plan = { rowCount, totalPaisa, digest };
      return changed === 0 ? undefined : { ...batch, createdAt, plan };
    },

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

function copyDraft(database: Database, number: bigint, rowCount: number): void {
  const copy = database.prepare(
    `INSERT INTO batch_rows SELECT ?, row, line, reference, amount_paisa, recipient, method_id,
       method, name, description, cells, fingerprint
     FROM draft_rows WHERE row > ? AND row <= ?`,
  );
  for (let after = 0; after < rowCount; after += rowsPerCommit) {
    database.transaction(() => copy.run(number, BigInt(after), BigInt(after + rowsPerCommit)));
  }
}

/** Covers what is sent of every row of a plan, in its order. */
export function planDigest(database: Database, number: bigint): string {
  const hash = createHash("sha256");
  const page = database.prepare(
    `SELECT row, reference, amount_paisa, recipient, method_id, name, description, fingerprint
     FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${rowsPerPage}`,
  );
  for (let after = 0n; ; ) {
    const rows = page.all(number, after);
    for (const row of rows) hash.update(JSON.stringify(Object.values(row).map(String)));
    if (rows.length < rowsPerPage) return hash.digest("hex");
    after = BigInt(rows.at(-1)?.row ?? 0n);
  }
}
