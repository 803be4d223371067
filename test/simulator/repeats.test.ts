import { expect, test } from "vitest";
import { runs } from "../support/helpers.ts";
import { type Command, repeatsArbitrary } from "./scenario.ts";
import { noSums, simulate, simulateMany, summary } from "./simulate.ts";
import { nothing } from "./stage.ts";

/** No second chance: other seeds would hide what this one found. */
const seeded = { timeout: 600_000, retry: 0 };
const none = { lost: 0, doubled: 0, misreported: 0, broken: 0 };

test(
  "I9: the same payout given twice is sent once unless --again, in scenarios that every run repeats",
  seeded,
  async () => {
    expect(await simulateMany(60, repeatsArbitrary, { seed: 20_261_124 })).toMatchObject(none);
  },
);

test("P26: whatever breaks, the same command does not pay twice", seeded, async () => {
  const sums = await simulateMany(runs(30, 10_000), repeatsArbitrary);
  process.stdout.write(summary(sums));
  expect(sums).toMatchObject(none);
  expect(Math.min(sums.crashes, sums.faults, sums.payouts)).toBeGreaterThan(0);
});

test("a batch that resumes does not repeat what --again sent after its plan", seeded, async () => {
  const row = { amount: 0, to: 0, spelling: 2 };
  const files = [{ rows: [row], concurrency: 1 }];
  const batch: Command = { does: "batch", file: 0, allowDuplicates: false };
  const payout = { does: "payout", reference: undefined, amount: 0, to: 0 } as const;
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const commands: Command[] = [batch, { ...payout, again: true }, batch];
  const script = commands.map((command) => ({ ...step, command }));
  for (let after = 90; after < 120; after += 1) {
    const crashes = [{ after, power: false }];
    const { wrong } = await simulate({ ...nothing, files, script, crashes }, noSums());
    expect({ after, wrong }).toEqual({ after, wrong: [] });
  }
});
