import type { Database, Row } from "../../platform/sqlite/database.ts";
import type {
  CallbackFilter,
  CallbackRequest,
  CallbackSource,
  CallbackStore,
} from "../callback.ts";
import {
  base64,
  callbackOf,
  duePerPage,
  keptOf,
  mostPending,
  requestDigestOf,
  rowDigestOf,
  sameWithinMs,
} from "../callback-rows.ts";
import { holderIn, numberIn } from "../rows.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";

/** The callbacks of one account in SQLite. */
export function createCallbacks(
  database: Database,
  worker: Worker,
  account: RunAccount,
): CallbackStore {
  const valuesOf = ({ verdict, since, until }: CallbackFilter) => [
    account.number(),
    ...[verdict ?? null, since ?? null, until ?? null],
  ];
  return {
    ...createQueue(database, worker, account),
    ...createVerdicts(database, worker, account),
    find: async (number) => {
      const row = database.prepare(selectOne).get(account.number(), BigInt(number));
      return row && callbackOf(row);
    },
    list: async (filter, limit, below = Number.MAX_SAFE_INTEGER) =>
      database
        .prepare(selectNewest)
        .all(...valuesOf(filter), BigInt(limit), BigInt(below))
        .map(callbackOf),
    count: async (filter, most) => {
      const found = database.prepare(countSelected).get(...valuesOf(filter), BigInt(most));
      return Number(numberIn(found?.count));
    },
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
        ...[account.store(at).number, source, at, requestDigestOf(request), method, scrub(target)],
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
        const values = [number, requestDigestOf(request), after(-sameWithinMs)];
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

    recordForwarded: async (number, { to, status, fault, finding }) =>
      database.transaction(() => {
        const values = [status === null ? null : BigInt(status), fault, finding, BigInt(number)];
        setRowDigest(database, database.prepare(setForwarded).get(scrub(to), ...values));
      }),

    isDelivered: async (finding, to) =>
      database.prepare(selectDelivered).get(account.number(), finding, scrub(to)) !== undefined,
  };
}

export function setRowDigest(database: Database, row: Row | undefined): void {
  // A callback may have been deleted meanwhile, because only the newest ones are kept.
  if (!row) return;
  database
    .prepare("UPDATE callbacks SET row_digest = ? WHERE number = ?")
    .run(rowDigestOf(row), row.number ?? null);
}

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

const isSelected = `account = ?1 AND (?2 IS NULL OR verdict = ?2)
    AND (?3 IS NULL OR received_at >= ?3) AND (?4 IS NULL OR received_at <= ?4)`;

const selectNewest = `
  SELECT * FROM callbacks WHERE ${isSelected} AND number < ?6 ORDER BY number DESC LIMIT ?5`;

const countSelected = `
  SELECT count(*) AS count FROM (SELECT 1 FROM callbacks WHERE ${isSelected} LIMIT ?5)`;

const setVerdict = `
  UPDATE callbacks SET verdict = ?1, because = ?2, records = ?3, finding = ?4, looks = 0,
    forwarded_to = coalesce(?5, forwarded_to),
    forwarded_status = CASE WHEN ?5 IS NULL THEN forwarded_status END,
    forwarded_fault = CASE WHEN ?5 IS NULL THEN forwarded_fault END,
    forwarded_finding = CASE WHEN ?5 IS NULL THEN forwarded_finding END
  WHERE number = ?6 RETURNING *`;

const deleteOldest = `
  DELETE FROM callbacks WHERE number IN (SELECT number FROM callbacks
    WHERE account = ?1 AND verdict = ?2
      AND (due_at IS NULL OR ?2 NOT IN ('verified', 'unchecked'))
    ORDER BY number DESC LIMIT -1 OFFSET ?3)`;

const setForwarded = `
  UPDATE callbacks SET forwarded_to = ?, forwarded_status = ?, forwarded_fault = ?,
    forwarded_finding = ?
  WHERE number = ? RETURNING *`;
