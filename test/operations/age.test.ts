import { expect, test } from "vitest";
import { isOlder } from "../../src/operations/payout/age.ts";

const firstMs = Date.parse("2026-11-20T06:00:00Z");
const at = (offsetMs: number) => new Date(firstMs + offsetMs).toISOString();

test.each([
  ["the clocks agree", 0, 0],
  ["only the response's Date is ahead", 0, 200_000],
  ["only the response's Date is behind", 0, -200_000],
  ["the API's clock is ahead", 200_000, 200_000],
  ["the API's clock is behind", -200_000, -200_000],
  ["no response has a Date", 0, undefined],
])("if %s, a new payout is not old, and one of an hour ago is", (_, createdMs, aheadMs) => {
  const deps = { clockAheadMs: () => aheadMs };
  expect(isOlder(at(createdMs + 20), firstMs, deps)).toBe(false);
  expect(isOlder(at(createdMs - 3_600_000), firstMs, deps)).toBe(true);
});
