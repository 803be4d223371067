import { setImmediate as turn } from "node:timers/promises";
import type { Database, Value } from "../../platform/sqlite/database.ts";
import type { Ledger } from "../ledger.ts";
import type { Filter, Kind } from "../operation.ts";
import { listedOperationOf } from "../rows.ts";
import type { RunAccount } from "../sql/accounts.ts";
import { bookedAt, isDifferingIn, mayComplete, openedAt } from "../sql/conditions.ts";
import { runNow } from "../sql/work.ts";
import { numberIn } from "../values.ts";
import { dialect } from "./driver.ts";
import { statementsOn } from "./statements.ts";

const pageSize = 500;

/** A condition on operations `o`, with its parameters. */
type Condition = [sql: string, ...values: Value[]];

/** Reads what a filter selects. */
export function createLists(
  database: Database,
  account: RunAccount,
): Pick<Ledger, "list" | "count"> {
  /** The table with the index to use, the conditions, and their parameters. */
  const selected = (kind: Kind | undefined, filter: Filter) => {
    const own = account.isAll
      ? undefined
      : runNow(account.readOnce(), statementsOn(database)).number;
    const { indexed, others } = conditionsOf(kind, filter, own);
    const index = indexed.find(({ index, isInOrder, condition: [sql, ...values] }) => {
      if (isInOrder) return true;
      const found = database
        .prepare(
          `SELECT count(*) AS count FROM (SELECT 1 FROM operations o INDEXED BY ${index}
           WHERE ${sql} LIMIT ${few + 1})`,
        )
        .get(...values);
      return numberIn(found?.count) <= few;
    });
    const all = [...indexed.map(({ condition }) => condition), ...others];
    return {
      from: `operations o ${index ? `INDEXED BY ${index.index}` : ""}`,
      where: ["true", ...all.map(([sql]) => sql)].join(" AND "),
      values: all.flatMap(([, ...values]) => values),
      // The plus makes SQLite sort the few that the index finds.
      number: index && !index.isInOrder ? "+o.number" : "o.number",
    };
  };

  async function* list(kind: Kind | undefined, filter: Filter = {}) {
    const { limit = Number.POSITIVE_INFINITY, oldestFirst = false } = filter;
    const { from, where, values, number } = selected(kind, filter);
    const order = oldestFirst ? "ASC" : "DESC";
    const page = database.prepare(
      `SELECT ${listedColumns} FROM ${from}
       WHERE ${where} AND ${number} ${oldestFirst ? ">" : "<"} ? ORDER BY ${number} ${order} LIMIT ?`,
    );
    let last = oldestFirst ? -endOfNumbers : endOfNumbers;
    for (let left = limit; left > 0; left -= pageSize) {
      const size = Math.min(left, pageSize);
      const rows = page.all(...values, last, BigInt(size));
      for (const row of rows) yield listedOperationOf(row);
      if (rows.length < size) return;
      last = numberIn(rows.at(-1)?.number);
      // libsql frees what it has read in the next turn of the event loop.
      await turn();
    }
  }

  return {
    list,

    count: async (kind, filter, most) => {
      const { from, where, values } = selected(kind, filter);
      const found = database
        .prepare(`SELECT count(*) AS count FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ?)`)
        .get(...values, BigInt(most));
      return Number(numberIn(found?.count));
    },
  };
}

/** No operation has such a number. */
const endOfNumbers = 2n ** 63n - 1n;

/** So many rows are sorted faster than the ledger is walked through. */
const few = 1_000;

/** As the index has it, so that SQLite uses that index. */
const unconfirmed = "o.state != 'CONFIRMED'";

/** A condition that an index finds. If the index is not in the order of the list, it is used for few rows. */
interface Indexed {
  index: string;
  condition: Condition;
  isInOrder?: boolean;
}

