import { hash } from "node:crypto";
import type { Database, Row } from "../../platform/sqlite/database.ts";
import type {
  CallbackRequest,
  CallbackSource,
  CallbackStore,
  StoredCallback,
} from "../callback.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { holderIn, numberIn, reader } from "./operation-rows.ts";

/** Equal requests within this time are stored once: senders repeat themselves. */
const sameWithinMs = 60_000;
/**
 * The number of callbacks that may wait for the API or for a handler. A further one is rejected.
 * Forged callbacks name records that the ledger does not know: they cannot take the places of the others.
 */
const mostPending = { known: 5_000n, unknown: 2_500n };
const duePerPage = 100n;
/** The number of callbacks kept of each verdict: anyone can send them, and they must not fill the disk. */
const keptOf = (verdict: string): bigint => (verdict === "unknown" ? 1_000n : 5_000n);

/** The callbacks of one account in SQLite. */
export function createCallbacks(
  database: Database,
  worker: Worker,
  account: RunAccount,
): CallbackStore {
  return {
    ...createQueue(database, worker, account),
    ...createVerdicts(database, worker, account),
    find: async (number) => {
      const row = database.prepare(selectOne).get(account.number(), BigInt(number));
      return row && callbackOf(row);
    },
    list: async ({ verdict, limit }) =>
      database
        .prepare(selectNewest)
        .all(account.number(), verdict ?? null, BigInt(limit))
        .map(callbackOf),
  };
}

function createQueue(
  database: Database,
  worker: Worker,
  account: RunAccount,
): Pick<CallbackStore, "listen" | "keep" | "due" | "schedule"> {
  const { scrub } = worker;
  /** The time so many milliseconds from now, ISO 8601. */
  const after = (ms: number) => new Date(worker.now() + ms).toISOString();
  const insert = (request: CallbackRequest, source: CallbackSource, isKnown: boolean) => {
    const { method, target, headers, body } = request;
    const at = nowIn(worker);
    const row = database
      .prepare(insertNew)
      .get(
        ...[account.store(at).number, source, at, digestOf(request), method, scrub(target)],
        ...[scrub(JSON.stringify(headers)), base64(body, scrub), isKnown ? 1n : 0n],
      );
    setRowDigest(database, row);
    return row && callbackOf(row);
  };
  return {
    listen: async () =>
      database.transaction(() => {
        const { number } = account.store(nowIn(worker));
        const row = database.prepare("SELECT holder FROM listeners WHERE account = ?").get(number);
        const holder = row && holderIn(row);
        const isOwn = holder?.lock === worker.holder.lock;
        if (holder && !isOwn && worker.isAlive(holder)) return holder;
        database
          .prepare("INSERT OR REPLACE INTO listeners (account, holder) VALUES (?, ?)")
          .run(number, JSON.stringify(holderNow(worker)));
        return undefined;
      }),

    keep: async (request, source, isKnown) =>
      database.transaction(() => {
        const number = account.number();
        const values = [number, digestOf(request), after(-sameWithinMs)];
        const same = database.prepare(countAgain).get(...values);
        if (same) return callbackOf(same);
        const pending = database.prepare(countPending).get(number);
        const most = isKnown ? mostPending.known : mostPending.unknown;
        if (numberIn(pending?.count) >= most) return undefined;
        return insert(request, source, isKnown);
      }),

    due: async (to) =>
      database
        .prepare(selectDue)
        .all(account.number(), nowIn(worker), to ?? null, duePerPage)
        .map(callbackOf),

    schedule: async (number, afterMs) => {
      database
        .prepare("UPDATE callbacks SET looks = looks + 1, due_at = ? WHERE number = ?")
        .run(afterMs === null ? null : after(afterMs), BigInt(number));
    },
  };
}

function createVerdicts(
  database: Database,
  { scrub }: Worker,
  account: RunAccount,
): Pick<CallbackStore, "recordVerdict" | "recordForwarded" | "isDelivered"> {
  return {
    recordVerdict: async (number, { verdict, explanation, records, finding }, to) =>
      database.transaction(() => {
        const values = [
          ...[verdict, explanation && scrub(explanation), scrub(JSON.stringify(records))],
          ...[finding, to === undefined ? null : scrub(to), BigInt(number)],
        ];
        setRowDigest(database, database.prepare(setVerdict).get(...values));
        database.prepare(deleteOldest).run(account.number(), verdict, keptOf(verdict));
      }),

    recordForwarded: async (number, { to, status, finding }) =>
      database.transaction(() => {
        const values = [status === null ? null : BigInt(status), finding, BigInt(number)];
        setRowDigest(database, database.prepare(setForwarded).get(scrub(to), ...values));
      }),

    isDelivered: async (finding, to) =>
      database.prepare(selectDelivered).get(account.number(), finding, scrub(to)) !== undefined,
  };
}

