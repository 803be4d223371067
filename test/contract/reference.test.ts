import fc from "fast-check";
import { expect, test } from "vitest";
import { readReference } from "../../src/domain/reference.ts";
import { runs } from "../runs.ts";

test.each(["a", "INV-7", "LD-01JD2M3N4P5Q6R7S8T9VWXYZ01", "_", "x".repeat(64)])(
  "%j is a reference",
  (typed) => expect(readReference(typed)).toEqual({ ok: true, value: typed }),
);

test.each(["", " INV-7", "INV 7", "INV-7\n", "INV.7", "INV/7", "ইনভ-৭", "é", "x".repeat(65)])(
  "%j is none",
  (typed) => expect(readReference(typed)).toMatchObject({ ok: false }),
);

test.each([":", "INV:7", "500:INV-7", "INV-7:"])("%j is refused for its colon", (typed) => {
  const reading = readReference(typed);
  expect(reading.ok ? "" : reading.problem).toContain("colon");
});

test("no reference that is accepted holds a colon or anything else that a message is split at", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[A-Za-z0-9_:. -]{0,70}$/)),
      (typed) => {
        const reading = readReference(typed);
        return (
          reading.ok === /^[A-Za-z0-9_-]{1,64}$/.test(typed) && !(reading.ok && /:/.test(typed))
        );
      },
    ),
    { numRuns: runs(300, 100_000) },
  );
});
