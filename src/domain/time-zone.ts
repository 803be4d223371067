import { err, ok, quoted, type Result } from "./result.ts";

/** The zone of dates that name no other one, unless the profile has one. */
export const defaultTimeZone = "Asia/Dhaka";

/** Reads an IANA name, such as `Asia/Dhaka`. */
export function readTimeZone(text: string): Result<string> {
  return /^[A-Za-z]/.test(text) && isKnown(text)
    ? ok(text)
    : err(`${quoted(text)} is not a time zone. Examples: Asia/Dhaka, Europe/London, UTC.`);
}

function isKnown(zone: string): boolean {
  try {
    clockIn(zone, oneOffsetSinceMs);
    return true;
  } catch {
    return false;
  }
}

/**
 * Since then, clocks in Dhaka have been six hours ahead of UTC. Without Node's knowledge of zones, which takes 15 ms
 * to load, most users see their times sooner.
 */
const oneOffsetSinceMs = Date.parse("2010-01-01T00:00:00Z");
const dhakaAheadMs = 6 * 3_600_000;

/** The time that clocks in a zone show, as milliseconds since 1970 of a clock that shows the same in UTC. */
export function clockIn(zone: string, ms: number): number {
  if (zone === defaultTimeZone && ms >= oneOffsetSinceMs)
    return Math.floor(ms / 1_000) * 1_000 + dhakaAheadMs;
  let format = formats.get(zone);
  if (!format) {
    // Swedish writes `2026-11-20 10:30:00`.
    format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "medium",
    });
    formats.set(zone, format);
  }
  return Date.parse(`${format.format(ms).replace(" ", "T")}Z`);
}

/** A long list has thousands of times, and to create a format takes longer than to use it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** When clocks in a zone show a time: the inverse of `clockIn`. A time that they skip is moved forward. */
export function whenClockShows(zone: string, clockMs: number): number {
  const inRange = Math.min(Math.max(clockMs, firstMs), lastMs);
  const guess = inRange - aheadMs(zone, inRange);
  return inRange - aheadMs(zone, guess);
}

/** Years of four digits, in every zone. No operation is earlier or later. */
const firstMs = Date.parse("1001-01-01T00:00:00Z");
const lastMs = Date.parse("9998-12-31T00:00:00Z");

/** Milliseconds that a zone is ahead of UTC. */
function aheadMs(zone: string, ms: number): number {
  return clockIn(zone, ms) - Math.floor(ms / 1_000) * 1_000;
}
