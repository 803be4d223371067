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
    { numRuns, ...(seed === undefined ? given(numRuns) : { seed }) },
  );
  return sums;
}

/** CI repeats the same scenarios, so that a commit fails because of its own changes; elsewhere they are new. */
function given(numRuns: number): { seed?: number } {
  const { LENDEN_SIMULATOR_SEED: seed } = process.env;
  return seed === undefined ? {} : { seed: Number(seed) + numRuns };
}

export function summary(sums: Sums): string {
  const parts = Object.entries(sums).map(([name, number]) => `${number} ${name}`);
  return `simulator: ${parts.join(", ")}\n`;
}
