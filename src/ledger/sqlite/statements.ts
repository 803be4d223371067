import type { Database, Statement as Prepared } from "../../platform/sqlite/database.ts";
import { beginning, type Event } from "../chain.ts";
import { headIn, selectHead } from "../head.ts";
import { Pending } from "../sql/transaction.ts";
import { done, RowsMissing, runNow, type Statement, type Value, type Work } from "../sql/work.ts";
import { numberIn, type Row } from "../values.ts";

/** A statement, as SQLite runs it: `?` in place of each value. */
interface Compiled {
  prepared: Prepared;
  /** Of each `?`: the place among the values, or the column of the given row. */
  order: (number | string)[];
  isRead: boolean;
}

const compiledOn = new WeakMap<Database, Map<string, Compiled>>();

/** Runs statements that are written for every database. */
export function statementsOn(database: Database): (statements: Statement[]) => Row[][] {
  const answer = answerOn(database);
  return (statements) => statements.map(answer);
}

function answerOn(database: Database): (one: Statement) => Row[] {
  const known = compiledOn.get(database) ?? new Map<string, Compiled>();
  compiledOn.set(database, known);
  return (one) => {
    const { sql, given, rows } = one;
    const { prepared, order, isRead } = known.get(sql) ?? compile(database, sql, known);
    const found: Row[] = [];
    let changed = 0;
    for (const row of given?.rows ?? [{}]) {
      const values = valuesOf(one, order, row);
      if (isRead) found.push(...prepared.all(...values));
      else changed += prepared.run(...values);
    }
    if (rows === undefined) return found;
    if (rows !== (isRead ? found.length : changed))
      throw new RowsMissing(`the ledger lacks rows of: ${sql}`);
    return [];
  };
}

/**
 * Values are bound by their places, which is faster than by number. With the plus, SQLite does not read a value for its
 * plan: else it would prepare the statement again whenever the value changes.
 */
function compile(database: Database, sql: string, known: Map<string, Compiled>): Compiled {
  const order: (number | string)[] = [];
  const text = sql
    .replaceAll("lenden.", "")
    .replace(/FROM given CROSS JOIN\b/, "FROM")
    .replace(/FROM given\b(?!\.)/, "")
    .replace(/\$(\d+)|\bgiven\.(\w+)/g, (_, number?: string, column?: string) => {
      order.push(column ?? Number(number) - 1);
      return "+?";
    });
  const isRead = /^\s*(?:SELECT|WITH)|RETURNING/.test(sql);
  const compiled = { prepared: database.prepare(text), order, isRead };
  known.set(sql, compiled);
  return compiled;
}

function valuesOf({ values }: Statement, order: (number | string)[], row: Row = {}) {
  return order.map((one) => {
    const value: Value | undefined = typeof one === "number" ? values[one] : row[one];
    return typeof value === "number" ? BigInt(value) : (value ?? null);
  });
}

/**
 * Runs work in one transaction, which nothing interrupts.
 *
 * @param login who writes
 */
export function writeOn<Result>(
  database: Database,
  login: string,
  work: (pending: Pending, nextOperation: () => bigint) => Work<Result>,
): Result {
  const answer = statementsOn(database);
  const rowOf = (sql: string) => answer([{ sql, values: [] }])[0]?.[0];
  return database.transaction(() => {
    const pending = new Pending(login);
    let next: bigint | undefined;
    const nextOperation = (): bigint => {
      next ??= numberIn(rowOf(newestOperation)?.number);
      next += 1n;
      return next;
    };
    const result = runNow(work(pending, nextOperation), (statements) => {
      answer(pending.take());
      return answer(statements);
    });
    answer(pending.take());
    if (pending.hasEvents)
      answer(pending.link(headIn(rowOf(selectHead)) ?? { number: 0n, hash: beginning }).statements);
    return result;
  });
}

/** Adds an event that is about the ledger as a whole. */
export function appendEvent(database: Database, event: Event, user: string): void {
  writeOn(database, user, (pending) => done(pending.append(event)));
}

const newestOperation = "SELECT max(number) AS number FROM operations";
