import { expect, test } from "vitest";
import type { TortureFault } from "../../src/api/contract/fault.ts";
import { type Example, simplest, type Trial } from "../../src/conformance/torture/simplest.ts";

const all: readonly TortureFault[] = ["lost-reply", "status-500", "reset", "truncated"];
const events = all.map((fault, at) => ({
  ...{ run: 1, endpoint: "createPayout", mention: undefined, status: null },
  ...{ place: `place ${at}`, fault },
}));
const example: Example = {
  ...{ kind: "paid-twice", order: undefined, records: [], amountPaisa: 1n },
  ...{ round: 3, only: all, events, places: events.map(({ place }) => place) },
};

/** Plays the example, which fails if some faults are injected. */
async function simplestThatNeeds(...needed: TortureFault[]) {
  const trials: Trial[] = [];
  const found = await simplest(example, async (trial) => {
    trials.push(trial);
    const injected = events.filter(
      ({ fault, place }) =>
        trial.only.includes(fault) && (trial.places === undefined || trial.places.has(place)),
    );
    const isFound = needed.every((name) => injected.some(({ fault }) => fault === name));
    return isFound ? { ...example, only: trial.only, events: injected } : undefined;
  });
  return { found, trials };
}

test.each<[string, TortureFault[]]>([
  ["no fault", []],
  ["one fault", ["reset"]],
  ["two faults", ["lost-reply", "truncated"]],
  ["all faults", [...all]],
])("a failure that needs %s is repeated with these alone", async (_, needed) => {
  const { found } = await simplestThatNeeds(...needed);
  expect(found.events.map(({ fault }) => fault)).toEqual(needed);
  expect(found).toMatchObject({ only: needed, isRepeated: true });
});

test("a failure that does not occur again is said to be so, after a few rounds", async () => {
  const { found, trials } = await simplestThatNeeds("kill");
  expect(found).toEqual({ ...example, isRepeated: false });
  expect(trials.length).toBeLessThanOrEqual(3);
});
