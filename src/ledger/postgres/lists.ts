import type { Ledger } from "../ledger.ts";
import type { Filter, Kind } from "../operation.ts";
import { listedOperationOf } from "../rows.ts";
import type { RunAccount } from "../sql/accounts.ts";
import { bookedAt, isDifferingIn, mayComplete, openedAt } from "../sql/conditions.ts";
import type { Driver } from "../sql/driver.ts";
import { parameters } from "../sql/work.ts";
import { isTrue, numberIn } from "../values.ts";
import type { Connection, Value } from "./connection.ts";
import { dialect } from "./driver.ts";

const pageSize = 500;

type Bind = (value: Value) => string;

/** Always true; indexes that begin with the account find the rest. */
const ofAnyAccount = dialect.isIn("o.account", "SELECT a.number FROM lenden.accounts a");

/** Reads what a filter selects. */
export function createLists(
  { read }: Pick<Connection, "read">,
  driver: Pick<Driver, "read">,
  account: RunAccount,
): Pick<Ledger, "list" | "count"> {
  const ownNumber = async () =>
    account.isAll ? undefined : (await driver.read(() => account.readOnce())).number;

  async function* list(kind: Kind | undefined, filter: Filter = {}) {
    const { limit = Number.POSITIVE_INFINITY, oldestFirst = false } = filter;
    const own = await ownNumber();
    const order = oldestFirst ? "ASC" : "DESC";
    let first = oldestFirst ? -endOfNumbers : endOfNumbers;
    let mayBeFew = true;
    for (let left = limit; left > 0; left -= pageSize) {
      const size = Math.min(left, pageSize);
      const { values, bind } = parameters<Value>();
      const selection = selectionOf(kind, filter, { own, bind });
      const page = { first: bind(first), size: bind(size), oldestFirst, mayBeFew };
      const rows = await read(
        `SELECT ${listedColumns}, page.are_few FROM (${pageInSql(selection, page)}) page
         JOIN lenden.operations o ON o.number = page.number ORDER BY o.number ${order}`,
        ...values,
      );
      for (const row of rows) yield listedOperationOf(row);
      if (rows.length < size) return;
      first = numberIn(rows.at(-1)?.number) + (oldestFirst ? 1n : -1n);
      mayBeFew = isTrue(rows[0]?.are_few);
    }
  }

  return {
    list,

    count: async (kind, filter, most) => {
      const own = await ownNumber();
      const { values, bind } = parameters<Value>();
      const selection = selectionOf(kind, filter, { own, bind });
      const page = pageInSql(selection, { first: bind(endOfNumbers), size: bind(most) });
      const [row] = await read(`SELECT count(*) AS count FROM (${page}) page`, ...values);
      return Number(numberIn(row?.count));
    },
  };
}

/** No operation has such a number. */
const endOfNumbers = 2n ** 63n - 1n;

/** So many rows are sorted faster than the ledger is walked through. */
const few = 1_000;

type Equality = [column: string, value: string];

/** What a filter selects, as conditions on operations `o`. */
interface Selection {
  /** Those that an index finds, but not in the order of the list. */
  selective: string[];
  /** What begins that index, if it is not selective itself. */
  prefix: string[];
  /** Requires that index, if others could find them while PostgreSQL walks. */
  probeOrder: string;
  equal: Equality[];
  others: string[];
  /** The one of `equal` whose column is followed by the number in an index. */
  walked: Equality | undefined;
}

interface Page {
  /** The parameters of the first number that may be on the page, and of its size. */
  first: string;
  size: string;
  oldestFirst?: boolean;
  /** False once a page has shown that the selective conditions find many. */
  mayBeFew?: boolean;
}

/**
 * The numbers of a page. PostgreSQL assumes that what is selected is spread evenly over the ledger, and that it
 * finds enough soon if it walks through all operations by their numbers. But all may be at the other end. So the
 * statement first finds out whether an index has only few. Otherwise it walks, and through an index that has
 * only the operations of the account and the like: a range instead of the equality requires its order.
 */
function pageInSql(
  { selective, prefix, probeOrder, equal, others, walked }: Selection,
  { first, size, oldestFirst = false, mayBeFew = true }: Page,
): string {
  const [order, from, until] = oldestFirst ? ["ASC", ">=", "<="] : ["DESC", "<=", ">="];
  const equality = ([column, value]: Equality) => `${column} = ${value}`;
  const inOrder = `o.number ${from} ${first}`;
  const walk = (conditions: string[]) => {
    const all = [...conditions, ...selective, ...others];
    all.push(...equal.filter((one) => one !== walked).map(equality));
    const [column, value] = walked ?? [];
    if (walked)
      all.push(
        `${column} ${until} ${value} AND (${column}, o.number) ${from} (${value}, ${first})`,
      );
    else all.push(inOrder);
    return `SELECT o.number, false AS are_few FROM lenden.operations o WHERE ${all.join(" AND ")}
      ORDER BY ${walked ? `${column} ${order}, ` : ""}o.number ${order} LIMIT ${size}`;
  };
  if (selective.length === 0 || !mayBeFew) return walk([]);
  const rest = [...others, ...equal.map(equality), inOrder];
  return `
    WITH found AS MATERIALIZED (SELECT o.number FROM lenden.operations o
        WHERE ${[...prefix, ...selective].join(" AND ")} ${probeOrder} LIMIT ${few + 1}),
      few AS MATERIALIZED (SELECT count(*) <= ${few} AS are FROM found)
    (SELECT o.number, true AS are_few FROM lenden.operations o
      WHERE (SELECT are FROM few) AND o.number IN (SELECT number FROM found) AND ${rest.join(" AND ")}
      ORDER BY o.number + 0 ${order} LIMIT ${size})
    UNION ALL (${walk(["NOT (SELECT are FROM few)"])})`;
}

