import fc from "fast-check";
import { expect, test } from "vitest";
import { agoText, readDuration, readMoment } from "../../src/cli/output/time.ts";
import { formatDay, formatTime } from "../../src/domain/local-time.ts";
import { runs } from "../support/helpers.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["10m", 600_000],
  ["2h", 7_200_000],
  ["596h", 2_145_600_000],
])("the duration %s has %s ms", (typed, ms) => {
  expect(readDuration(typed)).toEqual({ ok: true, value: ms });
});

test.each([
  "",
  "30",
  "s",
  "0s",
  "1.5s",
  "-1s",
  "1e3s",
  " 30s",
  "30 s",
  "1d",
  "৩০s",
  "30s\n",
  "597h",
])("%j is not a duration", (typed) => expect(readDuration(typed)).toMatchObject({ ok: false }));

test("a number without a unit is not a duration, and the error offers one", () => {
  expect(readDuration("5")).toMatchObject({ problem: '"5" has no unit. Did you mean 5s or 5ms?' });
});

test("a duration fits into a timer, which would fire at once otherwise", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,10}(?:ms|s|m|h)$/), (typed) => {
      const reading = readDuration(typed);
      return !reading.ok || (reading.value > 0 && reading.value <= 2 ** 31 - 1);
    }),
    { numRuns: runs(300, 50_000) },
  );
});

test("a time is a day that exists", () => {
  for (const typed of ["2026-02-28", "2028-02-29", "2026-12-31T23:59", "2026-11-20T10:30:00+06:00"])
    expect(readMoment(typed)).toMatchObject({ ok: true });
  for (const typed of ["2026-02-29", "2026-11-31", "2026-11-31T10:30", "2026-13-01", "2026-11-00"])
    expect(readMoment(typed)).toMatchObject({ ok: false });
});

const now = Date.parse("2026-11-20T12:00:00Z");

test.each([
  [-120, undefined],
  [-59, "just now"],
  [5, "5 s ago"],
  [60, "1 min ago"],
  [3_599, "59 min ago"],
  [86_399, "23 h ago"],
  [86_400, "1 day ago"],
  [30 * 86_400, "30 days ago"],
  [31 * 86_400, undefined],
])("%d seconds earlier is %s", (seconds, shown) => {
  expect(agoText(new Date(now - seconds * 1_000).toISOString(), now)).toBe(shown);
});

test("a text that is not a time is shown unchanged", () => {
  expect(agoText("yesterday", now)).toBeUndefined();
  expect([formatTime("yesterday"), formatDay("a day"), formatTime("")]).toEqual([
    "yesterday",
    "a day",
    "",
  ]);
});

test("a time is shown in the local zone, with three letters for the month", () => {
  const usual = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  fc.assert(
    fc.property(
      fc.date({ min: new Date("1970-01-02"), max: new Date("2999-12-31"), noInvalidDate: true }),
      (date) => {
        const expected = usual.format(date).replace("Sept", "Sep");
        expect(formatTime(date.toISOString())).toBe(expected);
        expect(formatDay(date.toISOString())).toBe(expected.split(",")[0]);
      },
    ),
  );
});
