import fc from "fast-check";
import { expect, test } from "vitest";
import { agoText, readDuration, readMoment } from "../../src/cli/output/time.ts";
import { formatDay, formatTime } from "../../src/domain/local-time.ts";
import { runs } from "../runs.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["10m", 600_000],
  ["2h", 7_200_000],
  ["596h", 2_145_600_000],
  ["2147483647ms", undefined],
  ["999999999ms", 999_999_999],
])("%s is %s ms", (typed, ms) => {
  expect(readDuration(typed)).toMatchObject(
    ms === undefined ? { ok: false } : { ok: true, value: ms },
  );
});

test.each(["", "30", "s", "1.5s", "-1s", "1e3s", " 30s", "30 s", "30S", "1d", "৩০s", "30s\n"])(
  "%j is no duration",
  (typed) => expect(readDuration(typed)).toMatchObject({ ok: false }),
);

test.each(["597h", "35792m", "999999999s"])("%s is longer than a timer counts", (typed) => {
  const reading = readDuration(typed);
  expect(reading.ok ? "" : reading.problem).toContain("too long");
});

test.each(["2026-02-28", "2028-02-29", "2026-12-31T23:59", "2026-11-20T10:30:00+06:00"])(
  "%s is a time",
  (typed) => expect(readMoment(typed)).toMatchObject({ ok: true }),
);

test.each([
  "2026-02-29",
  "2026-02-30",
  "2026-11-31",
  "2026-11-31T10:30",
  "2026-13-01",
  "2026-11-00",
])("%s is no time, for there is no such day", (typed) =>
  expect(readMoment(typed)).toMatchObject({ ok: false }),
);

test("a duration that is accepted never makes a timer fire at once", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,10}(?:ms|s|m|h)$/), (typed) => {
      const reading = readDuration(typed);
      return !reading.ok || (reading.value >= 0 && reading.value <= 2 ** 31 - 1);
    }),
    { numRuns: runs(300, 50_000) },
  );
});

const now = Date.parse("2026-11-20T12:00:00Z");

test.each([
  [-120, undefined],
  [-59, "just now"],
  [0, "just now"],
  [5, "5 s ago"],
  [59, "59 s ago"],
  [60, "1 min ago"],
  [3_599, "59 min ago"],
  [3_600, "1 h ago"],
  [86_399, "23 h ago"],
  [86_400, "1 day ago"],
  [30 * 86_400, "30 days ago"],
  [31 * 86_400, undefined],
])("%d seconds back is %s", (seconds, says) => {
  expect(agoText(new Date(now - seconds * 1_000).toISOString(), now)).toBe(says);
});

test("what is no time was never ago", () => expect(agoText("yesterday", now)).toBeUndefined());

test("a time is shown in the zone of this machine, and what is none as it came", () => {
  const moment = new Date(2026, 10, 20, 10, 31, 12);
  expect(formatTime(moment.toISOString())).toBe("20 Nov 2026, 10:31:12");
  expect(formatDay(moment.toISOString())).toBe("20 Nov 2026");
  expect(formatTime("yesterday")).toBe("yesterday");
  expect(formatDay("a day, or so")).toBe("a day, or so");
  expect(formatTime("")).toBe("");
});

test("a time is written as the English of Britain writes it, with three letters a month", () => {
  const usual = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  fc.assert(
    fc.property(
      fc.date({ min: new Date("1970-01-02"), max: new Date("2999-12-31"), noInvalidDate: true }),
      (time) => {
        const expected = usual.format(time).replace("Sept", "Sep");
        expect(formatTime(time.toISOString())).toBe(expected);
        expect(formatDay(time.toISOString())).toBe(expected.split(",")[0]);
      },
    ),
  );
});
