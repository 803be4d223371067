import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { simulateMany, summary } from "./many.ts";
import { rotationArbitrary } from "./scenario.ts";

test("I9: a new API key does not pay again in production what the earlier key paid", {
  timeout: 600_000,
  retry: 0,
}, async () => {
  const sums = await simulateMany(runs(30, 10_000), rotationArbitrary);
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
  expect(Math.min(sums.crashes, sums.faults, sums.payouts)).toBeGreaterThan(0);
});
