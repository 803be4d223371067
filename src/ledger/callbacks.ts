import { hash } from "node:crypto";
import { accountInSql, makeAccount } from "./account.ts";
import type {
  CallbackRequest,
  CallbackSource,
  CallbackVerdict,
  Forwarded,
  StoredCallback,
} from "./callback.ts";
import { openCallbackQueue } from "./callback-queue.ts";
import type { Database, Row } from "./database.ts";
import { callbackOf } from "./rows.ts";
import type { Worker } from "./worker.ts";

export type Callbacks = ReturnType<typeof openCallbacks>;

/** The same within this time is one: senders repeat themselves, and so do floods. */
const sameWithinMs = 60_000;
/** How many of each verdict are kept: anybody can send callbacks, and they must not fill the disk. */
const keptOf = (verdict: string): bigint => (verdict === "unknown" ? 1_000n : 5_000n);

/** What came from outside, of one account. Every change is one transaction, durable when it returns. */
export function openCallbacks(database: Database, worker: Worker) {
  const owner = [worker.owner.baseUrl, worker.owner.keyId] as const;
  const own = `account = ${accountInSql}`;
  const queue = openCallbackQueue(database, worker);
  const read = (row: Row): StoredCallback => ({ ...callbackOf(row), isHeld: queue.isHeld(row) });
  const insert = database.prepare(
    `INSERT INTO callbacks (account, source, received_at, count, digest, method, target, headers,
       body, looks, due_at)
     VALUES (${accountInSql}, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, 0, ?4) RETURNING *`,
  );
  const again = database.prepare(
    `UPDATE callbacks SET count = count + 1 WHERE number = (SELECT number FROM callbacks
       WHERE ${own} AND digest = ? AND received_at >= ? ORDER BY number DESC LIMIT 1) RETURNING *`,
  );
  const judge = database.prepare(
    `UPDATE callbacks SET verdict = ?1, because = ?2, records = ?3, finding = ?4, looks = 0,
       forwarded_to = coalesce(?5, forwarded_to),
       forwarded_status = CASE WHEN ?5 IS NULL THEN forwarded_status END,
       forwarded_finding = CASE WHEN ?5 IS NULL THEN forwarded_finding END
     WHERE number = ?6`,
  );
  const prune = database.prepare(
    `DELETE FROM callbacks WHERE number IN (SELECT number FROM callbacks
       WHERE ${own} AND verdict = ?3 AND (due_at IS NULL OR ?3 NOT IN ('genuine', 'unanswered'))
       ORDER BY number DESC LIMIT -1 OFFSET ?4)`,
  );
  const pass = database.prepare(
    `UPDATE callbacks SET forwarded_to = ?, forwarded_status = ?, forwarded_finding = ?
     WHERE number = ?`,
  );
  const byNumber = database.prepare(`SELECT * FROM callbacks WHERE ${own} AND number = ?`);
  const newest = database.prepare(
    `SELECT * FROM callbacks WHERE ${own} AND (?3 IS NULL OR verdict = ?3)
     ORDER BY number DESC LIMIT ?4`,
  );
  const ago = (ms: number) => new Date(worker.now() - ms).toISOString();
  return {
    /**
     * Keeps it, or counts it where the same one came within a minute. Secrets are taken out.
     * Undefined where too many wait already: those were promised to their senders.
     */
    keep: (request: CallbackRequest, source: CallbackSource): StoredCallback | undefined =>
      database.transaction(() => {
        const { method, target, headers, body } = request;
        const digest = digestOf(request);
        const same = again.get(...owner, digest, ago(sameWithinMs));
        if (same) return read(same);
        if (queue.isFull()) return undefined;
        makeAccount(database, worker.owner);
        const kept = insert.get(
          ...[...owner, source, ago(0), digest, method, worker.scrub(target)],
          worker.scrub(JSON.stringify(headers)),
          base64(body, worker.scrub),
        );
        if (!kept) throw new Error("the ledger did not keep a callback");
        return read(kept);
      }),

    /** `to`: the handler that has to get it; it has not, until `passedOn` says so. */
    judge: (number: number, judged: CallbackVerdict, { to }: { to: string | undefined }): void =>
      database.transaction(() => {
        const { verdict, because, records, finding } = judged;
        const said = because === null ? null : worker.scrub(because);
        const where = to === undefined ? null : worker.scrub(to);
        const all = worker.scrub(JSON.stringify(records));
        judge.run(verdict, said, all, finding, where, BigInt(number));
        prune.run(...owner, verdict, keptOf(verdict));
      }),

    passedOn: (number: number, { to, status, finding }: Forwarded): void =>
      database.transaction(() => {
        const answer = status === null ? null : BigInt(status);
        pass.run(worker.scrub(to), answer, finding, BigInt(number));
      }),

    find: (number: number): StoredCallback | undefined => {
      const row = byNumber.get(...owner, BigInt(number));
      return row && read(row);
    },

    /** Newest first. */
    list: ({ verdict, limit }: { verdict: string | undefined; limit: number }): StoredCallback[] =>
      newest.all(...owner, verdict ?? null, BigInt(limit)).map(read),

    /** Those that are to be looked at by now, the never verified first, then the least tried. */
    due: (to: string | undefined): StoredCallback[] => queue.due(to).map(read),

    /** Takes it for this process; undefined where another one works on it. */
    claim: (number: number): StoredCallback | undefined => {
      const row = queue.claim(number);
      return row && read(row);
    },

    letGo: queue.letGo,
  };
}

/** Whether two are the same depends on no header but those that change what the body is. */
function digestOf({ method, target, headers, body }: CallbackRequest): string {
  const { "content-type": type = "", "content-encoding": encoding = "" } = headers;
  const head = JSON.stringify([method, target, type, encoding]);
  return hash("sha256", Buffer.concat([Buffer.from(head), body]));
}

/** The bytes, lossless, but for secrets: a byte is a character here, and back. */
function base64(body: Uint8Array, scrub: (text: string) => string): string {
  const scrubbed = scrub(Buffer.from(body).toString("latin1"));
  return Buffer.from(scrubbed, "latin1").toString("base64");
}
