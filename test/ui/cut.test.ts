import fc from "fast-check";
import visibleWidth from "string-width";
import { expect, test } from "vitest";
import { cut } from "../../src/ui/cut.ts";

test.each([
  ["short", 10, "short"],
  ["just so long", 12, "just so long"],
  ["one too many", 11, "one too ma…"],
  ["space at the end", 6, "space…"],
  ["লাল জামা", 5, "লাল…"],
])("%j in %i columns is %j", (text, columns, shown) => {
  expect(cut(text, columns)).toBe(shown);
});

test("nothing is ever wider than it may be, and no character is cut in two", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.integer({ min: 1, max: 40 }),
      (text, columns) => {
        const shown = cut(text, columns);
        expect(visibleWidth(shown)).toBeLessThanOrEqual(columns);
        expect(text.startsWith(shown.replace(/…$/, "").trimEnd())).toBe(true);
      },
    ),
  );
});
