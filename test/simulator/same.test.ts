import fc from "fast-check";
import { expect, test } from "vitest";
import { scenarioArbitrary } from "./scenario.ts";
import { noSums, simulate } from "./simulate.ts";

test("P8, P9, P13: 400 fixed scenarios lose, double and misreport nothing", {
  timeout: 600_000,
  retry: 0,
}, async () => {
  const sums = noSums();
  for (const scenario of fc.sample(scenarioArbitrary, { numRuns: 400, seed: 20_261_121 })) {
    const { wrong, trace } = await simulate(scenario, sums);
    expect([...wrong, ...(wrong.length > 0 ? trace : [])]).toEqual([]);
  }
});
