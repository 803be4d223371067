import { Failure } from "../../domain/failure.ts";
import { isObject } from "../../domain/json.ts";
import type { Engine, Row, Statement, Value } from "./database.ts";

export type OpenEngine = (path: string) => Engine;

/** Imported only here, when a database is first needed: both cost start-up time. */
export async function loadEngine(): Promise<OpenEngine> {
  const open = await loadUncached();
  return (path) => withStatementCache(distrusting(open(path)));
}

/** Views, triggers and indexes of a file call no function and read no virtual table that could do harm. */
function distrusting(engine: Engine): Engine {
  engine.exec("PRAGMA trusted_schema = OFF");
  return engine;
}

/** Prepares each statement once, so that the code can prepare it where it is used. */
function withStatementCache(engine: Engine): Engine {
  const statements = new Map<string, Statement>();
  return {
    exec: engine.exec,
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known) return known;
      const statement = engine.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
      engine.close();
    },
  };
}

async function loadUncached(): Promise<OpenEngine> {
  const builtIn = await import("node:sqlite").catch(() => undefined);
  if (builtIn) return (path) => nodeEngine(new builtIn.DatabaseSync(path));
  const installed = await import("libsql").catch((cause) => {
    throw new Failure(
      "ledger.no-engine",
      "This Node has no SQLite, and the package libsql is missing.",
      {
        hint: "Use Node 22.13 or later, or install lenden without --omit=optional.",
        cause,
      },
    );
  });
  return (path) => libsqlEngine(new installed.default(path));
}

function nodeEngine(database: import("node:sqlite").DatabaseSync): Engine {
  // Node 24.12 and later: no statement can damage the file. Earlier ones and libsql have no such mode.
  database.enableDefensive?.(true);
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const { text, bound } = bindable(sql);
      const statement = database.prepare(text);
      statement.setReadBigInts(true);
      return {
        run: (...values) => Number(statement.run(...bound(values)).changes),
        get: (...values) => rowOf(statement.get(...bound(values))),
        all: (...values) => rowsOf(statement.all(...bound(values))),
        iterate: (...values) => eachRow(statement.iterate(...bound(values))),
      };
    },
    close: () => database.close(),
  };
}

/** Values by name, then those of `?` in their order. */
type Bound = [named: Record<string, Value>, ...listed: Value[]];

/**
 * Node before 22.20 and 24.7 binds a list of values only to `?`: to it, `?1` is a name. A statement with a numbered
 * parameter gets numbers for all of them, and its values by name.
 */
function bindable(sql: string): { text: string; bound(values: Value[]): Bound } {
  if (!/\?\d/.test(sql)) return { text: sql, bound: (values) => [{}, ...values] };
  const numbers = new Set<number>();
  const text = sql.replace(/\?(\d*)/g, (_, digits: string) => {
    const number = digits === "" ? Math.max(0, ...numbers) + 1 : Number(digits);
    numbers.add(number);
    return `?${number}`;
  });
  const named = (values: Value[]) =>
    Array.from(numbers, (number) => [`?${number}`, values[number - 1] ?? null] as const);
  return { text, bound: (values) => [Object.fromEntries(named(values))] };
}

function libsqlEngine(database: import("libsql").Database): Engine {
  return {
    exec: (sql) => void database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql).safeIntegers(true);
      return {
        // One array costs less, because libsql flattens a list of parameters.
        run: (...parameters) => statement.run(parameters).changes,
        get: (...parameters) => rowOf(statement.get(parameters)),
        all: (...parameters) => rowsOf(statement.all(parameters)),
        iterate: (...parameters) => eachRow(statement.iterate(parameters)),
      };
    },
    close: () => void database.close(),
  };
}

function rowsOf(rows: unknown[]): Row[] {
  if (rows.every(rowGuard())) return rows;
  throw new TypeError(notRow);
}

function* eachRow(rows: Iterable<unknown>): Iterable<Row> {
  const isRow = rowGuard();
  for (const row of rows) {
    if (!isRow(row)) throw new TypeError(notRow);
    yield row;
  }
}

/** Keeps the columns alone: libsql adds a `_metadata` object to what `get` returns. */
function rowOf(found: unknown): Row | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  const { _metadata, ...row } = { _metadata: undefined, ...found };
  if (rowGuard()(row)) return row;
  throw new TypeError(notRow);
}

const notRow = "a column holds neither text nor a whole number";

/** Checks rows of one statement. They have the same columns, and to list those of each row takes longer than the check. */
function rowGuard(): (found: unknown) => found is Row {
  let names: string[] | undefined;
  return (found): found is Row => {
    if (!isObject(found)) return false;
    names ??= Object.keys(found);
    for (const name of names) if (!isValue(found[name])) return false;
    return true;
  };
}

function isValue(value: unknown): value is Value {
  return typeof value === "string" || typeof value === "bigint" || value === null;
}
