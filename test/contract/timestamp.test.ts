import { expect, test } from "vitest";
import { readTimestamp } from "../../src/domain/timestamp.ts";

test.each([
  ["1763614800", 1_763_614_800],
  ["100000000", 100_000_000],
  ["9999999999", 9_999_999_999],
])("%s is a timestamp", (typed, seconds) => {
  expect(readTimestamp(typed)).toEqual({ ok: true, value: seconds });
});

test("milliseconds are refused with the seconds that were meant", () => {
  const reading = readTimestamp("1763614800123");
  expect(reading.ok ? "" : reading.problem).toContain("Did you mean 1763614800?");
});

test.each([
  "",
  "0",
  "now",
  "-1763614800",
  "01763614800",
  "1763614800.5",
  "1.7e9",
  " 1763614800",
  "1763614800\n",
  "১৭৬৩৬১৪৮০০",
  "2026-11-20T04:30:00Z",
])("%j is none", (typed) => expect(readTimestamp(typed)).toMatchObject({ ok: false }));