/** The conditions of a filter; the most selective index is the first. */
function conditionsOf(kind: Kind | undefined, filter: Filter, own: bigint | undefined) {
  const { status, states, since, until, openedUntil, bookedSince, bookedUntil } = filter;
  const { minPaisa, maxPaisa, reference, recipient, method, batch, actor } = filter;
  const inAccount: Condition =
    own === undefined ? ["o.account IN (SELECT number FROM accounts)"] : ["o.account = ?", own];
  const ofAccount = (sql: string, ...values: Value[]): Condition => [
    `${inAccount[0]} AND ${sql}`,
    ...inAccount.slice(1),
    ...values,
  ];
  const kinds =
    kind === undefined
      ? "o.kind IN ('payment', 'payout', 'refund', 'cancel', 'trigger')"
      : `o.kind = '${kind}'`;
  const indexed: (Indexed | false)[] = [
    reference !== undefined && {
      index: "by_reference",
      condition: ofAccount("o.reference = ?", reference),
    },
    batch !== undefined && {
      index: "by_batch",
      condition: ["o.batch = ?", batch],
      isInOrder: true,
    },
    states !== undefined &&
      !states.includes("CONFIRMED") && {
        index: "unconfirmed",
        condition: ofAccount(`${unconfirmed} AND ${inStates(states)}`),
      },
    recipient !== undefined && {
      index: "by_recipient",
      condition: ["o.recipient_key = ?", recipient],
    },
    status !== undefined && {
      index: "by_status",
      condition: ofAccount(`${kinds} AND o.status = ?`, status),
      isInOrder: kind !== undefined && own !== undefined,
    },
    since !== undefined && { index: "by_time", condition: ["o.created_at >= ?", since] },
    until !== undefined && { index: "by_time", condition: ["o.created_at <= ?", until] },
  ];
  const others: (Condition | false | undefined)[] = [
    own !== undefined && inAccount,
    kind !== undefined && [kinds],
    states?.includes("CONFIRMED") && [inStates(states)],
    openedUntil !== undefined && [`${openedAt} <= ?`, openedUntil],
    bookedSince !== undefined && [`(${bookedAt} >= ? OR ${mayComplete})`, bookedSince],
    bookedUntil !== undefined && [`${bookedAt} <= ?`, bookedUntil],
    minPaisa !== undefined && ["o.amount_paisa >= ?", minPaisa],
    maxPaisa !== undefined && ["o.amount_paisa <= ?", maxPaisa],
    actor !== undefined && ["o.actor = ?", actor],
    method && [
      "(o.method_name = ? COLLATE NOCASE OR o.method_id IN (SELECT value FROM json_each(?)))",
      ...[method.name, JSON.stringify(method.ids)],
    ],
  ];
  return {
    indexed: indexed.filter((one) => one !== false),
    others: others.filter((one): one is Condition => Array.isArray(one)),
  };
}

function inStates(states: readonly string[]): string {
  return `o.state IN (${states.map((state) => `'${state}'`).join(", ")})`;
}

/** Refunds `r` of a payment `o` that `mayHavePaid`: in production of every account, as for `refundsOf`. */
const refundsInSql = (
  which: string,
  what = "coalesce(sum(r.amount_paisa), 0)",
) => `CASE WHEN o.kind = 'payment' THEN (
  SELECT ${what} FROM operations r
  WHERE r.kind = 'refund' AND r.target = o.remote_id AND ${which} AND r.account IN (
    SELECT a.number FROM accounts a WHERE a.number = o.account
      OR (o.environment = 'production' AND a.environment = 'production'))) END`;
const isCompleted = "(r.phase = 'live' AND r.status IS 'Completed')";

const listedColumns = `${dialect.operationColumns.replaceAll("lenden.", "")},
  (SELECT id FROM batches WHERE number = o.batch) AS batch_id,
  ${refundsInSql(isCompleted)} AS refunded,
  ${refundsInSql(`r.phase IN ('unresolved', 'live') AND NOT ${isCompleted} AND NOT ${isDifferingIn("r")}`)} AS refund_open,
  ${refundsInSql(isDifferingIn("r"), "count(*)")} AS refunds_differing`;
