import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** The failures of docs/money-safety.md. */
const rows = Array.from({ length: 25 }, (_, index) => `P${index + 1}`);
const named = /* by the rows of a table, which no pattern finds */ ["P19"];

const names = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => testNamesIn(readFileSync(join(import.meta.dirname, file), "utf8")));

test.each(rows.filter((row) => !named.includes(row)))("a test is named after %s", (row) => {
  expect(names.filter((name) => numbersIn(name).includes(row))).not.toEqual([]);
});

/** `P4, P6: …` names both. */
function numbersIn(name: string): string[] {
  return (/^((?:P\d+(?:, )?)+):/.exec(name)?.[1] ?? "").split(", ");
}

/** The first text of every `test(…)`, `test.each(…)(…)` and `test(…)`. */
function testNamesIn(text: string): string[] {
  return [...text.matchAll(/\btest(?:\.\w+)?\(\s*"([^"]+)"|\)\(\s*"([^"]+)"/g)].map(
    ([, plain, each]) => plain ?? each ?? "",
  );
}
