import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { simulateMany, summary } from "./many.ts";

/** No second chance where one is given: other seeds would hide what this one found. */
const seeded = { timeout: 600_000, retry: 0 };

test("P8, P9, P13: whatever breaks, nothing is lost, doubled or misreported", seeded, async () => {
  const sums = await simulateMany(runs(80, 25_000));
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
  expect(Math.min(sums.crashes, sums.faults, sums.payouts, sums.refunds)).toBeGreaterThan(0);
});
