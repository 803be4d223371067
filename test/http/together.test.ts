import { expect, test } from "vitest";
import { together } from "../../src/http/together.ts";

/** What two steps of so many answers did, in the order in which they did it. */
async function stepsOf(count: number): Promise<string[]> {
  const steps: string[] = [];
  const answers = Array.from({ length: count }, async (_, index) => {
    await new Promise<void>((resolve) => together(resolve));
    steps.push(`first ${index}`);
    await Promise.resolve();
    steps.push(`second ${index}`);
  });
  expect(steps).toEqual([]);
  await Promise.all(answers);
  return steps;
}

test("answers that came together go through each step side by side", async () => {
  const indices = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(await stepsOf(indices.length)).toEqual([
    ...indices.map((index) => `first ${index}`),
    ...indices.map((index) => `second ${index}`),
  ]);
});

test("of many answers some go first, and none is forgotten", async () => {
  const steps = await stepsOf(100);
  expect(steps.indexOf("second 0")).toBeLessThan(steps.indexOf("first 99"));
  expect(new Set(steps).size).toBe(200);
});

test("what comes later is worked on too", async () => {
  expect(await stepsOf(1)).toEqual(["first 0", "second 0"]);
  expect(await stepsOf(2)).toHaveLength(4);
});
