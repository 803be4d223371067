import { err, ok, quoted, type Result } from "../../domain/result.ts";
import { counted } from "../../domain/text.ts";
import { clockIn, whenClockShows } from "../../domain/time-zone.ts";

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `500ms`, `30s`, `10m`, `2h` as milliseconds. */
export function readDuration(text: string): Result<number> {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = Object.entries(unitsMs).find(([name]) => name === unit)?.[1];
  if (/^0+(?:ms|s|m|h)?$/.test(text)) return err("A duration must be above zero, such as 30s.");
  if (/^[0-9]{1,9}$/.test(text))
    return err(`${quoted(text)} has no unit. Did you mean ${text}s or ${text}ms?`);
  if (digits === undefined || unitMs === undefined) {
    return err(`${quoted(text)} is not a duration. Examples: 500ms, 30s, 10m, 2h.`);
  }
  const ms = Number(digits) * unitMs;
  // Node's timers have 32 bits: a longer one would fire at once.
  return ms <= 2 ** 31 - 1 ? ok(ms) : err(`${quoted(text)} is too long: at most 596h.`);
}

const dayMs = 86_400_000;

/** A time as it was typed. */
export interface Time {
  typed: string;
  /** Its first and its last millisecond since 1970: a day has many, a moment one. */
  span(nowMs: number, zone: string): { fromMs: number; toMs: number };
}

/**
 * Reads an ISO 8601 time or date, `today`, `yesterday`, or `2h ago`. Dates, and times without an offset, are those
 * of a zone.
 */
export function readTime(typed: string): Result<Time> {
  /** @param when for a day, its midnight as clocks show it */
  const time = (when: (nowMs: number, zone: string) => number, isWhole = false): Result<Time> =>
    ok({
      typed,
      span: (nowMs, zone) => {
        const ms = when(nowMs, zone);
        if (!isWhole) return { fromMs: ms, toMs: ms };
        const endMs = whenClockShows(zone, ms + dayMs) - 1;
        return { fromMs: whenClockShows(zone, ms), toMs: endMs };
      },
    });

  if (typed === "today" || typed === "yesterday") {
    const daysAgo = typed === "today" ? 0 : 1;
    return time(
      (nowMs, zone) => (Math.floor(clockIn(zone, nowMs) / dayMs) - daysAgo) * dayMs,
      true,
    );
  }
  const [, amount, unit] = /^([0-9]{1,6}) ?(m|h|d)(?:in|our|ay)?s? ago$/.exec(typed) ?? [];
  if (amount !== undefined) {
    const unitMs = { m: 60_000, h: 3_600_000, d: dayMs }[unit ?? "m"] ?? 0;
    return time((nowMs) => nowMs - Number(amount) * unitMs);
  }
  const [, date, clock = "", offset = ""] = isoTime.exec(typed) ?? [];
  const ms = Date.parse(`${date}${clock || "T00:00"}${offset || "Z"}`);
  if (/^[0-9]{1,6}[mhd]$/.test(typed))
    return err(`${quoted(typed)} is not a time. Did you mean "${typed} ago", in quotes?`);
  if (date === undefined || !isDay(date) || Number.isNaN(ms))
    return err(
      `${quoted(typed)} is not a time. Examples: 2026-11-20, 2026-11-20T10:30, today, 2h ago.`,
    );
  if (clock === "") return time(() => ms, true);
  return time((_, zone) => (offset === "" ? whenClockShows(zone, ms) : ms));
}

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** Date.parse reads 30 February as 2 March. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** `3 min ago`; undefined for a time more than a month ago, in the future, or invalid. */
export function agoText(iso: string, nowMs: number): string | undefined {
  const seconds = Math.floor((nowMs - Date.parse(iso)) / 1000);
  // Two clocks differ by some seconds.
  if (Number.isNaN(seconds) || seconds < -60) return undefined;
  const [minutes, hours, days] = [seconds / 60, seconds / 3600, seconds / 86_400].map(Math.floor);
  if (seconds < 5) return "just now";
  if (!minutes) return `${seconds} s ago`;
  if (!hours) return `${minutes} min ago`;
  if (!days) return `${hours} h ago`;
  if (days > 30) return undefined;
  return `${counted(days, "day")} ago`;
}
