import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../docs/money-safety.md"), "utf8");

/** P19 is the name of a row in the table of a test, which no pattern finds. */
const named = ["P19"];

const names = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => testNamesIn(readFileSync(join(import.meta.dirname, file), "utf8")));

test.each(failuresIn(page).filter((failure) => !named.includes(failure)))(
  "a test is named after %s",
  (failure) => {
    expect(names.filter((name) => numbersIn(name).includes(failure))).not.toEqual([]);
  },
);

/** The first cells of the table: `P1, P2` and `P12 to P14` name all of theirs. */
function failuresIn(text: string): string[] {
  const cells = [...text.matchAll(/^\| (P[^|]+?) *\|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => {
    const [, first, last] = /^P(\d+) to P(\d+)$/.exec(cell) ?? [];
    if (first === undefined || last === undefined) return cell.split(", ");
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, index) => `P${Number(first) + index}`);
  });
}

/** `P4, P6: …` names both. */
function numbersIn(name: string): string[] {
  return (/^((?:P\d+[bc]?(?:, )?)+):/.exec(name)?.[1] ?? "").split(", ");
}

/** The first text of every `test(…)`, `test.each(…)(…)`, `test(…)` and `describe(…)`. */
function testNamesIn(text: string): string[] {
  return [...text.matchAll(/\b(?:test|describe)(?:\.\w+)?\(\s*"([^"]+)"|\)\(\s*"([^"]+)"/g)].map(
    ([, plain, each]) => plain ?? each ?? "",
  );
}
