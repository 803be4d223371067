import type { Paisa } from "../domain/amount.ts";
import { payeeOf } from "../domain/mobile.ts";
import { formatPaisa } from "../domain/money.ts";
import { isSameName } from "./comparison.ts";
import type { FileRow } from "./rows.ts";

const mostNamed = 5;
/** An amount of more than so many times the median is shown. */
const farAbove = 10n;

/** What a person should look at in the rows of a file, in sentences. None of it keeps the file from being sent. */
export function unusualTexts(rows: FileRow[]): { names: string[]; amounts: string[] } {
  return { names: limited(otherNames(rows)), amounts: limited(largeAmounts(rows)) };
}

/** Numbers that have another name on another line. */
function* otherNames(rows: FileRow[]): Iterable<string> {
  const first = new Map<string, FileRow>();
  for (const row of rows) {
    if (row.recipient === null || !row.name) continue;
    const payee = payeeOf(row.recipient);
    const before = first.get(payee);
    if (!before) first.set(payee, row);
    else if (!isSameName(before.name, row.name))
      yield `line ${row.line}: ${row.recipient} is the number of ${row.name}, and of ${before.name} on line ${before.line}.`;
  }
}

function* largeAmounts(rows: FileRow[]): Iterable<string> {
  const median = medianOf(rows.flatMap(({ amountPaisa }) => amountPaisa ?? []));
  for (const { line, amountPaisa } of rows)
    if (amountPaisa !== null && amountPaisa > median * farAbove)
      yield `line ${line}: ${formatPaisa(amountPaisa)} is more than ten times the median amount, ${formatPaisa(median)}.`;
}

/** The lower one of an even number of amounts. */
function medianOf(amounts: Paisa[]): Paisa {
  const sorted = BigInt64Array.from(amounts).sort();
  return sorted[(sorted.length - 1) >> 1] ?? 0n;
}

function limited(texts: Iterable<string>): string[] {
  const all = [...texts];
  const more = all.length - mostNamed;
  return more > 0 ? [...all.slice(0, mostNamed), `and ${more} more`] : all;
}
