import fc from "fast-check";
import { expect, test } from "vitest";
import { agoText, readDuration, readTime } from "../../src/cli/output/time.ts";
import { formatDay, formatTime } from "../../src/domain/local-time.ts";
import { clockIn, readTimeZone, whenClockShows } from "../../src/domain/time-zone.ts";
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
    expect(readTime(typed)).toMatchObject({ ok: true });
  for (const typed of ["2026-02-29", "2026-11-31", "2026-11-31T10:30", "2026-13-01", "2026-11-00"])
    expect(readTime(typed)).toMatchObject({ ok: false });
});

/** From when until when a typed time is, in UTC; at noon UTC of 20 November. */
function spanOf(typed: string, zone: string): string[] {
  const read = readTime(typed);
  if (!read.ok) throw new Error(read.problem);
  const { fromMs, toMs } = read.value.span(now, zone);
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString());
}

test.each([
  ["2026-11-30", "Asia/Dhaka", "2026-11-29T18:00:00.000Z", "2026-11-30T17:59:59.999Z"],
  ["2026-11-30", "UTC", "2026-11-30T00:00:00.000Z", "2026-11-30T23:59:59.999Z"],
  ["today", "Asia/Dhaka", "2026-11-19T18:00:00.000Z", "2026-11-20T17:59:59.999Z"],
  ["yesterday", "Asia/Dhaka", "2026-11-18T18:00:00.000Z", "2026-11-19T17:59:59.999Z"],
  ["today", "Pacific/Auckland", "2026-11-20T11:00:00.000Z", "2026-11-21T10:59:59.999Z"],
  // The day on which clocks in London are set back has 25 hours.
  ["2026-10-25", "Europe/London", "2026-10-24T23:00:00.000Z", "2026-10-25T23:59:59.999Z"],
  ["2026-11-20T10:30", "Asia/Dhaka", "2026-11-20T04:30:00.000Z", "2026-11-20T04:30:00.000Z"],
  ["2026-11-20T10:30Z", "Asia/Dhaka", "2026-11-20T10:30:00.000Z", "2026-11-20T10:30:00.000Z"],
  ["2h ago", "Asia/Dhaka", "2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.000Z"],
])("%s in %s is from %s to %s", (typed, zone, from, to) => {
  expect(spanOf(typed, zone)).toEqual([from, to]);
});

test("clocks of a zone and UTC are converted in both directions", () => {
  const zones = fc.constantFrom("Asia/Dhaka", "Europe/London", "America/St_Johns", "UTC");
  const date = fc.date({
    min: new Date("1980-01-02"),
    max: new Date("2099-12-31"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(zones, date, (zone, at) => {
      const second = Math.floor(at.getTime() / 1_000) * 1_000;
      const again = whenClockShows(zone, clockIn(zone, second));
      // An hour is shown twice when clocks are set back.
      return Math.abs(again - second) === 0 || Math.abs(again - second) === 3_600_000;
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test("a time zone is an IANA name", () => {
  for (const zone of ["Asia/Dhaka", "UTC", "America/Argentina/Buenos_Aires"])
    expect(readTimeZone(zone)).toEqual({ ok: true, value: zone });
  for (const zone of ["", "Dhaka", "+06:00", "Asia/Dhaka ", "GMT+6"])
    expect(readTimeZone(zone)).toMatchObject({ ok: false });
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

test("a time is shown in its zone, with three letters for the month", () => {
  const timeZone = "Asia/Dhaka";
  const usual = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone,
  });
  fc.assert(
    fc.property(
      fc.date({ min: new Date("1970-01-02"), max: new Date("2999-12-31"), noInvalidDate: true }),
      (date) => {
        const expected = usual.format(date).replace("Sept", "Sep");
        expect(formatTime(date.toISOString(), timeZone)).toBe(expected);
        expect(formatDay(date.toISOString(), timeZone)).toBe(expected.split(",")[0]);
      },
    ),
  );
});

test("the offset of Dhaka, which needs no list of zones, is that of its other name", () => {
  const moment = fc.integer({
    min: Date.parse("2010-01-01T00:00:00Z"),
    max: Date.parse("2090-01-01T00:00:00Z"),
  });
  fc.assert(
    fc.property(moment, (ms) => {
      expect(clockIn("Asia/Dhaka", ms)).toBe(clockIn("Asia/Dacca", ms));
    }),
  );
});
