import { createHash } from "node:crypto";
import type { Batch, Plan, PlannedRow, RowResult, Tally } from "./batch.ts";
import type { Database, Row } from "./database.ts";
import { openDraft } from "./draft.ts";
import type { Worker } from "./ledger.ts";
import type { Holder } from "./operation.ts";
import { batchOf, plannedRowOf, rowResultOf, tallyOf } from "./rows.ts";

/** A file that is to become a batch. */
export interface BatchFile {
  name: string;
  hash: string;
  columns: string[];
  method: string | null;
}

/** What came of asking for the batch of a file. */
export type BatchClaim =
  /** Ours; `plan` of it is null until it was planned. */
  | { kind: "ours"; batch: Batch }
  | { kind: "held"; batch: Batch; by: Holder }
  /** Another file of the same name was planned before. */
  | { kind: "other file"; batch: Batch };

const pageSize = 500;
const rowsPerCommit = 20_000;
/** Letters and digits that nobody mixes up when reading them aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export type Batches = ReturnType<typeof openBatches>;

/** The batches of one account: plans, and what came of their rows. */
export function openBatches(database: Database, worker: Worker) {
  const { profile, environment, baseUrl, keyId } = worker.owner;
  const own = "base_url = ? AND key_id = ?";
  const one = (sql: string, ...values: string[]): Batch | undefined => {
    const row = database.prepare(sql).get(baseUrl, keyId, ...values);
    return row && batchOf(row);
  };
  const joined = `FROM batch_rows r LEFT JOIN operations o
    ON o.base_url = ? AND o.key_id = ? AND o.reference = r.reference WHERE r.batch = ?`;
  // A reference that was used for another payout says nothing of this one, but that it cannot be sent.
  const isOwn = "o.fingerprint = r.fingerprint";
  // A refusal for want of access said nothing of the payout itself: it is still to be sent.
  const state = `CASE WHEN o.fingerprint != r.fingerprint THEN 'CONFLICT'
    WHEN o.state = 'REFUSED' AND o.code = 'access' THEN 'NOT_SENT' ELSE o.state END AS state`;
  const ofRow = (column: string) => `CASE WHEN ${isOwn} THEN o.${column} END`;
  const result = `r.*, ${state}, ${ofRow("remote_id")} AS remote_id, ${ofRow("status")} AS status,
    ${ofRow("code")} AS code, ${ofRow("message")} AS message, ${ofRow("created_at")} AS sent_at,
    ${ofRow("updated_at")} AS updated_at`;
  const take = (batch: Batch): Batch => {
    const holder = { ...worker.holder, since: new Date(worker.now()).toISOString() };
    database
      .prepare("UPDATE batches SET holder = ? WHERE number = ?")
      .run(JSON.stringify(holder), batch.number);
    return { ...batch, holder };
  };

  const ofFile = (hash: string) =>
    one(`SELECT * FROM batches WHERE ${own} AND file_hash = ?`, hash);
  const named = (name: string) =>
    one(
      `SELECT * FROM batches WHERE ${own} AND name = ? AND digest IS NOT NULL ORDER BY number DESC LIMIT 1`,
      name,
    );
  const holderOf = ({ holder }: Batch) => (holder && worker.isAlive(holder) ? holder : undefined);

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
    /** Where a file is read and looked at before anything of it is kept. */
    draft: () => openDraft(database, worker.owner),

    ofFile,

    /** By its id, or by its name. */
    find: (name: string): Batch | undefined =>
      one(`SELECT * FROM batches WHERE ${own} AND id = ?`, name.toUpperCase()) ?? named(name),

    /** The one that was planned by this name. */
    named,

    /** Newest first. */
    list: (limit: number): Batch[] =>
      database
        .prepare(
          `SELECT * FROM batches WHERE ${own} AND digest IS NOT NULL ORDER BY number DESC LIMIT ?`,
        )
        .all(baseUrl, keyId, BigInt(limit))
        .map(batchOf),

    /** The process that works on it, where one still does. */
    holderOf,

    /** Asks for the batch of a file: one process at a time, one file for a name. */
    claim: ({ name, hash, columns, method }: BatchFile): BatchClaim =>
      database.transaction(() => {
        const known = ofFile(hash);
        const by = known && holderOf(known);
        if (known && by) return { kind: "held", batch: known, by };
        if (known) return { kind: "ours", batch: take(known) };
        const other = named(name);
        if (other) return { kind: "other file", batch: other };
        const row = database
          .prepare(
            `INSERT INTO batches (id, profile, environment, base_url, key_id, name, file_hash, columns,
               method, user, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
          )
          .get(
            shortId(hash),
            profile,
            environment,
            baseUrl,
            keyId,
            name,
            hash,
            JSON.stringify(columns),
            method,
            worker.user,
            new Date(worker.now()).toISOString(),
          );
        return { kind: "ours", batch: take(batchOf(row ?? {})) };
      }),

    /**
     * Makes the draft the plan of a batch. It is one only when the last row is durable: a plan that
     * was interrupted is thrown away by the next, for nothing of it was sent.
     *
     * @returns undefined where another file got the name meanwhile
     */
    plan: (batch: Batch, { rowCount, totalPaisa }: Omit<Plan, "digest">): Batch | undefined => {
      const { number } = batch;
      const clear = database.prepare(
        `DELETE FROM batch_rows WHERE batch = ? AND row IN
           (SELECT row FROM batch_rows WHERE batch = ? LIMIT ${rowsPerCommit})`,
      );
      while (database.transaction(() => clear.run(number, number)) > 0);
      const copy = database.prepare(
        `INSERT INTO batch_rows SELECT ?, row, line, reference, amount_paisa, recipient, method_id,
           method, name, description, cells, fingerprint
         FROM draft_rows WHERE row > ? AND row <= ?`,
      );
      for (let after = 0; after < rowCount; after += rowsPerCommit) {
        database.transaction(() => copy.run(number, BigInt(after), BigInt(after + rowsPerCommit)));
      }
      const digest = digestOf(number);
      const changed = database
        .prepare(
          "UPDATE OR IGNORE batches SET row_count = ?, total_paisa = ?, digest = ? WHERE number = ?",
        )
        .run(BigInt(rowCount), totalPaisa, digest, number);
      return changed === 0 ? undefined : { ...batch, plan: { rowCount, totalPaisa, digest } };
    },

    /** Whether its rows are still those that were planned. */
    isUnaltered: ({ number, plan }: Batch): boolean => plan?.digest === digestOf(number),

    /** Nobody works on it any longer. */
    letGo: ({ number }: Batch): void => {
      database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
    },

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

    /** The ids of batches whose rows are not those that were planned. */
    altered: (): string[] =>
      database
        .prepare("SELECT * FROM batches WHERE digest IS NOT NULL ORDER BY number")
        .all()
        .map(batchOf)
        .filter(({ number, plan }) => plan?.digest !== digestOf(number))
        .map(({ id }) => id),
  };

  function digestOf(number: bigint): string {
    const hash = createHash("sha256");
    const page = database.prepare(
      `SELECT row, reference, amount_paisa, recipient, method_id, name, description, fingerprint
       FROM batch_rows WHERE batch = ? AND row > ? ORDER BY row LIMIT ${pageSize}`,
    );
    for (let after = 0n; ; ) {
      const rows = page.all(number, after);
      for (const row of rows) hash.update(JSON.stringify(Object.values(row).map(String)));
      if (rows.length < pageSize) return hash.digest("hex");
      after = BigInt(rows.at(-1)?.row ?? 0n);
    }
  }

  /** Longer only where two files would share it. */
  function shortId(hash: string): string {
    const letters = [...Buffer.from(hash, "hex")].map((byte) => alphabet[byte % 32]).join("");
    for (let length = 6; ; length += 1) {
      const id = `B${letters.slice(0, length)}`;
      if (!one(`SELECT * FROM batches WHERE ${own} AND id = ?`, id)) return id;
    }
  }
}

function* flat<Item>(pages: Iterable<Row[]>, read: (row: Row) => Item): Iterable<Item> {
  for (const page of pages) for (const row of page) yield read(row);
}
