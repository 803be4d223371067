import { createHash } from "node:crypto";
import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import type {
  Batch,
  BatchClaim,
  BatchFile,
  BatchStore,
  PlannedRow,
  PlanResult,
  RowResult,
  RowSet,
  Tally,
} from "../batch.ts";
import { type Holder, payeeOf } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { createBatchRows } from "./batch-rows.ts";
import { recordPlan } from "./chain.ts";
import { holderIn, reader, samePayoutInSql } from "./operation-rows.ts";

const rowsPerCommit = 20_000;
const rowsPerPage = 500;

/** The planned batches of an account, newest first. */
export function listBatches(database: Database, account: RunAccount, limit: number): Batch[] {
  return database
    .prepare(`${selectOf(account)} AND ${isPlanned} ORDER BY number DESC LIMIT ?`)
    .all(...whose(account), BigInt(limit))
    .map(batchOf);
}

function selectOf({ isAll }: RunAccount): string {
  return `SELECT * FROM batches WHERE ${isAll ? "true" : "account = ?"}`;
}

function whose(account: RunAccount): Value[] {
  return account.isAll ? [] : [account.number()];
}

/** The batches of one account in SQLite. */
export class SqliteBatches implements BatchStore {
  readonly #database: Database;
  readonly #worker: Worker;
  readonly #account: RunAccount;
  readonly #rows: ReturnType<typeof createBatchRows>;

  constructor(database: Database, worker: Worker, account: RunAccount) {
    this.#database = database;
    this.#worker = worker;
    this.#account = account;
    this.#rows = createBatchRows(database);
  }

  async withIdentity(identity: string): Promise<Batch | undefined> {
    return this.#one("identity = ?", identity);
  }

  async ofFile(hash: string, ownName: string | undefined): Promise<Batch | undefined> {
    return ownName === undefined
      ? this.#one(`file_hash = ? AND name = file_name AND ${isPlanned} ORDER BY ${newest}`, hash)
      : this.#one(`file_hash = ? AND name = ? AND ${isPlanned} ORDER BY ${newest}`, hash, ownName);
  }

  async newestOfFile(hash: string): Promise<Batch | undefined> {
    return this.#one(`file_hash = ? AND ${isPlanned} ORDER BY ${newest}`, hash);
  }

  async find(name: string): Promise<Batch | undefined> {
    return this.#withId(name.toUpperCase()) ?? this.#named(name);
  }

