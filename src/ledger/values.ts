import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";

/*
 * Rows of a database, as the types of the ledger. A number is a bigint or its digits, and a boolean is a
 * number or "t": databases and their queries differ.
 */

export type Value = string | bigint | null;
export type Row = Record<string, Value>;
/** A row with every value as text. */
export type TextRow = Record<string, string | null>;

/** Reads the columns of a row, each by its name. */
export function reader(row: Row) {
  return {
    text: (name: string): string => String(row[name] ?? ""),
    maybe: (name: string): string | null => textOrNull(row[name]),
  };
}

export function textOrNull(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

export function numberIn(value: Value | undefined): bigint {
  return typeof value === "bigint" ? value : BigInt(value ?? 0n);
}

export function isTrue(value: Value | undefined): boolean {
  return value === 1n || value === "1" || value === "t";
}

export function textRow(row: Row): TextRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOrNull(value)]));
}

/** A JSON value that a check accepts. @throws Error if the text is another one */
export function jsonOf<Of>(value: Value | undefined, fits: (json: unknown) => json is Of): Of {
  const json = jsonIn(String(value))?.value;
  if (fits(json)) return json;
  throw new Error("the ledger has JSON that lenden does not write");
}

/**
 * Reads a row.
 *
 * @param name what a message calls it: `Operation OP1`
 * @throws Failure `ledger.modified` if lenden writes no such row
 */
export function readRow<Of>(name: () => string, read: () => Of): Of {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(
      "ledger.modified",
      `${name()} was modified in the ledger: it cannot be read.`,
      {
        hint: "To see what was modified, run 'lenden ledger check'. To restore a file, run 'lenden ledger restore <file>'. On a server, ask the owner of the tables to correct the row.",
        cause,
      },
    );
  }
}

export function known<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new Error("the ledger has a value that this version of lenden does not know");
}

/** The items of rows by the text of a column, in their order. */
export function grouped<Item>(
  rows: Row[],
  column: string,
  read: (row: Row) => Item,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const row of rows) {
    const key = String(row[column]);
    const group = groups.get(key);
    if (group) group.push(read(row));
    else groups.set(key, [read(row)]);
  }
  return groups;
}

/** A text that every database can store: without half of a character, and without NUL. */
export function storable(text: string): string {
  const whole = text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\uFFFD") : whole;
}
