import { expect, test } from "vitest";
import { latest } from "../../src/api/memoize-last.ts";

test("what was asked for last is not worked out again, everything else is", () => {
  const worked: (string | undefined)[] = [];
  const length = latest((text: string | undefined) => {
    worked.push(text);
    return text?.length;
  });
  const asked = [undefined, undefined, "a", "a", "bc", "a", undefined];
  expect(asked.map(length)).toEqual([undefined, undefined, 1, 1, 2, 1, undefined]);
  expect(worked).toEqual([undefined, "a", "bc", "a", undefined]);
});
