import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { refundsArbitrary, rotationArbitrary, scenarioArbitrary } from "./scenario.ts";
import { simulateMany, summary } from "./simulate.ts";

/** With repeats.test.ts and batch.test.ts 50,000 runs in all. */
const cases = [
  {
    title: "P4, P6, P7, P8, P9, P13: no fault or crash loses, doubles or misreports a payment",
    scenarios: scenarioArbitrary,
    numRuns: runs(80, 25_000),
    happens: ["payouts", "refunds"] as const,
  },
  {
    title: "I9: a new API key does not pay again in production what the earlier key paid",
    scenarios: rotationArbitrary,
    numRuns: runs(30, 5_000),
    happens: ["payouts"] as const,
  },
  {
    title:
      "refunds by command and by raw calls never exceed the payment, despite faults and crashes",
    scenarios: refundsArbitrary,
    numRuns: runs(60, 5_000),
    happens: ["refunds"] as const,
  },
];

// No retry, because other seeds would hide the scenario that failed.
for (const { title, scenarios, numRuns, happens } of cases)
  test(title, { timeout: 600_000, retry: 0 }, async () => {
    const sums = await simulateMany(numRuns, scenarios);
    process.stdout.write(summary(sums));
    expect(sums).toMatchObject({ lost: 0, doubled: 0, misreported: 0, broken: 0 });
    for (const one of ["crashes", "faults", ...happens] as const)
      expect(sums[one]).toBeGreaterThan(0);
  });
