import { hash } from "node:crypto";
import type { Database, Row } from "../../sqlite/database.ts";
import type { RunAccount } from "../sqlite/accounts.ts";
import type { Worker } from "../worker.ts";
import type { CallbackRequest, CallbackSource, StoredCallback } from "./callback.ts";
import { callbackOf } from "./from-row.ts";
import { updateRowDigest } from "./row-digest.ts";

/** The same within this time is one: senders repeat themselves, and so do floods. */
const sameWithinMs = 60_000;

/** Keeps what came from outside, once and without secrets, as long as there is room. */
interface Keeping {
  account: RunAccount;
  isFull: () => boolean;
}

export function openCallbackKeeping(
  database: Database,
  worker: Worker,
  { account, isFull }: Keeping,
) {
  const again = database.prepare(countAgain);
  const insert = database.prepare(insertNew);
  const ago = (ms: number) => new Date(worker.now() - ms).toISOString();
  return {
    /**
     * Keeps it, or counts it where the same one came within a minute. Secrets are taken out.
     * Undefined where too many wait already: those were promised to their senders.
     */
    keep: (request: CallbackRequest, source: CallbackSource): StoredCallback | undefined =>
      database.transaction(() => {
        const digest = digestOf(request);
        const same = again.get(account.number(), digest, ago(sameWithinMs));
        if (same) return callbackOf(same, worker);
        if (isFull()) return undefined;
        return callbackOf(add(request, source, digest), worker);
      }),
  };

  function add(request: CallbackRequest, source: CallbackSource, digest: string): Row {
    const { method, target, headers, body } = request;
    const own = account.store(ago(0)).number;
    const kept = insert.get(
      ...[own, source, ago(0), digest, method, worker.scrub(target)],
      worker.scrub(JSON.stringify(headers)),
      base64(body, worker.scrub),
    );
    if (kept) {
      updateRowDigest(database, BigInt(kept.number ?? 0n));
      return kept;
    }
    throw new Error("the ledger did not keep a callback");
  }
}

const countAgain = `
  UPDATE callbacks SET count = count + 1 WHERE number = (SELECT number FROM callbacks
    WHERE account = ? AND digest = ? AND received_at >= ?
    ORDER BY number DESC LIMIT 1) RETURNING *`;

const insertNew = `
  INSERT INTO callbacks (account, source, received_at, count, digest, method, target, headers,
    body, looks, due_at)
  VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, 0, ?3) RETURNING *`;

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
