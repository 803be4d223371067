import type { Database } from "../../platform/sqlite/database.ts";
import type { Holder } from "../operation.ts";
import { type Driver, dialectOf } from "../sql/driver.ts";
import { insertSql, type Write } from "../sql/transaction.ts";
import { type ColumnTypes, done, runNow, type Statement, type Work } from "../sql/work.ts";
import { loginOf, nowIn, type Worker } from "../worker.ts";
import { textPagesOf } from "./pages.ts";
import { statementsOn, writeOn } from "./statements.ts";

/** One SELECT per index: with OR, SQLite would compare all rows of two plans with each other. */
const changedSince = [
  "lenden.operations o ON o.number = e.operation",
  "lenden.batch_rows o ON o.batch = e.batch",
]
  .flatMap((changed) =>
    [
      "r.reference = o.reference",
      "r.recipient_key = o.recipient_key AND r.amount_paisa = o.amount_paisa",
    ].map(
      (isSame) => `
        SELECT 1 FROM lenden.events e CROSS JOIN ${changed} CROSS JOIN lenden.batch_rows r ON ${isSame}
        WHERE e.number > $2 AND e.batch IS NOT $1 AND r.batch = $1`,
    ),
  )
  .join(" UNION ALL ")
  .concat(" LIMIT 1");

export const dialect = dialectOf({
  ...{ changedSince, insertAgain: "INSERT OR REPLACE" },
  unindexed: (column) => column,
  unindexedText: (column) => column,
  isIn: (column, select) => `${column} IN (${select})`,
  withEach: (select, name) =>
    `CROSS JOIN lenden.operations ${name} WHERE ${name}.number IN (${select})`,
  ...{ jsonObject: "json_object", jsonArray: "json_array" },
  jsonArrayOf: "json_group_array",
  person: "",
  storesLogin: true,
});

/** Reads a ledger file without a process that holds something. */
export function readsOn(database: Database): Pick<Driver, "dialect" | "read"> {
  return { dialect, read: async (work) => runNow(work(), statementsOn(database)) };
}

/** Runs the ledger's work on SQLite. */
export function createDriver(database: Database, worker: Worker): Driver {
  const answer = statementsOn(database);
  let isRegistered = false;
  const isAlive = (holder: Holder) => done(worker.isAlive(holder));
  const write = <Result>(work: (write: Write) => Work<Result>): Result => {
    let isNew = false;
    const result = writeOn(database, loginOf(worker), (pending, nextOperation) => {
      worker.assertSeen();
      return work({
        isAlive,
        nextOperation,
        send: (statement) => pending.send(statement),
        append: (event) => pending.append(event),
        appendedTo: (operation) => pending.appendedTo(operation),
        ownLock: () => worker.holder.lock,
        holder: (since) => {
          const { pid, lock, machine } = worker.holder;
          if (!isRegistered && !isNew) pending.send(registration(worker, lock));
          isNew = true;
          return { pid, lock, machine, since };
        },
        // The operating system shows whether a process still runs.
        loseIfEnded: () => done(undefined),
      });
    });
    isRegistered ||= isNew;
    return result;
  };
  return {
    ...readsOn(database),
    snapshot: async (work) => database.snapshot(() => runNow(work({ isAlive }), answer)),
    write: async (work) => write(work),
    writeAfter: async (before, work) => {
      const found = runNow(before(worker.holder.lock), (statements) =>
        database.transaction(() => answer(statements)),
      );
      return write((one) => work(one, found));
    },
    pages: (columns, from, pages) => inTurns(textPagesOf(database, columns, from, pages)),
  };
}

async function* inTurns<Page>(pages: Iterable<Page>): AsyncIterable<Page> {
  yield* pages;
}

/** Makes this process known, before it holds something. */
function registration(worker: Worker, id: string): Statement {
  const { origin, command } = worker;
  const { pid, machine } = worker.holder;
  const row = {
    ...{ id, user_name: worker.user, machine, pid: BigInt(pid), command },
    ...{ origin: JSON.stringify(origin), started_at: nowIn(worker) },
  };
  const sql = `${insertSql("processes", processColumns)} WHERE true ON CONFLICT (id) DO NOTHING`;
  return { sql, values: [], given: { columns: processColumns, rows: [row] } };
}

const processColumns: ColumnTypes = {
  ...{ id: "text", user_name: "text", machine: "text", pid: "number", command: "text" },
  ...{ origin: "text", started_at: "text" },
};
