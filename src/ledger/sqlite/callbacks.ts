import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import type { CallbackStore } from "../callback.ts";
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
import { callbackSql } from "../callback-sql.ts";
import { holderIn } from "../rows.ts";
import { numberIn } from "../values.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";

const sql = callbackSql("callbacks", "?");

/** The callbacks of one account in SQLite. */
export function createCallbacks(
  database: Database,
  worker: Worker,
  account: RunAccount,
): CallbackStore {
  const values = createCallbackValues(worker);
  const change = (statement: string, given: Value[]): Row | undefined => {
    const row = database.prepare(statement).get(...given);
    setRowDigest(database, row);
    return row;
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
        const own = account.number();
        const since = values.after(-sameWithinMs);
        const same = database.prepare(sql.countAgain).get(own, requestDigestOf(request), since);
        if (same) return callbackOf(same);
        const pending = database.prepare(sql.countPending).get(own);
        if (numberIn(pending?.count) >= mostPending(isKnown)) return undefined;
        const at = nowIn(worker);
        const { number } = account.store(at);
        const ofNew = values.ofNew(request, source, isKnown, at);
        const row = change(sql.insert, [number, ...ofNew]);
        return row && callbackOf(row);
      }),

    due: async (to) =>
      database
        .prepare(sql.due)
        .all(account.number(), nowIn(worker), to ?? null, duePerPage)
        .map(callbackOf),

    schedule: async (number, afterMs) => {
      const dueAt = afterMs === null ? null : values.after(afterMs);
      database.prepare(sql.schedule).run(dueAt, BigInt(number));
    },

    recordVerdict: async (number, judged, to) =>
      database.transaction(() => {
        const { verdict } = judged;
        change(sql.setVerdict, values.ofVerdict(number, judged, to));
        database.prepare(sql.deleteOldest).run(account.number(), verdict, keptOf(verdict));
      }),

    recordForwarded: async (number, forwarded) =>
      database.transaction(() => {
        change(sql.setForwarded, values.ofForwarded(number, forwarded));
      }),

    isDelivered: async (finding, to) => {
      const delivered = database.prepare(sql.delivered);
      return delivered.get(account.number(), finding, values.clean(to)) !== undefined;
    },

    find: async (number) => {
      const row = database.prepare(sql.one).get(account.number(), BigInt(number));
      return row && callbackOf(row);
    },

    list: async (filter, limit, below = Number.MAX_SAFE_INTEGER) =>
      database
        .prepare(sql.newest)
        .all(account.number(), ...values.ofFilter(filter), BigInt(limit), BigInt(below))
        .map(callbackOf),

    count: async (filter, most) => {
      const count = database.prepare(sql.count);
      const found = count.get(account.number(), ...values.ofFilter(filter), BigInt(most));
      return Number(numberIn(found?.count));
    },
  };
}

/** @param row undefined if the callback was deleted meanwhile, because only the newest ones are kept */
function setRowDigest(database: Database, row: Row | undefined): void {
  if (row) database.prepare(sql.setRowDigest).run(rowDigestOf(row), row.number ?? null);
}
