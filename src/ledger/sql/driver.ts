import { type GuardScope, guardScope } from "../account.ts";
import type { Row } from "../values.ts";
import type { Owner } from "../worker.ts";
import { batchOfOperation } from "./conditions.ts";
import type { Write } from "./transaction.ts";
import type { Value, Work } from "./work.ts";

/** A database, as the ledger uses it. */
export interface Driver {
  dialect: Dialect;
  /** Runs work that only reads. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Runs work that only reads, and decides about what processes hold. In SQLite all of it is of one moment. */
  snapshot<Result>(work: (processes: Processes) => Work<Result>): Promise<Result>;
  /** Runs work in one transaction, durable when it resolves. */
  write<Result>(work: (write: Write) => Work<Result>): Promise<Result>;
  /**
   * As `write`, after work that may take long and needs no lock on the ledger. SQLite commits what that work yields
   * together, each in a transaction of its own; PostgreSQL commits all or nothing.
   *
   * @param before gets the lock of this process
   */
  writeAfter<Before, Result>(
    before: (ownLock: string) => Work<Before>,
    work: (write: Write, before: Before) => Work<Result>,
  ): Promise<Result>;
  /**
   * Rows in the order of a number, page by page, so that memory does not grow with the ledger.
   *
   * @param columns a SQL expression for each
   * @param from FROM and WHERE
   */
  pages(columns: Record<string, string>, from: string, pages: Pages): AsyncIterable<Row[]>;
}

export interface Pages {
  /** The column of the number, which is the last one of `columns` by its name alone. */
  by: string;
  values: Value[];
}

export type Processes = Pick<Write, "isAlive">;

/** What a database does in its own way. */
export interface Dialect {
  /** A column of a number, so that the database does not look it up in an index, or walk along one. */
  unindexed(column: string): string;
  /** The same for a column of a text. */
  unindexedText(column: string): string;
  /** True of a column with one of the values that a query finds, by an index of the column. */
  isIn(column: string, select: string): string;
  /** Joins the operations whose numbers a query finds for each row before it, at most so many as its LIMIT. */
  withEach(select: string, name: string): string;
  /** The functions that make their arguments an object or an array of JSON. */
  jsonObject: string;
  jsonArray: string;
  /** The aggregate that makes its values an array of JSON. */
  jsonArrayOf: string;
  /** True if lenden stores the login of who adds a row. A server stores it itself, because a client could lie. */
  storesLogin: boolean;
  /** What inserts rows in place of those that an interrupted run left; PostgreSQL leaves none. */
  insertAgain: string;
  /** Finds a change after event $2 that concerns a row of batch $1, by a payout or a plan of any account. */
  changedSince: string;
  /** The columns of an operation `o`, with the name of its account and its holder: what `operationOf` reads. */
  operationColumns: string;
  /** As `operationColumns`, with its batch and its events: what `foundOperationOf` reads. */
  foundColumns: string;
  /** The process that works on what the row of a table is about, as JSON named `holder`. */
  holderColumn(table: string): string;
}

/** @param person what `jsonObject` gets of the process's person, or an empty text */
export function dialectOf({
  person,
  ...own
}: Omit<Dialect, "holderColumn" | "operationColumns" | "foundColumns"> & {
  person: string;
}): Dialect {
  // A process that the ledger does not know may still run.
  const holderColumn = (table: string) => `(
    SELECT ${own.jsonObject}('pid', coalesce(p.pid, 0), 'lock', one.id,
      'machine', coalesce(p.machine, 'an unknown machine'), ${person} 'since', ${table}.held_since)
    FROM (SELECT ${table}.process AS id) one LEFT JOIN lenden.processes p ON p.id = one.id
    WHERE one.id IS NOT NULL) AS holder`;
  const operationColumns = `o.*,
    (SELECT a.name FROM lenden.accounts a
      WHERE a.number = o.account AND a.environment = o.environment) AS account_name,
    ${holderColumn("o")}`;
  const history = `(
    SELECT ${own.jsonArrayOf}(${own.jsonObject}('at', e.at, 'event', e.event, 'data', e.data, 'login', e.login, 'number', e.number))
    FROM (SELECT at, event, data, login, number FROM lenden.events WHERE operation = o.number ORDER BY number) e)`;
  const foundColumns = `${operationColumns}, ${batchOfOperation}, ${history} AS history`;
  return { ...own, holderColumn, operationColumns, foundColumns };
}

/** Makes a database use the index of a condition that finds few rows, not that of the account. */
export function scopeOf(owner: Owner, { unindexed }: Dialect): GuardScope {
  const scope = guardScope(owner);
  if (scope.isProduction) return scope;
  return {
    ...scope,
    inSql: (table, one) => `${unindexed(`${table}.account`)} = CAST(${one} AS bigint)`,
  };
}