/** As the index has it, so that PostgreSQL uses that index. */
const unconfirmed = "o.state <> 'CONFIRMED'";

/** @param own the number of the account; undefined for all accounts */
function selectionOf(
  kind: Kind | undefined,
  filter: Filter,
  { own, bind }: { own: bigint | undefined; bind: Bind },
): Selection {
  const { status, states, since, until, openedUntil, bookedSince, bookedUntil } = filter;
  const { minPaisa, maxPaisa, reference, recipient, method, batch, actor } = filter;
  const equality = (column: string, value: Value | undefined): Equality | undefined =>
    value === undefined ? undefined : [`o.${column}`, bind(value)];
  const ofAccount = equality("account", own);
  const ofKind = equality("kind", kind);
  const ofBatch = equality("batch", batch);
  const ofStatus = ofAccount && ofKind && equality("status", status);
  const areUnconfirmed = states?.includes("CONFIRMED") === false;
  const inStates = states && `o.state = ANY (${bind(states)}::text[])`;
  const given = (conditions: (string | false | undefined)[]) =>
    conditions.filter((one) => typeof one === "string");
  return {
    walked:
      ofBatch ?? (areUnconfirmed ? ofAccount : (ofStatus ?? (ofAccount && ofKind) ?? ofAccount)),
    equal: [ofAccount, ofKind, ofBatch, ofStatus].filter((one) => one !== undefined),
    prefix:
      status === undefined || ofStatus
        ? []
        : [ofAccount?.join(" = ") ?? ofAnyAccount, ofKind?.join(" = ") ?? ofAnyKind],
    probeOrder: since === undefined && until === undefined ? "" : "ORDER BY o.created_at",
    selective: given([
      reference !== undefined && `o.reference = ${bind(reference)}`,
      recipient !== undefined && `o.recipient_key = ${bind(recipient)}`,
      status !== undefined && !ofStatus && `o.status = ${bind(status)}`,
      areUnconfirmed && !ofAccount && `${unconfirmed} AND ${inStates}`,
      since !== undefined && `o.created_at >= ${bind(since)}`,
      until !== undefined && `o.created_at <= ${bind(until)}`,
    ]),
    others: given([
      areUnconfirmed && ofAccount && unconfirmed,
      inStates,
      openedUntil !== undefined && `${openedAt} <= ${bind(openedUntil)}`,
      bookedSince !== undefined && `(${bookedAt} >= ${bind(bookedSince)} OR ${mayComplete})`,
      bookedUntil !== undefined && `${bookedAt} <= ${bind(bookedUntil)}`,
      minPaisa !== undefined && `o.amount_paisa >= ${bind(minPaisa)}`,
      maxPaisa !== undefined && `o.amount_paisa <= ${bind(maxPaisa)}`,
      actor !== undefined && `o.actor = ${bind(actor)}`,
      // The collation "C" changes the case of ASCII letters only.
      method &&
        `(lower(o.method_name) = lower(${bind(method.name)} COLLATE "C")
          OR o.method_id = ANY (${bind(method.ids)}::text[]))`,
    ]),
  };
}

/** Always true; indexes that continue with the kind find the rest. */
const ofAnyKind = "o.kind IN ('payment', 'payout', 'refund', 'cancel', 'trigger')";

/** Refunds `r` of a payment `o` that `mayHavePaid`: in production of every account, as for `refundsOf`. */
const refundsInSql = (
  which: string,
  what = "coalesce(sum(r.amount_paisa), 0)",
) => `CASE WHEN o.kind = 'payment' THEN (
  SELECT ${what} FROM lenden.operations r
  WHERE r.kind = 'refund' AND r.target = o.remote_id AND ${which} AND (r.account = o.account
    OR (o.environment = 'production' AND r.environment = 'production'))) END`;
const isCompleted = "(r.phase = 'live' AND r.status IS NOT DISTINCT FROM 'Completed')";

const listedColumns = `${dialect.operationColumns},
  (SELECT b.id FROM lenden.batches b WHERE b.number = o.batch) AS batch_id,
  ${refundsInSql(isCompleted)} AS refunded,
  ${refundsInSql(`r.phase IN ('unresolved', 'live') AND NOT ${isCompleted} AND NOT ${isDifferingIn("r")}`)} AS refund_open,
  ${refundsInSql(isDifferingIn("r"), "count(*)")} AS refunds_differing`;