  async list(limit: number): Promise<Batch[]> {
    return listBatches(this.#database, this.#account, limit);
  }

  async unfinishedNamed(name: string): Promise<Batch | undefined> {
    return this.#unfinishedNamed(name);
  }

  async holderOf(batch: Batch): Promise<Holder | undefined> {
    return this.#holderOf(batch);
  }

  async claim(file: BatchFile): Promise<BatchClaim> {
    return this.#database.transaction(() => {
      const known = this.#one("identity = ?", file.identity);
      if (known?.plan) return this.#claimKnown(known);
      const by = known && this.#holderOf(known);
      if (known && by) return { kind: "held", batch: known, by };
      const other = this.#unfinishedNamed(file.name);
      if (other) return { kind: "other-rows", batch: other };
      return {
        kind: "ours",
        batch: this.#lock(known ? this.#renew(known, file) : this.#add(file)),
      };
    });
  }

  async claimPlanned(batch: Batch): Promise<BatchClaim> {
    return this.#database.transaction(() => this.#claimKnown(this.#withId(batch.id) ?? batch));
  }

  async release({ number }: Batch): Promise<void> {
    this.#database.prepare("UPDATE batches SET holder = NULL WHERE number = ?").run(number);
  }

  async plan(batch: Batch, rows: Iterable<PlannedRow>, checkedUpTo: bigint): Promise<PlanResult> {
    const { number } = batch;
    // An interrupted run may have left rows; nothing of them was sent.
    this.#deleteRows(number);
    const sum = this.#insertRows(number, rows);
    const digest = digestOf(this.#database, number);
    const createdAt = nowIn(this.#worker);
    return this.#database.transaction(() => {
      const other = this.#unfinishedNamed(batch.name);
      if (other) return { kind: "other-rows", batch: other };
      if (this.#database.prepare(changedSince).get(number, checkedUpTo)) return { kind: "changed" };
      this.#database
        .prepare(
          "UPDATE batches SET row_count = ?, total_paisa = ?, digest = ?, created_at = ? WHERE number = ?",
        )
        .run(BigInt(sum.rowCount), sum.totalPaisa, digest, createdAt, number);
      recordPlan(this.#database, number, createdAt);
      return { kind: "planned", batch: { ...batch, createdAt, plan: { ...sum, digest } } };
    });
  }

  async acceptLines(batch: Batch, lines: number[]): Promise<Batch> {
    return this.#database.transaction(() => {
      this.#database
        .prepare(
          "UPDATE batch_rows SET accepted = 1 WHERE batch = ? AND line IN (SELECT value FROM json_each(?))",
        )
        .run(batch.number, JSON.stringify(lines));
      const digest = digestOf(this.#database, batch.number);
      this.#database
        .prepare("UPDATE batches SET digest = ? WHERE number = ?")
        .run(digest, batch.number);
      recordPlan(this.#database, batch.number, nowIn(this.#worker));
      return { ...batch, plan: batch.plan && { ...batch.plan, digest } };
    });
  }

  async isUnaltered({ number, plan }: Batch): Promise<boolean> {
    return plan?.digest === digestOf(this.#database, number);
  }

  async cancel(batch: Batch): Promise<Batch> {
    const cancelledAt = nowIn(this.#worker);
    this.#database.transaction(() => {
      this.#database
        .prepare("UPDATE batches SET cancelled_at = ?, holder = NULL WHERE number = ?")
        .run(cancelledAt, batch.number);
      recordPlan(this.#database, batch.number, cancelledAt);
    });
    return { ...batch, cancelledAt, holder: null };
  }

  async tally(batch: Batch): Promise<Tally[]> {
    return this.#rows.tally(batch);
  }

  async sentBefore(batch: Batch): Promise<{ count: number; sumPaisa: bigint }> {
    return this.#rows.sentBefore(batch);
  }

  async sentBetween(batch: Batch): Promise<{ first: string; last: string } | undefined> {
    return this.#rows.sentBetween(batch);
  }

  async newReferences({ number }: Batch): Promise<string[]> {
    return this.#database
      .prepare(
        "SELECT reference FROM batch_rows WHERE batch = ? AND reference GLOB '*-lenden[1-9]*'",
      )
      .all(number)
      .map(({ reference }) => String(reference));
  }

  async *rows(batch: Batch, set: RowSet): AsyncIterable<RowResult> {
    yield* this.#rows.results(batch, set);
  }

  #one(condition: string, ...values: string[]): Batch | undefined {
    const row = this.#database
      .prepare(`${selectOf(this.#account)} AND ${condition}`)
      .get(...whose(this.#account), ...values);
    return row && batchOf(row);
  }

  #withId(id: string): Batch | undefined {
    return this.#one("id = ?", id);
  }

  #named(name: string): Batch | undefined {
    return this.#one(
      `? IN (name, file_name) AND ${isPlanned} ORDER BY name = ? DESC, ${newest}`,
      name,
      name,
    );
  }

  #unfinishedNamed(name: string): Batch | undefined {
    const batch = this.#named(name);
    if (!batch || batch.cancelledAt !== null) return undefined;
    return this.#database.prepare(hasOpenRow).get(batch.number) && batch;
  }

  #holderOf({ holder }: Batch): Holder | undefined {
    return holder && this.#worker.isAlive(holder) ? holder : undefined;
  }

  #claimKnown(batch: Batch): BatchClaim {
    const by = this.#holderOf(batch);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    return { kind: "ours", batch: this.#lock(batch) };
  }

  #lock(batch: Batch): Batch {
    const holder = holderNow(this.#worker);
    this.#database
      .prepare("UPDATE batches SET holder = ? WHERE number = ?")
      .run(JSON.stringify(holder), batch.number);
    return { ...batch, holder };
  }

  /** A batch that is not planned yet. */
  #add(file: BatchFile): Batch {
    const { profile, environment } = this.#worker.owner;
    const { name, fileName, hash, identity, columns, method } = file;
    const at = nowIn(this.#worker);
    const id = idOf(identity, (id) => this.#withId(id) !== undefined);
    const row = this.#database
      .prepare(insertBatch)
      .get(
        ...[id, profile, environment, this.#account.store(at).number],
        ...[name, fileName, hash, identity, JSON.stringify(columns), method],
        ...[this.#worker.user, at],
      );
    return batchOf(row ?? {});
  }

  /** A batch that was claimed and never planned: the file as it is now counts. */
  #renew({ number }: Batch, { name, fileName, hash, columns, method }: BatchFile): Batch {
    const row = this.#database
      .prepare(
        "UPDATE batches SET name = ?, file_name = ?, file_hash = ?, columns = ?, method = ? WHERE number = ? RETURNING *",
      )
      .get(name, fileName, hash, JSON.stringify(columns), method, number);
    return batchOf(row ?? {});
  }

  #deleteRows(number: bigint): void {
    const clear = this.#database.prepare(
      `DELETE FROM batch_rows WHERE batch = ? AND row IN
         (SELECT row FROM batch_rows WHERE batch = ? LIMIT ${rowsPerCommit})`,
    );
    while (this.#database.transaction(() => clear.run(number, number)) > 0);
  }

  /** Some thousands in one commit, so that other processes need not wait for all of them. */
  #insertRows(number: bigint, rows: Iterable<PlannedRow>) {
    const insert = this.#database.prepare(insertRow);
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
    while (this.#database.transaction(insertSome));
    return sum;
  }
}

