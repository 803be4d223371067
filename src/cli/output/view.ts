/** What a command has to show, as plain data; `render.ts` makes every output from it. */
export type View = Card | Table | Step | Line | Raw;

/** One record. */
export interface Card {
  kind: "card";
  title: string;
  /** What `--quiet` prints. */
  id: string;
  /** The command line that shows the same, for a card that is one of a story. */
  command?: string;
  fields: Field[];
}

/** Many records. */
export interface Table {
  kind: "table";
  columns: Column[];
  rows: Row[];
  /** Said instead of an empty table: what to do next. */
  empty: string;
  /** `safe` (default): cells that begin like a formula get an apostrophe. `exact`: unchanged. */
  csv?: "safe" | "exact";
}

/** One of several findings, shown as soon as it is there. */
export interface Step {
  kind: "step";
  id: string;
  /** What it is about. */
  check: string;
  state: string;
  says: string;
  todo: string | null;
}

/** One sentence, for what has no record. */
interface Line {
  kind: "line";
  text: string;
  id: string;
}

/** A text of several lines that is shown as it came, made safe. */
interface Raw {
  kind: "raw";
  text: string;
}

export interface Column {
  /** The name in CSV: the service's own where it has one. */
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
 * A value with its kind, which decides how people see it. Absent values are `null`. Only a `text`
 * is cut where a table gets narrow.
 */
export type Cell =
  | { kind: "text"; value: string | null }
  | { kind: "sentence"; value: string | null }
  | { kind: "id"; value: string | null }
  | { kind: "money"; value: number | bigint | null }
  | { kind: "time"; value: string | null }
  | { kind: "status"; value: string };

export function card(title: string, id: string, fields: Field[]): Card {
  return { kind: "card", title, id, fields };
}

export function field(key: string, label: string, cell: Cell): Field {
  return { key, label, cell };
}

/** A text; a number, a boolean and an absent value are shown as such. */
export function text(value: string | number | boolean | null | undefined): Cell {
  return { kind: "text", value: value === null || value === undefined ? null : String(value) };
}

/** A text that has to be read to its end: where a table gets narrow it goes on below its beginning. */
export function sentence(value: string): Cell {
  return { kind: "sentence", value };
}

/** An id, a reference, a number of a person: what is worth nothing in part. */
export function id(value: string | null | undefined): Cell {
  return { kind: "id", value: value ?? null };
}

/** An amount as the service gave it, in taka; or exactly, in paisa. */
export function money(value: number | bigint | null): Cell {
  return { kind: "money", value };
}

/** An ISO 8601 time. */
export function time(value: string | null | undefined): Cell {
  return { kind: "time", value: value ?? null };
}

export function status(value: string): Cell {
  return { kind: "status", value };
}
