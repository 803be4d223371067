import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import type { Pages as NumberedPages } from "../sql/driver.ts";
import { numberIn, type TextRow } from "../values.ts";
import { statementsOn } from "./statements.ts";

const rowsPerPage = 500;
/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);

export interface Pages {
  /** The column of the number that the rows are ordered by. */
  by?: string;
  /** Parameters of the query. The number before the page is one more, the last. */
  values?: Value[];
}

/** The rows of an ordered query page by page, so that memory does not grow with the ledger. */
export function* pagesOf(database: Database, sql: string, pages: Pages = {}): Iterable<Row[]> {
  const { by = "number", values = [] } = pages;
  const page = database.prepare(`${sql} LIMIT ${rowsPerPage}`);
  for (let after = lowest; ; ) {
    const rows = page.all(...values, after);
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = numberIn(rows.at(-1)?.[by]);
  }
}

/**
 * Rows in the order of a number page by page, with every value as text. A page is one JSON text, because a value that
 * is handed over by SQLite costs more than to parse it.
 *
 * @param columns a SQL expression for each
 * @param from FROM and WHERE
 */
export function* textPagesOf(
  database: Database,
  columns: Record<string, string>,
  from: string,
  { by, values }: NumberedPages,
): Iterable<TextRow[]> {
  const answer = statementsOn(database);
  const names = Object.keys(columns);
  const quoted = names.map((name) => `"${name}"`);
  const texts = Object.entries(columns).map(
    ([name, value]) => `CAST(${value} AS TEXT) AS "${name}"`,
  );
  const sql = `SELECT json_group_array(json_array(${quoted})) AS page FROM (SELECT ${texts} ${from}
    AND ${by} > $${values.length + 1} ORDER BY ${by} LIMIT ${rowsPerPage})`;
  const number = by.replace(/^.*\./, "").replaceAll('"', "");
  for (let after = lowest; ; ) {
    const [[found] = []] = answer([{ sql, values: [...values, after] }]);
    const page: (string | null)[][] = JSON.parse(String(found?.page));
    const rows = page.map((values) => {
      const row: TextRow = {};
      for (let i = 0; i < names.length; i += 1) row[names[i] ?? ""] = values[i] ?? null;
      return row;
    });
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = BigInt(rows.at(-1)?.[number] ?? lowest);
  }
}

/** Every operation without the process that works on it, with its events as the JSON text `history`. */
export function operationsWithHistory(database: Database): Iterable<TextRow[]> {
  const names = database
    .prepare(
      "SELECT name FROM pragma_table_info('operations') WHERE name NOT IN ('process', 'held_since')",
    )
    .all()
    .map(({ name }) => String(name));
  const columns = Object.fromEntries(names.map((name) => [name, `o."${name}"`]));
  const history = `(SELECT json_group_array(json_object('at', at, 'event', event, 'data', data, 'login', login))
    FROM (SELECT at, event, data, login FROM events WHERE operation = o.number ORDER BY number))`;
  const from = "FROM operations o WHERE true";
  return textPagesOf(database, { ...columns, history }, from, { by: "o.number", values: [] });
}
