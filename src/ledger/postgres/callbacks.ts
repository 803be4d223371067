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
import { storable } from "../intent.ts";
import { holderIn, numberIn } from "../rows.ts";
import { nowIn } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Connection, Query, Row, Value, Write } from "./connection.ts";
import { holderColumn } from "./operation-sql.ts";
import type { ServerProcess, ServerWorker } from "./processes.ts";

/** The callbacks of one account on a server. */
export function createCallbacks(
  connection: Connection,
  worker: ServerWorker,
  account: RunAccount,
  own: ServerProcess,
): CallbackStore {
  const { read } = connection;
  const ownNumber = async () => (await account.readOnce(read)).number;
  const valuesOf = async ({ verdict, since, until }: CallbackFilter) => [
    await ownNumber(),
    ...[verdict ?? null, since ?? null, until ?? null],
  ];
  return {
    ...createQueue(connection, { worker, account, own }),
    ...createVerdicts(connection, worker, account),
    find: async (number) => {
      const [row] = await read(selectOne, await ownNumber(), number);
      return row && callbackOf(row);
    },
    list: async (filter, limit, below = Number.MAX_SAFE_INTEGER) =>
      (await read(selectNewest, ...(await valuesOf(filter)), limit, below)).map(callbackOf),
    count: async (filter, most) => {
      const [found] = await read(countSelected, ...(await valuesOf(filter)), most);
      return Number(numberIn(found?.count));
    },
  };
}

interface Parts {
  worker: ServerWorker;
  account: RunAccount;
  own: ServerProcess;
}

function createQueue(
  connection: Connection,
  { worker, account, own }: Parts,
): Pick<CallbackStore, "listen" | "keep" | "due" | "schedule"> {
  const scrub = (text: string) => storable(worker.scrub(text));
  /** The time so many milliseconds from now, ISO 8601. */
  const after = (ms: number) => new Date(worker.now() + ms).toISOString();
  const insert = async (
    write: Write,
    request: CallbackRequest,
    source: CallbackSource,
    isKnown: boolean,
  ) => {
    const { method, target, headers, body } = request;
    const at = nowIn(worker);
    const { number } = await account.store(write, at);
    const [row] = await write.query(
      insertNew,
      ...[number, source, at, requestDigestOf(request), method, scrub(target)],
      ...[scrub(JSON.stringify(headers)), base64(body, worker.scrub), isKnown ? 1n : 0n],
    );
    await setRowDigest(write.query, row);
    return row && callbackOf(row);
  };
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
        const { number } = await account.read(query);
        const [same] = await query(
          countAgain,
          number,
          requestDigestOf(request),
          after(-sameWithinMs),
        );
        if (same) return callbackOf(same);
        const [pending] = await query(countPending, number);
        const most = isKnown ? mostPending.known : mostPending.unknown;
        if (numberIn(pending?.count) >= most) return undefined;
        return insert(write, request, source, isKnown);
      }),

    due: async (to) => {
      const { number } = await account.readOnce(connection.read);
      const values = [number, nowIn(worker), to ?? null, duePerPage];
      return (await connection.read(selectDue, ...values)).map(callbackOf);
    },

    schedule: async (number, afterMs) => {
      const dueAt = afterMs === null ? null : after(afterMs);
      await connection.write(({ query }) => query(setSchedule, dueAt, number));
    },
  };
}

function createVerdicts(
  connection: Connection,
  worker: ServerWorker,
  account: RunAccount,
): Pick<CallbackStore, "recordVerdict" | "recordForwarded" | "isDelivered"> {
  const scrub = (text: string) => storable(worker.scrub(text));
  /** Changes a callback. It may have been deleted meanwhile, because only the newest ones are kept. */
  const change = async (query: Query, sql: string, ...values: Value[]) => {
    const [row] = await query(`${sql} RETURNING *`, ...values);
    await setRowDigest(query, row);
  };
  return {
    recordVerdict: (number, { verdict, explanation, records, finding }, to) =>
      connection.write(async ({ query }) => {
        await change(
          query,
          setVerdict,
          ...[number, verdict, explanation && scrub(explanation), scrub(JSON.stringify(records))],
          ...[finding, to === undefined ? null : scrub(to)],
        );
        const { number: whose } = await account.read(query);
        await query(deleteOldest, whose, verdict, keptOf(verdict));
      }),

    recordForwarded: (number, { to, status, fault, finding }) =>
      connection.write(({ query }) =>
        change(query, setForwarded, number, scrub(to), status, finding, fault),
      ),

    isDelivered: async (finding, to) => {
      const { number } = await account.readOnce(connection.read);
      return (await connection.read(selectDelivered, number, finding, scrub(to))).length > 0;
    },
  };
}