const isPlanned = "digest IS NOT NULL";
const newest = "number DESC LIMIT 1";

const hasOpenRow = `
  SELECT 1 FROM batch_rows r JOIN batches b ON b.number = r.batch
    LEFT JOIN operations o ON o.account = b.account AND o.reference = r.reference
      AND ${samePayoutInSql} AND o.state = 'CONFIRMED' AND o.status IS NOT 'Cancelled'
  WHERE r.batch = ? AND o.number IS NULL LIMIT 1`;

/**
 * A change after an event that concerns a row of a batch, by a payout or a plan of any account. One SELECT per
 * index: with OR, SQLite would compare all rows of two plans with each other.
 */
const changedSince = ["operations o ON o.number = e.operation", "batch_rows o ON o.batch = e.batch"]
  .flatMap((changed) =>
    [
      "r.reference = o.reference",
      "r.recipient_key = o.recipient_key AND r.amount_paisa = o.amount_paisa",
    ].map(
      (isSame) => `
        SELECT 1 FROM events e CROSS JOIN ${changed} CROSS JOIN batch_rows r ON ${isSame}
        WHERE e.number > ?2 AND e.batch IS NOT ?1 AND r.batch = ?1`,
    ),
  )
  .join(" UNION ALL ")
  .concat(" LIMIT 1");

const insertBatch = `
  INSERT INTO batches (id, profile, environment, account,
    name, file_name, file_hash, identity, columns, method, user, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`;

const insertRow = `
  INSERT INTO batch_rows (batch, row, line, reference, amount_paisa, recipient, method_id, method,
    name, description, cells, accepted, recipient_key, fingerprint)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')`;

function valuesOf(row: PlannedRow): Value[] {
  return [
    ...[BigInt(row.row), BigInt(row.line), row.reference, row.amountPaisa, row.recipient],
    ...[row.methodId, row.method, row.name, row.description, JSON.stringify(row.cells)],
    ...[row.isAccepted ? 1n : 0n, payeeOf(row.recipient)],
  ];
}

/** A row of the table `batches`. */
export function batchOf(row: Row): Batch {
  const { text, maybe } = reader(row);
  const plan = {
    rowCount: Number(row.row_count),
    totalPaisa: BigInt(row.total_paisa ?? 0n),
    digest: text("digest"),
  };
  return {
    number: BigInt(row.number ?? 0n),
    id: text("id"),
    name: text("name"),
    fileName: text("file_name"),
    fileHash: text("file_hash"),
    identity: maybe("identity"),
    columns: JSON.parse(text("columns")),
    method: maybe("method"),
    user: text("user"),
    createdAt: text("created_at"),
    cancelledAt: maybe("cancelled_at"),
    holder: holderIn(row),
    plan: row.digest ? plan : null,
  };
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

/** Letters and digits that are not mistaken for each other when read aloud. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Longer only if two batches would share it. */
function idOf(identity: string, isTaken: (id: string) => boolean): string {
  const letters = [...Buffer.from(identity, "hex")].map((byte) => alphabet[byte % 32]).join("");
  for (let length = 6; ; length += 1) {
    const id = `B${letters.slice(0, length)}`;
    if (!isTaken(id)) return id;
  }
}
