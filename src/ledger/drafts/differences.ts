import type { Database } from "../../sqlite/database.ts";

export interface Comparing {
  /** The number of the batch. */
  batch: bigint;
  /** Whether rows are known by their references: where those were made, another file gets others. */
  references: boolean;
  limit: number;
}

/**
 * How a draft differs from a batch that was planned: the first few rows that do, one line each, and how
 * many more there are. In which order they stand makes no difference where they have references.
 */
export function differencesTo(
  database: Database,
  { batch, references, limit }: Comparing,
): string[] {
  const found = database.prepare(differences(references)).all(batch, BigInt(limit));
  const more = Number(found[0]?.total ?? 0n) - found.length;
  const shown = found.map(({ text }) => String(text));
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

/** Taken out of its batch first, so that SQLite makes an index of what they are matched by. */
const differences = (references: boolean): string => `
  WITH r AS MATERIALIZED (SELECT row, reference, amount_paisa, recipient, method,
    name, description, fingerprint FROM batch_rows WHERE batch = ?1)
  SELECT text, count(*) OVER () AS total FROM (
    SELECT 'line ' || d.line || ': ' || CASE
        WHEN r.row IS NULL THEN ${shown("d", references)} || ' is not in the plan'
        WHEN r.fingerprint IS NOT d.fingerprint THEN ${beside(payment)}
        WHEN r.name IS NOT d.name THEN ${beside(cell("name"))}
        ELSE ${beside(cell("description"))} END AS text
      FROM draft_rows d LEFT JOIN r ON ${same(references)}
      WHERE r.fingerprint IS NOT d.fingerprint
        OR r.name IS NOT d.name OR r.description IS NOT d.description
    UNION ALL
    SELECT 'the plan has ' || ${shown("r", references)} || ', and the file does not'
      FROM r LEFT JOIN draft_rows d ON ${same(references)} WHERE d.row IS NULL)
  LIMIT ?2`;

function same(references: boolean): string {
  return references ? "r.reference = d.reference" : "r.row = d.row";
}

/** A row in SQL: `INV-7, 1250.50 to 01712345678 by bkash`. */
function shown(row: string, references: boolean): string {
  return references ? `${row}.reference || ', ' || ${payment(row)}` : payment(row);
}

/** What the file has, and what the plan has, in SQL. */
function beside(part: (row: string) => string): string {
  return `${part("d")} || '; the plan has ' || ${part("r")}`;
}

/** What a row pays to whom, in SQL: `1250.50 to 01712345678 by bkash`. */
function payment(row: string): string {
  const amount = `printf('%d.%02d', ${row}.amount_paisa / 100, ${row}.amount_paisa % 100)`;
  return `${amount} || ' to ' || ${row}.recipient || coalesce(' by ' || ${row}.method, '')`;
}

function cell(name: string): (row: string) => string {
  return (row) => `'${name} ' || coalesce(${row}.${name}, '(none)')`;
}
