import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { limitsArbitrary, type Step } from "./scenario.ts";
import { noSums, simulate, simulateMany, summary } from "./simulate.ts";
import { nothing } from "./stage.ts";

const right = { lost: 0, doubled: 0, misreported: 0, exceeded: 0, broken: 0 };

test("I13: no fault or crash lets agents and scripts exceed a limit", {
  timeout: 600_000,
  retry: 0,
}, async () => {
  const sums = await simulateMany(runs(80, 10_000), limitsArbitrary);
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject(right);
  for (const one of ["crashes", "faults", "payouts", "refunds", "limited"] as const)
    expect(sums[one]).toBeGreaterThan(0);
});

test("I13: 200 fixed scenarios exceed no limit", { timeout: 600_000, retry: 0 }, async () => {
  const sums = noSums();
  for (const scenario of fc.sample(limitsArbitrary, { numRuns: 200, seed: 20_261_130 })) {
    const { wrong, trace } = await simulate(scenario, sums);
    expect([...wrong, ...(wrong.length > 0 ? trace : [])]).toEqual([]);
  }
  expect(sums.limited).toBeGreaterThan(0);
});

test("I13: rows of a batch that was killed at any step stay reserved", async () => {
  const limits = { "agent-payout": "200000", "agent-day": "200000", day: "60000" };
  const files = [{ rows: [{ amount: 0, to: 0, spelling: 0 }], concurrency: 1 }];
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const script: Step[] = [
    { ...step, command: { does: "batch", file: 0, allowDuplicates: false } },
    { ...step, command: { does: "payout", reference: 0, amount: 0, to: 1 } },
  ];
  const sums = noSums();
  // Before it is planned, then with planned rows that were not sent, then after all of them.
  for (let after = 100; after < 260; after += 3) {
    const crashes = [{ after, power: false }];
    const scenario = { ...nothing, environment: "production" as const, limits, files, script };
    const { wrong } = await simulate({ ...scenario, crashes, seed: after }, sums);
    expect(wrong, `killed after ${after} steps`).toEqual([]);
  }
  expect(sums.limited).toBeGreaterThan(0);
});
