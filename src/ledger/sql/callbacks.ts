import type { CallbackStore, StoredCallback } from "../callback.ts";
import {
  callbackOf,
  createCallbackValues,
  duePerPage,
  keptOf,
  mostPending,
  requestDigestOf,
  rowDigestOf,
  sameWithinMs,
} from "../callback-rows.ts";
import { holderIn } from "../rows.ts";
import { numberIn, type Row } from "../values.ts";
import { nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Driver } from "./driver.ts";
import { done, query, type Value, type Work } from "./work.ts";

/** The callbacks of one account. */
export function createCallbacks(
  driver: Driver,
  account: RunAccount,
  recorder: Recorder,
): CallbackStore {
  const values = createCallbackValues(recorder);
  const selectListener = `SELECT ${driver.dialect.holderColumn("l")}
    FROM lenden.listeners l WHERE l.account = $1`;
  const read = (sql: string, ...given: Value[]): Promise<Row[]> =>
    driver.read(function* () {
      const { number } = yield* account.readOnce();
      return yield* query(sql, number, ...given);
    });
  return {
    listen: () =>
      driver.write(function* (write) {
        const since = nowIn(recorder);
        const { number } = yield* account.store(write, since);
        const [row = {}] = yield* query(selectListener, number);
        const other = holderIn(row);
        const isOther = other !== null && other.lock !== write.ownLock();
        if (isOther && (yield* write.isAlive(other))) return other;
        const { lock } = write.holder(since);
        write.send({ sql: setListener, values: [number, lock, since] });
        return undefined;
      }),

    keep: (request, source, isKnown) =>
      driver.write(function* (write): Work<StoredCallback | undefined> {
        const { number: whose } = yield* account.read();
        const since = values.after(-sameWithinMs);
        const [same] = yield* query(countAgain, whose, requestDigestOf(request), since);
        if (same) return callbackOf(same);
        const [pending] = yield* query(countPending, whose);
        if (numberIn(pending?.count) >= mostPending(isKnown)) return undefined;
        const at = nowIn(recorder);
        const { number } = yield* account.store(write, at);
        const row = yield* change(insert, number, ...values.ofNew(request, source, isKnown, at));
        return row && callbackOf(row);
      }),

    due: async (to) => (await read(due, nowIn(recorder), to ?? null, duePerPage)).map(callbackOf),

    schedule: (number, afterMs) =>
      driver.write((write) => {
        const dueAt = afterMs === null ? null : values.after(afterMs);
        return done(write.send({ sql: schedule, values: [dueAt, number] }));
      }),

    recordVerdict: (number, judged, to) =>
      driver.write(function* (write) {
        const { verdict } = judged;
        yield* change(setVerdict, ...values.ofVerdict(number, judged, to));
        const { number: whose } = yield* account.read();
        write.send({ sql: deleteOldest, values: [whose, verdict, keptOf(verdict)] });
      }),

    recordForwarded: (number, forwarded) =>
      driver.write(function* () {
        yield* change(setForwarded, ...values.ofForwarded(number, forwarded));
      }),

    isDelivered: async (finding, to) =>
      (await read(delivered, finding, values.clean(to))).length > 0,

    find: async (number) => {
      const [row] = await read(one, number);
      return row && callbackOf(row);
    },

    list: async (filter, limit, below = Number.MAX_SAFE_INTEGER) =>
      (await read(newest, ...values.ofFilter(filter), limit, below)).map(callbackOf),

    count: async (filter, most) => {
      const [found] = await read(count, ...values.ofFilter(filter), most);
      return Number(numberIn(found?.count));
    },
  };
}

/** Undefined if the callback was deleted meanwhile, because only the newest ones are kept. */
function* change(sql: string, ...values: Value[]): Work<Row | undefined> {
  const [row] = yield* query(sql, ...values);
  if (row) yield* query(setRowDigest, rowDigestOf(row), numberIn(row.number));
  return row;
}

const setListener = `
  INSERT INTO lenden.listeners (account, process, held_since) VALUES ($1, $2, $3)
  ON CONFLICT (account) DO UPDATE SET process = excluded.process, held_since = excluded.held_since`;

const isSelected = `account = $1 AND (CAST($2 AS text) IS NULL OR verdict = $2)
  AND (CAST($3 AS text) IS NULL OR received_at >= $3)
  AND (CAST($4 AS text) IS NULL OR received_at <= $4)`;
const mayBeDeleted = `account = $1 AND verdict = $2
  AND (due_at IS NULL OR $2 NOT IN ('verified', 'unchecked'))`;

const one = "SELECT * FROM lenden.callbacks WHERE account = $1 AND number = $2";
const newest = `
  SELECT * FROM lenden.callbacks WHERE ${isSelected} AND number < $6 ORDER BY number DESC LIMIT $5`;
const count = `
  SELECT count(*) AS count FROM (SELECT 1 FROM lenden.callbacks WHERE ${isSelected} LIMIT $5) AS s`;
const countAgain = `
  UPDATE lenden.callbacks SET count = count + 1 WHERE number = (SELECT number FROM lenden.callbacks
    WHERE account = $1 AND digest = $2 AND received_at >= $3
    ORDER BY number DESC LIMIT 1) RETURNING *`;
const countPending = `
  SELECT count(*) AS count FROM lenden.callbacks WHERE account = $1
    AND due_at IS NOT NULL AND (verdict IS NULL OR verdict IN ('verified', 'unchecked'))`;
const insert = `
  INSERT INTO lenden.callbacks (account, source, received_at, count, digest, method, target, headers,
    body, known, looks, due_at)
  VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, 0, $3) RETURNING *`;
const setRowDigest = "UPDATE lenden.callbacks SET row_digest = $1 WHERE number = $2";
// A callback that only waits to be forwarded is left to a run that forwards.
const due = `
  SELECT * FROM lenden.callbacks WHERE account = $1 AND due_at <= $2
    AND (CAST($3 AS text) IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unchecked')
  ORDER BY known DESC, looks, number LIMIT $4`;
const schedule = "UPDATE lenden.callbacks SET looks = looks + 1, due_at = $1 WHERE number = $2";
const setVerdict = `
  UPDATE lenden.callbacks SET verdict = $2, because = $3, records = $4, finding = $5, looks = 0,
    forwarded_to = coalesce($6, forwarded_to),
    forwarded_status = CASE WHEN $6 IS NULL THEN forwarded_status END,
    forwarded_fault = CASE WHEN $6 IS NULL THEN forwarded_fault END,
    forwarded_finding = CASE WHEN $6 IS NULL THEN forwarded_finding END
  WHERE number = $1 RETURNING *`;
const deleteOldest = `
  DELETE FROM lenden.callbacks WHERE ${mayBeDeleted} AND number <= (SELECT number FROM lenden.callbacks
    WHERE ${mayBeDeleted} ORDER BY number DESC LIMIT 1 OFFSET $3)`;
const setForwarded = `
  UPDATE lenden.callbacks SET forwarded_to = $2, forwarded_status = $3, forwarded_finding = $4,
    forwarded_fault = $5
  WHERE number = $1 RETURNING *`;
const delivered = `
  SELECT 1 FROM lenden.callbacks WHERE account = $1 AND forwarded_finding = $2
    AND forwarded_to = $3 AND forwarded_status BETWEEN 200 AND 299 LIMIT 1`;
