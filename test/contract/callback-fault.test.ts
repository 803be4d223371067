import { expect, test } from "vitest";
import { readCallbackFault } from "../../src/api/contract/fault.ts";

test.each([
  ["lost", { kind: "lost", delayMs: 5000, share: 1 }],
  ["late-250:0.5", { kind: "late", delayMs: 250, share: 0.5 }],
  ["late", { kind: "late", delayMs: 5000, share: 1 }],
  ["duplicated:0", { kind: "duplicated", delayMs: 5000, share: 0 }],
  ["reordered:.25", { kind: "reordered", delayMs: 5000, share: 0.25 }],
  ["forged:1", { kind: "forged", delayMs: 5000, share: 1 }],
])("%s is read", (rule, fault) => {
  expect(readCallbackFault(rule)).toEqual({ ok: true, value: { rule, ...fault } });
});

test.each([
  ["gone", `"gone" is no kind of fault of a callback. There are lost (is never sent), late (`],
  ["lost-5", `"lost-5" is no kind`],
  ["constructor", `"constructor" is no kind`],
  ["late-1000000000", "is no kind"],
  ["", `"" is no kind`],
  ["lost:2", "The share of a fault is a number from 0 to 1"],
  ["lost:0.5:1", "The share of a fault is a number from 0 to 1"],
  ["lost:", "The share of a fault is a number from 0 to 1"],
])("%j is refused: %s", (rule, problem) => {
  expect(readCallbackFault(rule)).toEqual({
    ok: false,
    problem: expect.stringContaining(problem),
  });
});
