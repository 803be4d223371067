import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import { numberIn, type TextRow } from "../values.ts";

/** The columns of an operation, with the name of its account: what `operationOf` reads. */
export const operationColumns =
  "o.*, (SELECT name FROM accounts WHERE number = o.account) AS account_name";

const rowsPerPage = 500;
/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);

export interface Pages {
  /** The column of the number that the rows are ordered by. */
  by?: string;
  /** Parameters of the query. The number before the page is one more, the last. */
  values?: Value[];
}

/** The rows of an ordered query, page by page. */
export function* paged(...query: Parameters<typeof pagesOf>): Iterable<Row> {
  for (const page of pagesOf(...query)) yield* page;
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
 * As `pagesOf`, with every value as text. A page is one JSON text, because a value that is handed over by SQLite
 * costs more than to parse it.
 *
 * @param columns a SQL expression for each
 */
export function* textPagesOf(
  database: Database,
  columns: Record<string, string>,
  { from, ...pages }: Pages & { from: string },
): Iterable<TextRow[]> {
  const names = Object.keys(columns);
  const quoted = names.map((name) => `"${name}"`);
  const values = Object.entries(columns).map(
    ([name, value]) => `CAST(${value} AS TEXT) AS "${name}"`,
  );
  const sql = `SELECT json_group_array(json_array(${quoted})) AS page FROM (SELECT ${values} ${from}`;
  const page = database.prepare(`${sql} LIMIT ${rowsPerPage})`);
  const { by = "number", values: given = [] } = pages;
  for (let after = lowest; ; ) {
    const found: (string | null)[][] = JSON.parse(String(page.get(...given, after)?.page));
    const rows = found.map((values) => {
      const row: TextRow = {};
      for (let i = 0; i < names.length; i += 1) row[names[i] ?? ""] = values[i] ?? null;
      return row;
    });
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = BigInt(rows.at(-1)?.[by] ?? lowest);
  }
}

/** The query of every operation without its holder, with its events as the JSON text `history`. */
export function operationsWithHistory(database: Database): Parameters<typeof textPagesOf> {
  const names = database
    .prepare("SELECT name FROM pragma_table_info('operations') WHERE name != 'holder'")
    .all()
    .map(({ name }) => String(name));
  const columns = Object.fromEntries(names.map((name) => [name, `o."${name}"`]));
  const history = `(SELECT json_group_array(json_object('at', at, 'event', event, 'data', data))
    FROM (SELECT at, event, data FROM events WHERE operation = o.number ORDER BY number))`;
  const from = "FROM operations o WHERE o.number > ? ORDER BY o.number";
  return [database, { ...columns, history }, { from }];
}
