import { createHash } from "node:crypto";
import { Failure } from "../../domain/failure.ts";
import { type Query, rowsJson } from "../postgres/connection.ts";
import { type Row, type TextRow, textRow } from "../values.ts";

/** The server's numbers, by those of the file. */
export type Numbers = Map<string | null | undefined, string>;

/**
 * The columns of a row that the server gets: it knows neither the process that worked on it, which has ended, nor who
 * recorded it in the file. Its own login is that of who moves the file.
 */
export function movedColumns({
  process: _,
  held_since: _since,
  login: _login,
  ...columns
}: Row): TextRow {
  return textRow(columns);
}

/**
 * Stores rows in the columns that they have.
 *
 * @param key the column by which the rows are in order
 * @returns the key of each row
 * @throws Failure `ledger.move-differs` if the server stored others
 */
export async function insertRows(
  query: Query,
  table: string,
  rows: TextRow[],
  key = "number",
): Promise<string[]> {
  const [first] = rows;
  if (!first) return [];
  const columns = Object.keys(first);
  const names = columns.map((name) => `"${name}"`).join(", ");
  const [stored] = await query(
    `WITH copied AS (INSERT INTO lenden.${table} (${names})
       SELECT ${names} FROM json_populate_recordset(NULL::lenden.${table}, $1::json) RETURNING *)
     SELECT ${digestSql(columns, key)} AS digest, string_agg("${key}"::text, ' ' ORDER BY "${key}") AS keys
     FROM copied`,
    rowsJson(rows),
  );
  if (stored?.digest !== digestOf(rows, columns)) throw differs(`The table ${table}`);
  return stored.keys?.split(" ") ?? [];
}

/** The digest of columns of rows in their order: of each value its length and its text. */
export function digestOf(rows: TextRow[], columns: readonly string[]): string {
  const digest = createHash("sha256");
  for (const row of rows) {
    let text = "";
    for (const name of columns) {
      const value = row[name] ?? null;
      text += value === null ? "-" : `${Buffer.byteLength(value)}:${value}`;
    }
    digest.update(text);
  }
  return digest.digest("hex");
}

/** The same digest, made by the server. */
export function digestSql(columns: readonly string[], order: string): string {
  const values = columns.map((name) => {
    const text = `"${name}"::text`;
    return `coalesce(octet_length(convert_to(${text}, 'UTF8')) || ':' || ${text}, '-')`;
  });
  const all = `coalesce(string_agg(${values.join(" || ")}, '' ORDER BY "${order}"), '')`;
  return `encode(sha256(convert_to(${all}, 'UTF8')), 'hex')`;
}

export function required(accounts: Numbers, { account }: TextRow): string {
  const found = accounts.get(account);
  if (found === undefined) throw new Error("the ledger names an account that it does not have");
  return found;
}

export function differs(what: string): Failure {
  return new Failure("ledger.move-differs", `${what} is not the same on the server.`, {
    hint: "Report this problem. Until then, nothing is sent with the ledger of this machine.",
  });
}

/**
 * What another login recorded there is not taken for what the file has: it may be a copy that counts less.
 *
 * @param all each with its login
 */
export function recordedByOthers(all: string[]): Failure {
  return conflict(
    all.slice(0, 5).join("; "),
    "Move the file with the login that moved it before. To use the server without moving the file, run 'lenden ledger check --accept-file'.",
  );
}

export function conflict(what: string, hint = resolveBoth): Failure {
  return new Failure(
    "ledger.move-conflict",
    `The server's ledger differs from the ledger of this machine: ${what}.`,
    { hint },
  );
}

const resolveBoth =
  "Resolve these operations in both ledgers with 'lenden ledger resolve', then run the command again.";
