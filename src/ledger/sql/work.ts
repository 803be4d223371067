import type { Row } from "../values.ts";

/*
 * The ledger's logic is written once, for every database: as generators that yield the statements that they need
 * and get the rows of each. A driver runs them.
 */

export type Value = string | bigint | number | null;

/**
 * A statement in SQL that every database reads in the same way: `lenden.operations`, `$1`, `CAST($1 AS bigint)` if the
 * type is not clear, `IS NOT DISTINCT FROM`.
 */
export interface Statement {
  sql: string;
  values: Value[];
  /** What the statement is for: the SQL reads each row's values as `given.name`, after `FROM given`. */
  given?: Given | undefined;
  /**
   * The number of rows that the statement must change or find; otherwise nothing is committed, and `RowsMissing` is
   * thrown. Such a statement returns no rows.
   */
  rows?: number | undefined;
}

/** Rows that one statement stores or changes. PostgreSQL gets them at once, and SQLite one after the other. */
export interface Given {
  columns: ColumnTypes;
  rows: Row[];
}

export type ColumnTypes = Readonly<Record<string, "text" | "number">>;

/**
 * Work on a database. SQLite answers at once, inside one transaction that nothing interrupts. PostgreSQL gets what is
 * yielded together in one round trip. After a lost connection the work is made again, so it must keep no state outside.
 */
export type Work<Result> = Generator<Statement[], Result, Row[][]>;

/** A transaction did not find all rows that it needs. */
export class RowsMissing extends Error {}

export function* query(sql: string, ...values: Value[]): Work<Row[]> {
  const [rows = []] = yield [{ sql, values }];
  return rows;
}

/** Work that needs no statement. */
export function* done<Result>(result: Result): Work<Result> {
  yield* [];
  return result;
}

/** Works side by side: the statements that they yield at the same step are sent together. An error ends all of them. */
export function* all<Result>(works: Work<Result>[]): Work<Result[]> {
  const results: Result[] = [];
  let open = works.map((work, place) => ({ work, place, step: work.next([]) }));
  for (;;) {
    open = open.filter(({ place, step }) => {
      if (step.done) results[place] = step.value;
      return !step.done;
    });
    if (open.length === 0) return results;
    const asked = open.map(({ step }) => (step.done ? [] : step.value));
    const answers = yield asked.flat();
    let from = 0;
    open = open.map(({ work, place }, i) => {
      const until = from + (asked[i]?.length ?? 0);
      const own = answers.slice(from, until);
      from = until;
      return { work, place, step: work.next(own) };
    });
  }
}

/** As `all`, for two works with different results. */
export function* both<One, Other>(one: Work<One>, other: Work<Other>): Work<[One, Other]> {
  let [first, second] = [one.next([]), other.next([])];
  for (;;) {
    if (first.done && second.done) return [first.value, second.value];
    const ofFirst = first.done ? [] : first.value;
    const ofSecond = second.done ? [] : second.value;
    const answers = yield [...ofFirst, ...ofSecond];
    if (!first.done) first = one.next(answers.slice(0, ofFirst.length));
    if (!second.done) second = other.next(answers.slice(ofFirst.length));
  }
}

/** Runs work on a database that answers at once. */
export function runNow<Result>(
  work: Work<Result>,
  answer: (statements: Statement[]) => Row[][],
): Result {
  let step = work.next([]);
  while (!step.done) {
    let answers: Row[][];
    try {
      answers = answer(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answers);
  }
  return step.value;
}

/** Runs work on a server. */
export async function runRemotely<Result>(
  work: Work<Result>,
  answer: (statements: Statement[]) => Promise<Row[][]>,
): Promise<Result> {
  let step = work.next([]);
  while (!step.done) {
    let answers: Row[][];
    try {
      answers = await answer(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answers);
  }
  return step.value;
}

/**
 * Collects the values of a statement; returns the name of each: `$1` and so on. A database's own statement may have
 * other values.
 */
export function parameters<Own = Value>(): { values: Own[]; bind: (value: Own) => string } {
  const values: Own[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}
