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
