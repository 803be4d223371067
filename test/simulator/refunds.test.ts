import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { simulateMany, summary } from "./many.ts";
import { refundsArbitrary } from "./scenario.ts";

test("refunds by command and by raw calls never exceed the payment, whatever breaks", {
  timeout: 600_000,
  retry: 0,
}, async () => {
  const sums = await simulateMany(runs(60, 10_000), refundsArbitrary);
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
  expect(Math.min(sums.crashes, sums.faults, sums.refunds)).toBeGreaterThan(0);
});