function callbackOf(row: Row): StoredCallback {
  const { text, maybe } = reader(row);
  const to = maybe("forwarded_to");
  const status = row.forwarded_status == null ? null : Number(row.forwarded_status);
  return {
    number: Number(row.number),
    source: text("source") === "polled" ? "polled" : "received",
    receivedAt: text("received_at"),
    count: Number(row.count),
    method: text("method"),
    target: text("target"),
    headers: JSON.parse(text("headers")),
    body: Buffer.from(text("body"), "base64"),
    judged: row.verdict
      ? {
          verdict: text("verdict"),
          explanation: maybe("because"),
          records: JSON.parse(text("records")),
          finding: text("finding"),
        }
      : null,
    checks: Number(row.looks),
    dueAt: maybe("due_at"),
    forwarded: to === null ? null : { to, status, finding: maybe("forwarded_finding") },
    isKnown: row.known === 1n,
  };
}

/** Covers only those headers that state how the body is encoded. */
function digestOf({ method, target, headers, body }: CallbackRequest): string {
  const { "content-type": type = "", "content-encoding": encoding = "" } = headers;
  const head = JSON.stringify([method, target, type, encoding]);
  return hash("sha256", Buffer.concat([Buffer.from(head), body]));
}

/** The bytes without secrets: each byte is read as one character, and written back as it was. */
function base64(body: Uint8Array, scrub: (text: string) => string): string {
  const scrubbed = scrub(Buffer.from(body).toString("latin1"));
  return Buffer.from(scrubbed, "latin1").toString("base64");
}

/**
 * Detects a change of a callback by another program. Callbacks are not in the chain: anyone can send them, and
 * old ones are deleted, so that a missing one proves nothing. A change with a new digest is not detected. No
 * payout, payment or refund relies on a callback's row.
 */
export function rowDigestOf(row: Row): string {
  return hash("sha256", JSON.stringify(coveredColumns.map((name) => reader(row).maybe(name))));
}

export function setRowDigest(database: Database, row: Row | undefined): void {
  // A callback may have been deleted meanwhile, because only the newest ones are kept.
  if (!row) return;
  database
    .prepare("UPDATE callbacks SET row_digest = ? WHERE number = ?")
    .run(rowDigestOf(row), row.number ?? null);
}

/** Neither the count nor what belongs to the queue: known, looks and due time. */
const coveredColumns = [
  ...["number", "account", "source", "received_at", "digest", "method", "target", "headers"],
  ...["body", "verdict", "because", "records", "finding"],
  ...["forwarded_to", "forwarded_status", "forwarded_finding"],
];

const countAgain = `
  UPDATE callbacks SET count = count + 1 WHERE number = (SELECT number FROM callbacks
    WHERE account = ? AND digest = ? AND received_at >= ?
    ORDER BY number DESC LIMIT 1) RETURNING *`;

const insertNew = `
  INSERT INTO callbacks (account, source, received_at, count, digest, method, target, headers,
    body, known, looks, due_at)
  VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?3) RETURNING *`;

const countPending = `
  SELECT count(*) AS count FROM callbacks WHERE account = ?
    AND due_at IS NOT NULL AND (verdict IS NULL OR verdict IN ('verified', 'unchecked'))`;

// A callback that only waits to be forwarded is left to a run that forwards.
const selectDue = `
  SELECT * FROM callbacks WHERE account = ?1 AND due_at <= ?2
    AND (?3 IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unchecked')
  ORDER BY known DESC, looks, number LIMIT ?4`;

const selectDelivered = `
  SELECT 1 FROM callbacks WHERE account = ? AND forwarded_finding = ? AND forwarded_to = ?
    AND forwarded_status BETWEEN 200 AND 299 LIMIT 1`;

const selectOne = "SELECT * FROM callbacks WHERE account = ? AND number = ?";

const selectNewest = `
  SELECT * FROM callbacks WHERE account = ?1 AND (?2 IS NULL OR verdict = ?2)
  ORDER BY number DESC LIMIT ?3`;

const setVerdict = `
  UPDATE callbacks SET verdict = ?1, because = ?2, records = ?3, finding = ?4, looks = 0,
    forwarded_to = coalesce(?5, forwarded_to),
    forwarded_status = CASE WHEN ?5 IS NULL THEN forwarded_status END,
    forwarded_finding = CASE WHEN ?5 IS NULL THEN forwarded_finding END
  WHERE number = ?6 RETURNING *`;

const deleteOldest = `
  DELETE FROM callbacks WHERE number IN (SELECT number FROM callbacks
    WHERE account = ?1 AND verdict = ?2
      AND (due_at IS NULL OR ?2 NOT IN ('verified', 'unchecked'))
    ORDER BY number DESC LIMIT -1 OFFSET ?3)`;

const setForwarded = `
  UPDATE callbacks SET forwarded_to = ?, forwarded_status = ?, forwarded_finding = ?
  WHERE number = ? RETURNING *`;
