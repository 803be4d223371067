import type { Context } from "../cli/command/context.ts";
import { flag, type Read, someOf } from "../cli/command/flag.ts";
import { type Cell, type Table, table } from "../cli/output/view.ts";
import { usage } from "../domain/failure.ts";

/** A column of a list: its heading, and its cell of an item. */
export type ListColumn<Item> = [label: string, cell: (one: Item) => Cell];

/** The names of the columns that a list shows; they are also their names in CSV. */
export interface Columns<Name extends string> {
  /** In a table; those that a narrow terminal has no room for are `spare`. */
  table: Name[];
  spare?: Name[];
  /** In CSV, where they only grow at their end. */
  all: Name[];
}

/** The columns that a run shows. */
export interface Shown<Name extends string> {
  columns: Name[];
  spare: Name[];
}

export function columnsFlag<Name extends string>({ all }: Columns<Name>) {
  const words: Read<Name[]> = someOf(all);
  return flag.optional("--columns <list>", "Columns of a table or CSV: id,amount", words);
}

/** @throws Failure `usage` if JSON was asked for, which has all fields */
export function shownColumns<Name extends string>(
  { table, all, spare = [] }: Columns<Name>,
  given: Name[] | undefined,
  { ui: { output } }: Pick<Context, "ui">,
): Shown<Name> {
  if (given && (output === "json" || output === "ndjson"))
    throw usage([
      "--columns cannot be used with JSON output, which has all fields. Omit --columns.",
    ]);
  return { columns: given ?? (output === "csv" ? all : table), spare: given ? [] : spare };
}

/** The items of a list as a table of the columns that a run shows. */
export function listTable<Item, Name extends string>(
  items: Item[],
  known: Record<Name, ListColumn<Item>>,
  {
    columns,
    spare,
    ...others
  }: Shown<Name> & { zone: string; id: (item: Item) => string; empty: string },
): Table {
  const shown = table<Item>(items, {
    ...others,
    columns: Object.fromEntries(columns.map((name) => [name, known[name]])),
  });
  const isSpare = (key: string) => spare.some((name) => name === key);
  return {
    ...shown,
    columns: shown.columns.map((one) => (isSpare(one.key) ? { ...one, isSpare: true } : one)),
  };
}
