import { Failure } from "../../domain/failure.ts";
import { isOperationId } from "../../domain/identifier.ts";
import { guardScope } from "../account.ts";
import { type HistoryEvent, lastSentAt, readHistory } from "../events.ts";
import type { Ledger, RecordedOrder } from "../ledger.ts";
import type { Kind, Operation } from "../operation.ts";
import { eventOf, foundOperationOf, holderIn, operationOf } from "../rows.ts";
import type { Row } from "../values.ts";
import { loginOf, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Dialect, Driver } from "./driver.ts";
import { foundIn } from "./found.ts";
import { type ColumnTypes, parameters, query, type Value, type Work } from "./work.ts";

type Reads = Pick<
  Ledger,
  ("find" | "findElsewhere" | "ofNames" | "refundsOf" | "unsettled") | keyof (Compared & Histories)
>;

type Reading = Pick<Driver, "dialect" | "read" | "snapshot">;
type Bind = (value: Value) => string;

/** With the zero a database does not walk through all of them by their number, to avoid the sorting. */
const byNumber = "ORDER BY o.number + 0";

/** Reads operations of the account, and some of the whole environment. */
export function createReads(driver: Reading, recorder: Recorder, account: RunAccount): Reads {
  const { environment } = recorder.owner;
  const { dialect } = driver;
  const scope = guardScope({ environment });

  const rowsOf = rowsIn(driver, account);
  const select = async (where: Where): Promise<Operation[]> =>
    (await rowsOf(dialect.operationColumns, where)).map(operationOf);
  const whose = (own: bigint, bind: Bind) => ofAccount(account, dialect, own, bind);

  return {
    find: async (name) => {
      const found = await select((own, bind) => {
        const given = bind(name);
        const mine = whose(own, bind);
        const byId = `(SELECT o.number FROM lenden.operations o WHERE o.id = ${given})`;
        const byName = [
          newest(`${mine} AND o.reference = ${given}`),
          newest(`${mine} AND o.remote_id = ${given}`),
        ];
        // Others may have given an operation the reference of a payout as its ID.
        const found = isOperationId(name) ? [byId, ...byName] : [...byName, byId];
        return `o.number = coalesce(${found})`;
      });
      return found[0];
    },

    findElsewhere: async (name) => {
      const found = await select((own, bind) => {
        const given = bind(name);
        const others = dialect.isIn(
          "o.account",
          `SELECT a.number FROM lenden.accounts a
           WHERE a.environment = ${bind(environment)} AND a.number <> ${bind(own)}`,
        );
        return `o.number = (SELECT max(one.number) FROM (
          SELECT ${newest(`${others} AND o.reference = ${given}`)} AS number UNION ALL
          SELECT ${newest(`${others} AND o.remote_id = ${given}`)}) one)`;
      });
      return found[0];
    },

    ofNames: (names) =>
      driver.read(function* (): Work<Operation[]> {
        const { number } = yield* account.readOnce();
        const { values, bind } = parameters();
        const mine = whose(number, bind);
        const given = { columns: nameColumns, rows: names.map((name) => ({ name })) };
        const having = (column: string) => {
          const sql = `SELECT ${dialect.operationColumns} FROM given CROSS JOIN lenden.operations o
            WHERE ${mine} AND o.${column} = given.name`;
          return { sql, values, given };
        };
        const found = (yield [having("reference"), having("remote_id")]).flat().map(operationOf);
        const byNumber = new Map(found.map((one) => [one.number, one]));
        return [...byNumber.values()].sort((one, other) => (one.number < other.number ? -1 : 1));
      }),

    refundsOf: (payment) =>
      select(
        (own, bind) => `${scope.inSql("o", bind(scope.value(own)))}
          AND o.kind = 'refund' AND o.target = ${bind(payment)} ${byNumber}`,
      ),

    unsettled: () =>
      select(
        (own, bind) => `${whose(own, bind)} AND o.state <> 'CONFIRMED'
          AND o.state IN ('INTENT', 'UNCERTAIN') ${byNumber}`,
      ),

    ...createCompared(driver, recorder, account),
    ...createHistories(driver, loginOf(recorder)),
  };
}

type Compared = Pick<Ledger, "ofRecord" | "recordHolder" | "assertRecorded">;

