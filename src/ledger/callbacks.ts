import { hash } from "node:crypto";
import type { Resource } from "../contract/words.ts";
import { accountNumber, makeAccount } from "./account.ts";
import type { Database } from "./database.ts";
import type { Worker } from "./ledger.ts";
import { callbackOf } from "./rows.ts";

/** A request as it came from outside. */
export interface CallbackRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** `polled`: made here, because the service was seen to have another status than before. */
export type CallbackSource = "received" | "polled";

/** What it came to, once the service was asked. */
export interface CallbackVerdict {
  verdict: string;
  because: string | null;
  records: CheckedRecord[];
}

/** What was claimed of a record, beside what the service has. */
export interface CheckedRecord {
  kind: Resource | null;
  id: string;
  claimed: { status: string | null; amount: string | null };
  /** Null where the service does not know it. */
  verified: { status: string; amount: number; description: string | null } | null;
}

export interface StoredCallback extends CallbackRequest {
  number: number;
  source: CallbackSource;
  /** ISO 8601: when it came first. */
  receivedAt: string;
  /** How often the same came within a minute. */
  count: number;
  /** Null until the service was asked. */
  judged: CallbackVerdict | null;
  /** Where it was passed on to, and the status that answered; null without an answer. */
  forwarded: { to: string; status: number | null } | null;
}

export type Callbacks = ReturnType<typeof openCallbacks>;

/** The same within this time is one: senders repeat themselves, and so do floods. */
const sameWithinMs = 60_000;
/** How many of a verdict stay: anybody can send them, and the disk must not fill with it. */
const keptOf = (verdict: string): bigint => (verdict === "unknown" ? 1_000n : 5_000n);
/** What nobody verified by then is looked at by hand, if at all. */
const pendingForMs = 24 * 60 * 60_000;

/** What came from outside, of one account. Every change is one transaction, durable when it returns. */
export function openCallbacks(database: Database, worker: Worker) {
  const owner = [worker.owner.baseUrl, worker.owner.keyId] as const;
  const own = `account = ${accountNumber}`;
  const insert = database.prepare(
    `INSERT INTO callbacks (account, source, received_at, count, digest, method, target, headers, body)
     VALUES (${accountNumber}, ?, ?, 1, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const again = database.prepare(
    `UPDATE callbacks SET count = count + 1 WHERE number = (SELECT number FROM callbacks
       WHERE ${own} AND digest = ? AND received_at >= ? ORDER BY number DESC LIMIT 1) RETURNING *`,
  );
  const judge = database.prepare(
    "UPDATE callbacks SET verdict = ?, because = ?, records = ? WHERE number = ?",
  );
  const prune = database.prepare(
    `DELETE FROM callbacks WHERE number IN (SELECT number FROM callbacks
       WHERE ${own} AND verdict = ? ORDER BY number DESC LIMIT -1 OFFSET ?)`,
  );
  const pass = database.prepare(
    "UPDATE callbacks SET forwarded_to = ?, forwarded_status = ? WHERE number = ?",
  );
  const byNumber = database.prepare(`SELECT * FROM callbacks WHERE ${own} AND number = ?`);
  const newest = database.prepare(
    `SELECT * FROM callbacks WHERE ${own} AND (?3 IS NULL OR verdict = ?3)
     ORDER BY number DESC LIMIT ?4`,
  );
  const pending = database.prepare(
    `SELECT * FROM callbacks WHERE ${own} AND received_at >= ?
       AND (verdict IS NULL OR verdict = 'unanswered' OR (source = 'polled'
         AND forwarded_to IS NOT NULL AND ifnull(forwarded_status, 500) NOT BETWEEN 200 AND 299))
     ORDER BY number LIMIT 100`,
  );
  const ago = (ms: number) => new Date(worker.now() - ms).toISOString();
  return {
    /** Keeps it, or counts it where the same one came within a minute. Secrets are taken out. */
    keep: (request: CallbackRequest, source: CallbackSource): StoredCallback =>
      database.transaction(() => {
        const { method, target, headers, body } = request;
        const digest = digestOf(request);
        const same = again.get(...owner, digest, ago(sameWithinMs));
        if (same) return callbackOf(same);
        makeAccount(database, worker.owner);
        const kept = insert.get(
          ...[...owner, source, ago(0), digest, method, worker.scrub(target)],
          worker.scrub(JSON.stringify(headers)),
          base64(body, worker.scrub),
        );
        if (!kept) throw new Error("the ledger did not keep a callback");
        return callbackOf(kept);
      }),

    judge: (number: number, { verdict, because, records }: CallbackVerdict): void =>
      database.transaction(() => {
        const said = because === null ? null : worker.scrub(because);
        judge.run(verdict, said, worker.scrub(JSON.stringify(records)), BigInt(number));
        prune.run(...owner, verdict, keptOf(verdict));
      }),

    passedOn: (number: number, { to, status }: { to: string; status: number | null }): void =>
      database.transaction(() => {
        pass.run(worker.scrub(to), status === null ? null : BigInt(status), BigInt(number));
      }),

    find: (number: number): StoredCallback | undefined => {
      const row = byNumber.get(...owner, BigInt(number));
      return row && callbackOf(row);
    },

    /** Newest first. */
    list: ({ verdict, limit }: { verdict: string | undefined; limit: number }): StoredCallback[] =>
      newest.all(...owner, verdict ?? null, BigInt(limit)).map(callbackOf),

    /**
     * Kept, and not verified yet: a run was killed, or the service did not answer. And what was made
     * here and did not arrive: no sender comes again with that. Oldest first.
     */
    pending: (): StoredCallback[] => pending.all(...owner, ago(pendingForMs)).map(callbackOf),
  };
}

/** Whether two are the same does not depend on headers: those differ with every delivery. */
function digestOf({ method, target, headers, body }: CallbackRequest): string {
  const head = JSON.stringify([method, target, headers["content-type"] ?? ""]);
  return hash("sha256", Buffer.concat([Buffer.from(head), body]));
}

/** The bytes, lossless, but for secrets: a byte is a character here, and back. */
function base64(body: Uint8Array, scrub: (text: string) => string): string {
  const scrubbed = scrub(Buffer.from(body).toString("latin1"));
  return Buffer.from(scrubbed, "latin1").toString("base64");
}
