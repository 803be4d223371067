import fc from "fast-check";
import { type Scenario, scenarioArbitrary } from "./scenario.ts";
import { noSums, type Sums, simulate } from "./simulate.ts";

/** Simulates many runs; fast-check prints seed and path of one that fails, and makes it small. */
export async function simulateMany(
  numRuns: number,
  scenarios: fc.Arbitrary<Scenario> = scenarioArbitrary,
  seed?: number,
): Promise<Sums> {
  const sums = noSums();
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { wrong, trace } = await simulate(scenario, sums);
      if (wrong.length > 0) throw new Error(`\n${trace.join("\n")}\n`);
    }),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  );
  return sums;
}

export function summary(sums: Sums): string {
  const parts = Object.entries(sums).map(([name, number]) => `${number} ${name}`);
  return `simulator: ${parts.join(", ")}\n`;
}
