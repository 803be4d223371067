import { type Driver, dialectOf } from "../sql/driver.ts";
import type { Write } from "../sql/transaction.ts";
import { runRemotely, type Work } from "../sql/work.ts";
import { numberIn } from "../values.ts";
import type { Connection, Query, Run } from "./connection.ts";
import type { ServerProcess } from "./processes.ts";

/**
 * The rows were stored just now, and the server has no statistics of them: with OFFSET and the sum, it looks up the
 * rows of each plan, and each change by its reference and by its recipient, whatever it expects.
 */
const changedSince = `
  WITH changed AS MATERIALIZED (
    SELECT o.reference, o.recipient_key, o.amount_paisa
    FROM lenden.events e JOIN lenden.operations o ON o.number = e.operation
    WHERE e.number > $2 AND e.batch IS DISTINCT FROM $1
    UNION
    SELECT o.* FROM (SELECT DISTINCT batch FROM lenden.events e WHERE e.number > $2 AND batch <> $1) e,
      LATERAL (SELECT r.reference, r.recipient_key, r.amount_paisa
        FROM lenden.batch_rows r WHERE r.batch = e.batch OFFSET 0) o)
  SELECT 1 FROM changed c WHERE ${[
    "r.reference = c.reference",
    "r.recipient_key = c.recipient_key AND r.amount_paisa = c.amount_paisa",
  ]
    .map(
      (isSame) =>
        `EXISTS (SELECT FROM lenden.batch_rows r WHERE ${isSame} AND r.batch + 0 = $1 OFFSET 0)`,
    )
    .join(" OR ")} LIMIT 1`;

/** Both of the zero and the array make PostgreSQL use the index of a condition that finds few rows, without statistics. */
export const dialect = dialectOf({
  ...{ changedSince, insertAgain: "INSERT" },
  unindexed: (column) => `${column} + 0`,
  unindexedText: (column) => `${column} || ''`,
  isIn: (column, select) => `${column} = ANY (ARRAY(${select}))`,
  withEach: (select, name) => `CROSS JOIN LATERAL (${select}) ${name}`,
  ...{ jsonObject: "json_build_object", jsonArray: "json_build_array" },
  jsonArrayOf: "json_agg",
  person: "'user', p.user_name, 'login', p.login,",
  storesLogin: false,
});

const rowsPerPage = 2_000;

/** Runs the ledger's work on a server. */
export function createDriver(connection: Connection, own: ServerProcess): Driver {
  const read: Driver["read"] = (work) =>
    runRemotely(work(), (statements) => connection.readAll(statements));

  const write = async <Result>(
    work: (write: Write) => Work<Result>,
    before?: (query: Query, run: Run) => Promise<void>,
  ): Promise<Result> => {
    let registration: ReturnType<ServerProcess["registration"]>;
    const result = await connection.write(({ pending, nextOperation, run }) => {
      registration = undefined;
      const send: Write["send"] = (statement) => pending.send(statement);
      return runRemotely(
        work({
          ...{ send, nextOperation },
          append: (event) => pending.append(event),
          appendedTo: (operation) => pending.appendedTo(operation),
          ownLock: () => own.id,
          holder: (since) => {
            if (!registration) {
              registration = own.registration();
              if (registration) send(registration.statement);
            }
            return own.holder(since);
          },
          isAlive: (holder) => own.isAlive(holder),
          loseIfEnded: () => own.loseIfEnded(),
        }),
        run,
      );
    }, before && { before });
    registration?.done();
    return result;
  };

  return {
    ...{ dialect, read, write },
    snapshot: (work) => read(() => work({ isAlive: (holder) => own.mayRun(holder) })),

    writeAfter<Before, Result>(
      before: (ownLock: string) => Work<Before>,
      work: (write: Write, before: Before) => Work<Result>,
    ): Promise<Result> {
      let found: { value: Before } | undefined;
      return write(
        (one) => {
          if (!found) throw new Error("the work before the lock did not run");
          return work(one, found.value);
        },
        async (_, run) => {
          found = { value: await runRemotely(before(own.id), run) };
        },
      );
    },

    async *pages(columns, from, { by, values }) {
      const selected = Object.entries(columns).map(([name, value]) => `${value} AS "${name}"`);
      const sql = `SELECT ${selected} ${from} AND ${by} > $${values.length + 1}
        ORDER BY ${by} LIMIT ${rowsPerPage}`;
      const number = by.replace(/^.*\./, "").replaceAll('"', "");
      for (let after = lowest; ; ) {
        const [rows = []] = await connection.readAll([{ sql, values: [...values, after] }]);
        yield rows;
        if (rows.length < rowsPerPage) return;
        after = numberIn(rows.at(-1)?.[number]);
      }
    },
  };
}

/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);
