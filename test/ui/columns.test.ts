import { expect, test } from "vitest";
import { columnsOf } from "../../src/cli/output/columns.ts";

test.each([
  [120, 120],
  [0, 80],
  [undefined, 80],
])("a terminal that says it has %s columns is taken to have %i", (said, taken) => {
  expect(columnsOf(said === undefined ? {} : { columns: said })).toBe(taken);
});
