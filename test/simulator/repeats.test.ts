import { expect, test } from "vitest";
import { runs } from "../runs.ts";
import { simulateMany, summary } from "./many.ts";
import { repeatsArbitrary } from "./scenario.ts";

/** No second chance: other seeds would hide what this one found. */
const seeded = { timeout: 600_000, retry: 0 };
const none = { lost: 0, doubled: 0, misreported: 0, broken: 0 };

test(
  "I9: the same payout given twice is sent once unless --again, in scenarios that every run repeats",
  seeded,
  async () => {
    expect(await simulateMany(100, repeatsArbitrary, 20_261_124)).toMatchObject(none);
  },
);

test("P26: whatever breaks, the same command does not pay twice", seeded, async () => {
  const sums = await simulateMany(runs(60, 10_000), repeatsArbitrary);
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject(none);
  expect(Math.min(sums.crashes, sums.faults, sums.payouts)).toBeGreaterThan(0);
});
