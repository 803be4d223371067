import type { Context } from "../cli/command/context.ts";
import { flag, type Read, someOf, takes } from "../cli/command/flag.ts";
import { type Cell, type Table, table } from "../cli/output/view.ts";
import type { Ui } from "../cli/terminal/ui.ts";
import { usage } from "../domain/failure.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { zoneOf } from "./time-filters.ts";

/** The most rows of a table. All other output is for programs, and has all rows. */
const usualLimit = 50;
const pageSize = 500;
/** Counting more rows than this could take longer than listing them. */
const mostCounted = 10_000;
const all = Number.MAX_SAFE_INTEGER;

export const limit = flag.optional(
  "--limit <n>",
  `Maximum number of rows, or all (default: ${usualLimit} in a table)`,
  takes(["all"], readLimit),
);

function readLimit(text: string): Result<number> {
  if (text === "all") return ok(all);
  return /^[1-9][0-9]{0,8}$/.test(text)
    ? ok(Number(text))
    : err(
        `${quoted(text)} is not a whole number from 1 to 999999999. To list all, use --limit all.`,
      );
}

interface Listed<Item> {
  read(limit: number): AsyncIterable<Item> | Iterable<Item>;
  /** How many there are; more than `most` are not counted. */
  count(most: number): Promise<number>;
}

/** The items of a list, page by page. A table or CSV states how many rows it omits. An empty list is an empty page. */
export async function* itemsOf<Item>(
  { read, count }: Listed<Item>,
  given: number | undefined,
  { output, notice }: Pick<Ui, "output" | "notice">,
): AsyncGenerator<Item[]> {
  const most = given ?? (output === "table" ? usualLimit : all);
  let page: Item[] = [];
  let shown = 0;
  for await (const item of read(most)) {
    page.push(item);
    shown += 1;
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0 || shown === 0) yield page;
  if (shown < most || (output !== "table" && output !== "csv")) return;
  const counted = Math.max(shown, mostCounted);
  const total = await count(counted + 1);
  if (total === shown) return;
  const found =
    total > counted ? `${shown} shown; more than ${counted} match.` : `${shown} of ${total} shown.`;
  notice(`${found} To list all, add --limit all.`);
}

/** A list of items: the columns that it may show, by their names in CSV. */
export interface List<Item, Name extends string> {
  columns: Record<Name, ListColumn<Item>>;
  /** In a table; those that a narrow terminal has no room for are `spare`. */
  table: Name[];
  spare?: Name[];
  /** In CSV, where their order is a contract: a new column is the last one. */
  all: Name[];
  id(item: Item): string;
}

/** Its heading, and its cell of an item. */
export type ListColumn<Item> = [label: string, cell: (one: Item) => Cell];

/** A page of a list, and what its view depends on. */
export interface Page<Item, Name extends string = string> {
  items: Item[];
  columns: Name[];
  spare: Name[];
  /** The zone of its times. */
  zone: string;
  /** True if no filter was given. */
  isWhole: boolean;
}

/** The values of its flags. */
export interface GivenList<Name extends string> {
  columns?: Name[] | undefined;
  limit?: number | undefined;
  [filter: string]: unknown;
}

export function columnsFlag<Name extends string>({ all }: Pick<List<never, Name>, "all">) {
  const words: Read<Name[]> = someOf(all);
  return flag.optional("--columns <list>", "Columns to show, separated by commas", words);
}

/**
 * The pages of a list.
 *
 * @throws Failure `usage` if columns and JSON were asked for, which has all fields
 */
export async function* pagesOf<Item, Name extends string>(
  { table, all, spare = [] }: Pick<List<Item, Name>, "table" | "all" | "spare">,
  listed: Listed<Item>,
  { columns, limit, ...filters }: GivenList<Name>,
  context: Pick<Context, "config" | "ui">,
): AsyncGenerator<Page<Item, Name>> {
  const { output } = context.ui;
  if (columns && (output === "json" || output === "ndjson"))
    throw usage(["--columns cannot be used with JSON output, which has all fields."]);
  const shown = {
    columns: columns ?? (output === "csv" ? all : table),
    spare: columns ? [] : spare,
    zone: await zoneOf(context),
    isWhole: Object.values(filters).every((one) => one === undefined),
  };
  for await (const items of itemsOf(listed, limit, context.ui)) yield { items, ...shown };
}

/** A page as a table of the columns that a run shows. */
export function pageTable<Item, Name extends string>(
  { items, columns, spare, zone }: Page<Item, Name>,
  { columns: known, id }: Pick<List<Item, Name>, "columns" | "id">,
  empty: string,
): Table {
  const isSpare = (key: string) => spare.some((name) => name === key);
  const shown = table<Item>(items, {
    ...{ id, empty, zone },
    columns: Object.fromEntries(columns.map((name) => [name, known[name]])),
  });
  return {
    ...shown,
    columns: shown.columns.map((one) => (isSpare(one.key) ? { ...one, isSpare: true } : one)),
  };
}