function createCompared(driver: Reading, recorder: Recorder, account: RunAccount): Compared {
  const { dialect } = driver;
  const rowsOf = rowsIn(driver, account);
  const compare = (rows: Row[]) => foundIn(rows, { appendedTo: () => [], recorder });
  const newestOf =
    (kind: Kind, remoteId: string): Where =>
    (own, bind) =>
      `${ofAccount(account, dialect, own, bind)} AND o.kind = ${bind(kind)}
        AND o.remote_id = ${bind(remoteId)} ${byNumber} DESC LIMIT 1`;
  return {
    ofRecord: async (kind, remoteId) => {
      const rows = await rowsOf(dialect.foundColumns, newestOf(kind, remoteId));
      compare(rows);
      return rows.map(operationOf)[0];
    },

    recordHolder: async (kind, remoteId) => {
      const [row] = await rowsOf("o.id", newestOf(kind, remoteId));
      return row && String(row.id);
    },

    assertRecorded: (operations) =>
      driver.read(function* (): Work<void> {
        const rows = operations.map(({ number }) => ({ number }));
        const given = { columns: { number: "number" }, rows } as const;
        const sql = `SELECT ${dialect.foundColumns} FROM given CROSS JOIN lenden.operations o
          WHERE o.number = given.number`;
        const [found = []] = yield [{ sql, values: [], given }];
        const now = new Map(compare(found).map((one) => [one.number, one]));
        // An edit may have been put back since they were read.
        const changed = operations.find((one) => !isAsRead(one, now.get(one.number)));
        if (changed) throw changedSince(changed);
      }),
  };
}

/** True if all that outcomes decide is as it was read. */
function isAsRead(read: Operation, now: Operation | undefined): boolean {
  const { state, status, code, remoteId, paymentUrl } = read;
  return (
    now?.state === state &&
    now.status === status &&
    now.code === code &&
    now.remoteId === remoteId &&
    now.paymentUrl === paymentUrl
  );
}

function changedSince({ id, reference }: Operation): Failure {
  const message = `Operation ${reference ?? id} changed while it was read.`;
  return new Failure("operation.locked", message, { hint: "Run the same command again." });
}

/** A condition on operations `o`. */
type Where = (own: bigint, bind: Bind) => string;

/** Reads columns of the operations that a condition finds. */
function rowsIn({ read }: Reading, account: RunAccount) {
  return (columns: string, where: Where): Promise<Row[]> =>
    read(function* () {
      const { number } = yield* account.readOnce();
      const { values, bind } = parameters();
      const sql = `SELECT ${columns} FROM lenden.operations o WHERE ${where(number, bind)}`;
      return yield* query(sql, ...values);
    });
}

type Histories = Pick<Ledger, "historyOf" | "lastSentAt" | "ordersOf" | "holderOf">;

/** @param own the login of this run */
function createHistories({ dialect, read, snapshot }: Reading, own: string): Histories {
  const orders = `SELECT ${dialect.foundColumns} FROM given CROSS JOIN lenden.operations o WHERE o.number = given.number`;
  const historyOf: Ledger["historyOf"] = ({ number }) =>
    read(function* () {
      const sql =
        "SELECT at, event, data, login FROM lenden.events WHERE operation = $1 ORDER BY number";
      return (yield* query(sql, number)).map(eventOf);
    });
  return {
    historyOf,
    lastSentAt: async (operation) => lastSentAt(await historyOf(operation)),
    ordersOf: (payouts) =>
      read(function* (): Work<RecordedOrder[]> {
        const rows = payouts.map(({ number }) => ({ number }));
        const given = { columns: { number: "number" }, rows } as const;
        const [found = []] = yield [{ sql: orders, values: [], given }];
        return found.map((row) => {
          const history = readHistory(String(row.history ?? "[]"));
          const payout = foundOperationOf(row, history, own);
          const event = history.find((one) => requestIn(one) === payout.lastAsked) ?? history[0];
          return { payout, event };
        });
      }),
    holderOf: ({ number }) =>
      snapshot(function* ({ isAlive }) {
        const sql = `SELECT ${dialect.holderColumn("o")} FROM lenden.operations o WHERE o.number = $1`;
        const [row = {}] = yield* query(sql, number);
        const holder = holderIn(row);
        return holder && (yield* isAlive(holder)) ? holder : undefined;
      }),
  };
}

function requestIn(one: HistoryEvent): Operation["asked"] | undefined {
  return one.event === "reopened" || one.event === "resumed" ? one.data.asked : undefined;
}

const nameColumns: ColumnTypes = { name: "text" };

const newest = (where: string) =>
  `(SELECT max(o.number + 0) FROM lenden.operations o WHERE ${where})`;

/** The condition that an operation belongs to the account of the run. */
function ofAccount({ isAll }: RunAccount, { isIn }: Dialect, own: bigint, bind: Bind): string {
  return isAll
    ? isIn("o.account", "SELECT a.number FROM lenden.accounts a")
    : `o.account = ${bind(own)}`;
}
