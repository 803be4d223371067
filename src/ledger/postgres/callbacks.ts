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
import { nowIn } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Connection, Query, Row, Value } from "./connection.ts";
import { holderColumn } from "./operation-sql.ts";
import type { ServerProcess, ServerWorker } from "./processes.ts";

const sql = callbackSql("lenden.callbacks", "$");

/** The callbacks of one account on a server. */
export function createCallbacks(
  connection: Connection,
  worker: ServerWorker,
  account: RunAccount,
  own: ServerProcess,
): CallbackStore {
  const { read } = connection;
  const values = createCallbackValues(worker);
  const ownNumber = async () => (await account.readOnce(read)).number;
  return {
    listen: async () => {
      await own.register();
      return connection.write(async (write) => {
        const since = nowIn(worker);
        const { number } = await account.store(write, since);
        const [row] = await write.query(selectListener, number);
        const holder = row && holderIn(row);
        const isOwn = holder?.lock === own.id;
        if (holder && !isOwn && (await own.isAlive(write.query, holder.lock))) return holder;
        await write.query(setListener, number, own.id, since);
        return undefined;
      });
    },

    keep: (request, source, isKnown) =>
      connection.write(async (write) => {
        const { query } = write;
        const { number: whose } = await account.read(query);
        const since = values.after(-sameWithinMs);
        const [same] = await query(sql.countAgain, whose, requestDigestOf(request), since);
        if (same) return callbackOf(same);
        const [pending] = await query(sql.countPending, whose);
        if (numberIn(pending?.count) >= mostPending(isKnown)) return undefined;
        const at = nowIn(worker);
        const { number } = await account.store(write, at);
        const ofNew = values.ofNew(request, source, isKnown, at);
        const row = await change(query, sql.insert, [number, ...ofNew]);
        return row && callbackOf(row);
      }),

    due: async (to) => {
      const found = await read(sql.due, await ownNumber(), nowIn(worker), to ?? null, duePerPage);
      return found.map(callbackOf);
    },

    schedule: async (number, afterMs) => {
      const dueAt = afterMs === null ? null : values.after(afterMs);
      await connection.write(({ query }) => query(sql.schedule, dueAt, number));
    },

    recordVerdict: (number, judged, to) =>
      connection.write(async ({ query }) => {
        const { verdict } = judged;
        await change(query, sql.setVerdict, values.ofVerdict(number, judged, to));
        const { number: whose } = await account.read(query);
        await query(sql.deleteOldest, whose, verdict, keptOf(verdict));
      }),

    recordForwarded: (number, forwarded) =>
      connection.write(async ({ query }) => {
        await change(query, sql.setForwarded, values.ofForwarded(number, forwarded));
      }),

    isDelivered: async (finding, to) =>
      (await read(sql.delivered, await ownNumber(), finding, values.clean(to))).length > 0,

    find: async (number) => {
      const [row] = await read(sql.one, await ownNumber(), number);
      return row && callbackOf(row);
    },

    list: async (filter, limit, below = Number.MAX_SAFE_INTEGER) => {
      const given = [await ownNumber(), ...values.ofFilter(filter), limit, below];
      return (await read(sql.newest, ...given)).map(callbackOf);
    },

    count: async (filter, most) => {
      const [found] = await read(sql.count, await ownNumber(), ...values.ofFilter(filter), most);
      return Number(numberIn(found?.count));
    },
  };
}

/** Undefined if the callback was deleted meanwhile, because only the newest ones are kept. */
async function change(query: Query, statement: string, given: Value[]): Promise<Row | undefined> {
  const [row] = await query(statement, ...given);
  if (row) await query(sql.setRowDigest, rowDigestOf(row), row.number ?? null);
  return row;
}

const selectListener = `SELECT ${holderColumn("l")} FROM lenden.listeners l WHERE l.account = $1`;

const setListener = `
  INSERT INTO lenden.listeners (account, process, held_since) VALUES ($1, $2, $3)
  ON CONFLICT (account) DO UPDATE SET process = excluded.process, held_since = excluded.held_since`;
