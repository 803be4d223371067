/** The output of a command as plain data. `render.ts` makes every output format from it. */
export type View = Card | Table | Step | Line | Raw;

/** One record. */
export interface Card {
  kind: "card";
  title: string;
  /** Printed by `--quiet`. */
  id: string;
  /** The command line that shows the same; only the demo has one. */
  command?: string;
  fields: Field[];
}

/** Many records. */
export interface Table {
  kind: "table";
  /** Their order is a contract in CSV, which scripts read by place: a new column is the last one. */
  columns: Column[];
  rows: Row[];
  /** Shown instead of an empty table: what to do next. */
  empty: string;
  /** The zone of its times; by default that of the profile. */
  zone?: string;
  /** `safe` (default): cells that begin like a formula get an apostrophe. `exact`: unchanged. */
  csv?: "safe" | "exact";
}

/** One of several findings, shown as soon as it is known. */
export interface Step {
  kind: "step";
  id: string;
  check: string;
  state: string;
  message: string;
  hint: string | null;
}

/** One sentence. */
interface Line {
  kind: "line";
  text: string;
  id: string;
}

/** Lines that are shown unchanged, except for control characters. */
interface Raw {
  kind: "raw";
  text: string;
}

export interface Column {
  /** True if a narrow terminal does without it. */
  isSpare?: boolean;
  /** True if a table aligns its cells to the right. */
  isRight?: boolean;
  /** The name in CSV: the API's name, if it has one. */
  key: string;
  label: string;
}

export interface Field extends Column {
  cell: Cell;
}

export interface Row {
  id: string;
  cells: Record<string, Cell>;
}

/**
 * A value and its kind, which decides how it is shown. Absent values are `null`. In a narrow table a
 * `sentence` is wrapped, a `text` and then an `id` are cut. Money is a number of BDT or a bigint of paisa;
 * a time is ISO 8601.
 */
export type Cell =
  | { kind: "text" | "sentence" | "id" | "time"; value: string | null }
  | { kind: "money"; value: number | bigint | null }
  | { kind: "status"; value: string };

type Absent = null | undefined;

export function card(title: string, id: string, fields: Field[]): Card {
  return { kind: "card", title, id, fields };
}

/**
 * A table with a row for each item.
 *
 * @param columns by their names in CSV: the label, and the cell of an item
 */
export function table<Item>(
  items: Item[],
  {
    id,
    columns,
    ...others
  }: {
    id: (item: Item) => string;
    empty: string;
    zone?: string;
    columns: Record<string, [label: string, cell: (item: Item) => Cell]>;
  },
): Table {
  const all = Object.entries(columns);
  return {
    kind: "table",
    columns: all.map(([key, [label]]) => ({ key, label })),
    rows: items.map((item) => ({
      id: id(item),
      cells: Object.fromEntries(all.map(([key, [, cell]]) => [key, cell(item)])),
    })),
    ...others,
  };
}

export function field(key: string, label: string, cell: Cell): Field {
  return { key, label, cell };
}

export function text(value: string | number | boolean | Absent): Cell {
  return { kind: "text", value: value === null || value === undefined ? null : String(value) };
}

export function sentence(value: string): Cell {
  return { kind: "sentence", value };
}

/** An ID, a reference or a phone number: cut last in a narrow table, because a part of it is useless. */
export function id(value: string | Absent): Cell {
  return { kind: "id", value: value ?? null };
}

export function money(value: number | bigint | Absent): Cell {
  return { kind: "money", value: value ?? null };
}

export function time(value: string | Absent): Cell {
  return { kind: "time", value: value ?? null };
}

export function status(value: string): Cell {
  return { kind: "status", value };
}