async function setRowDigest(query: Query, row: Row | undefined): Promise<void> {
  if (!row) return;
  const sql = "UPDATE lenden.callbacks SET row_digest = $1 WHERE number = $2";
  await query(sql, rowDigestOf(row), row.number ?? null);
}

const selectListener = `SELECT ${holderColumn("l")} FROM lenden.listeners l WHERE l.account = $1`;

const setListener = `
  INSERT INTO lenden.listeners (account, process, held_since) VALUES ($1, $2, $3)
  ON CONFLICT (account) DO UPDATE SET process = excluded.process, held_since = excluded.held_since`;

const countAgain = `
  UPDATE lenden.callbacks SET count = count + 1 WHERE number = (SELECT number FROM lenden.callbacks
    WHERE account = $1 AND digest = $2 AND received_at >= $3
    ORDER BY number DESC LIMIT 1) RETURNING *`;

const insertNew = `
  INSERT INTO lenden.callbacks (account, source, received_at, count, digest, method, target, headers,
    body, known, looks, due_at)
  VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, 0, $3) RETURNING *`;

const countPending = `
  SELECT count(*) AS count FROM lenden.callbacks WHERE account = $1
    AND due_at IS NOT NULL AND (verdict IS NULL OR verdict IN ('verified', 'unchecked'))`;

// A callback that only waits to be forwarded is left to a run that forwards.
const selectDue = `
  SELECT * FROM lenden.callbacks WHERE account = $1 AND due_at <= $2
    AND ($3::text IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unchecked')
  ORDER BY known DESC, looks, number LIMIT $4`;

const setSchedule = "UPDATE lenden.callbacks SET looks = looks + 1, due_at = $1 WHERE number = $2";

const selectDelivered = `
  SELECT 1 FROM lenden.callbacks WHERE account = $1 AND forwarded_finding = $2 AND forwarded_to = $3
    AND forwarded_status BETWEEN 200 AND 299 LIMIT 1`;

const selectOne = "SELECT * FROM lenden.callbacks WHERE account = $1 AND number = $2";

const isSelected = `account = $1 AND ($2::text IS NULL OR verdict = $2)
    AND ($3::text IS NULL OR received_at >= $3) AND ($4::text IS NULL OR received_at <= $4)`;

const selectNewest = `
  SELECT * FROM lenden.callbacks WHERE ${isSelected} AND number < $6 ORDER BY number DESC LIMIT $5`;

const countSelected = `
  SELECT count(*) AS count FROM (SELECT 1 FROM lenden.callbacks WHERE ${isSelected} LIMIT $5) AS s`;

const setVerdict = `
  UPDATE lenden.callbacks SET verdict = $2, because = $3, records = $4, finding = $5, looks = 0,
    forwarded_to = coalesce($6, forwarded_to),
    forwarded_status = CASE WHEN $6 IS NULL THEN forwarded_status END,
    forwarded_fault = CASE WHEN $6 IS NULL THEN forwarded_fault END,
    forwarded_finding = CASE WHEN $6 IS NULL THEN forwarded_finding END
  WHERE number = $1`;

const deleteOldest = `
  DELETE FROM lenden.callbacks WHERE number IN (SELECT number FROM lenden.callbacks
    WHERE account = $1 AND verdict = $2
      AND (due_at IS NULL OR $2 NOT IN ('verified', 'unchecked'))
    ORDER BY number DESC OFFSET $3)`;

const setForwarded = `
  UPDATE lenden.callbacks SET forwarded_to = $2, forwarded_status = $3, forwarded_finding = $4,
    forwarded_fault = $5
  WHERE number = $1`;
