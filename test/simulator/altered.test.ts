import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { alteredArbitrary } from "./scenario.ts";
import { simulateMany, summary } from "./simulate.ts";

// A changed ledger may stop commands before they record an outcome: only money that moves is wrong.
test("I11, I12: a colleague's changes of the ledger pay nothing twice, and only what was ordered", {
  timeout: 600_000,
  retry: 0,
}, async () => {
  const sums = await simulateMany(runs(60, 5_000), alteredArbitrary, {
    counts: (what) => what === "doubled",
  });
  process.stdout.write(summary(sums));
  expect(sums.doubled).toBe(0);
  for (const one of ["crashes", "faults", "payouts", "refunds"] as const)
    expect(sums[one]).toBeGreaterThan(0);
});
