import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { simulateMany, summary } from "./simulate.ts";

// In a separate file, so that a deep run simulates both halves at the same time.
const seeded = { timeout: 600_000, retry: 0 };

test("P4, P6, P7: no fault or crash loses, doubles or misreports a payment", seeded, async () => {
  const sums = await simulateMany(runs(80, 25_000));
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
  expect(Math.min(sums.crashes, sums.faults, sums.payouts, sums.refunds)).toBeGreaterThan(0);
});
