import type { Database } from "../database.ts";

/** How a draft differs from a batch that was planned: the first few rows that do, one line each. */
export function differencesTo(database: Database, batch: bigint, limit: number): string[] {
  return database
    .prepare(differences)
    .all(batch, batch, BigInt(limit))
    .map(({ text }) => String(text));
}

const differences = `
  SELECT 'line ' || d.line || ': ' || CASE WHEN r.row IS NULL
      THEN 'this row is not in the plan'
      ELSE ${payment("d")} || '; the plan has ' || ${payment("r")} END AS text
    FROM draft_rows d LEFT JOIN batch_rows r ON r.batch = ? AND r.row = d.row
    WHERE r.fingerprint IS NOT d.fingerprint
  UNION ALL
  SELECT 'the plan has ' || ${payment("r")} || ', and the file does not'
    FROM batch_rows r WHERE batch = ? AND row > (SELECT count(*) FROM draft_rows)
  LIMIT ?`;

/** What a row pays to whom, in SQL: `1250.50 to 01712345678 by bkash`. */
function payment(row: string): string {
  const amount = `printf('%d.%02d', ${row}.amount_paisa / 100, ${row}.amount_paisa % 100)`;
  return `${amount} || ' to ' || ${row}.recipient || coalesce(' by ' || ${row}.method, '')`;
}
