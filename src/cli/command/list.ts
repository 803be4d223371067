import { err, ok, quoted, type Result } from "../../domain/result.ts";
import type { Ui } from "../terminal/ui.ts";
import { flag, takes } from "./flag.ts";

/** The most rows of a table. All other output is for programs, and has all rows. */
const usualLimit = 50;
const pageSize = 500;
/** Counting more rows than this could take longer than listing them. */
const mostCounted = 10_000;
const all = Number.MAX_SAFE_INTEGER;

export const limit = flag.optional(
  "--limit <n>",
  `Maximum rows, or all (default: ${usualLimit} in a table, else all)`,
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

/**
 * The items of a list, page by page; all on one page for a table, which then states how many rows it omits. An
 * empty list is an empty page.
 */
export async function* pagesOf<Item>(
  { read, count }: Listed<Item>,
  given: number | undefined,
  { output, notice }: Pick<Ui, "output" | "notice">,
): AsyncGenerator<Item[]> {
  const isTable = output === "table";
  const most = given ?? (isTable ? usualLimit : all);
  let page: Item[] = [];
  let shown = 0;
  for await (const item of read(most)) {
    page.push(item);
    shown += 1;
    if (isTable || page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0 || shown === 0) yield page;
  if (!isTable || shown < most) return;
  const total = await count(shown + mostCounted + 1);
  if (total === shown) return;
  const isCounted = total <= shown + mostCounted;
  const of = isCounted ? total : `more than ${shown + mostCounted}`;
  notice(`${shown} of ${of} shown. To list all, add --limit all.`);
}
