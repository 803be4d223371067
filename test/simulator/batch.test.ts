import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { simulateBatch } from "./batch.ts";
import { batchArbitrary } from "./batch-scenario.ts";

const seeded = { timeout: 600_000, retry: 0 };

test(
  "P8, P9: two hundred batches that are the same in every run: none is lost, doubled or misreported",
  seeded,
  async () => {
    for (const scenario of fc.sample(batchArbitrary, { numRuns: 200, seed: 20_261_121 })) {
      const { wrong, trace } = await simulateBatch(scenario);
      expect([...wrong, ...(wrong.length > 0 ? trace : [])]).toEqual([]);
    }
  },
);

test(
  "P4, P7, P8, P9, P13, P16: whatever breaks in a batch, no row is lost, doubled or misreported",
  seeded,
  async () => {
    const sums = { runs: 0, crashes: 0, faults: 0, calls: 0, payouts: 0 };
    await fc.assert(
      fc.asyncProperty(batchArbitrary, async (scenario) => {
        const { wrong, trace, counts, service } = await simulateBatch(scenario);
        if (wrong.length > 0) throw new Error(`\n${trace.join("\n")}\n`);
        sums.runs += 1;
        sums.crashes += counts.crashes;
        sums.faults += counts.faults;
        sums.calls += counts.calls;
        sums.payouts += service.payouts.length;
      }),
      { numRuns: runs(25, 5_000) },
    );
    const parts = Object.entries(sums).map(([name, number]) => `${number} ${name}`);
    process.stdout.write(`simulated batches: ${parts.join(", ")}\n`);
    expect(Math.min(sums.crashes, sums.faults, sums.payouts)).toBeGreaterThan(0);
  },
);
