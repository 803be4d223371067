import { expect, test } from "vitest";
import { runs } from "../runs.ts";
import { simulateMany, summary } from "./many.ts";

test("P8, P9, P13: whatever breaks, nothing is lost, doubled or misreported", async () => {
  const sums = await simulateMany(runs(150, 25_000));
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
  expect(Math.min(sums.crashes, sums.faults, sums.payouts, sums.refunds)).toBeGreaterThan(0);
}, 600_000);
