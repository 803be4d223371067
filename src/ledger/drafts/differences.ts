import type { Database } from "../../sqlite/database.ts";

export interface Comparing {
  /** The number of the batch. */
  batch: bigint;
  /** Whether references are compared: where they were made, another file gets others. */
  references: boolean;
  limit: number;
}

/** How a draft differs from a batch that was planned: the first few rows that do, one line each. */
export function differencesTo(
  database: Database,
  { batch, references, limit }: Comparing,
): string[] {
  return database
    .prepare(differences)
    .all(batch, references ? 1n : 0n, BigInt(limit))
    .map(({ text }) => String(text));
}

const isOtherReference = "?2 AND r.reference IS NOT d.reference";
const differences = `
  SELECT 'line ' || d.line || ': ' || CASE
      WHEN r.row IS NULL THEN 'this row is not in the plan'
      WHEN r.fingerprint IS NOT d.fingerprint THEN ${beside(payment)}
      WHEN ${isOtherReference} THEN ${beside(cell("reference"))}
      WHEN r.name IS NOT d.name THEN ${beside(cell("name"))}
      ELSE ${beside(cell("description"))} END AS text
    FROM draft_rows d LEFT JOIN batch_rows r ON r.batch = ?1 AND r.row = d.row
    WHERE r.fingerprint IS NOT d.fingerprint OR (${isOtherReference})
      OR r.name IS NOT d.name OR r.description IS NOT d.description
  UNION ALL
  SELECT 'the plan has ' || ${payment("r")} || ', and the file does not'
    FROM batch_rows r WHERE batch = ?1 AND row > (SELECT count(*) FROM draft_rows)
  LIMIT ?3`;

/** What the file has, and what the plan has, in SQL. */
function beside(shown: (row: string) => string): string {
  return `${shown("d")} || '; the plan has ' || ${shown("r")}`;
}

/** What a row pays to whom, in SQL: `1250.50 to 01712345678 by bkash`. */
function payment(row: string): string {
  const amount = `printf('%d.%02d', ${row}.amount_paisa / 100, ${row}.amount_paisa % 100)`;
  return `${amount} || ' to ' || ${row}.recipient || coalesce(' by ' || ${row}.method, '')`;
}

function cell(name: string): (row: string) => string {
  return (row) => `'${name} ' || coalesce(${row}.${name}, '(none)')`;
}
