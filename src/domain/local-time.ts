import { clockIn } from "./time-zone.ts";

/** `20 Nov 2026, 10:31:12` in a zone, by default that of this machine; a text that is no time as it came. */
export function formatTime(iso: string, zone?: string): string {
  const clock = clockOf(iso, zone);
  if (!clock) return iso;
  const parts = [clock.getUTCHours(), clock.getUTCMinutes(), clock.getUTCSeconds()];
  return `${dayOf(clock)}, ${parts.map(twoDigits).join(":")}`;
}

/** `20 Nov 2026`, of the same. */
export function formatDay(iso: string, zone?: string): string {
  const clock = clockOf(iso, zone);
  return clock ? dayOf(clock) : iso;
}

/** A time whose parts in UTC are those that clocks in a zone show. */
function clockOf(iso: string, zone: string | undefined): Date | undefined {
  const time = new Date(iso);
  const ms = time.getTime();
  if (Number.isNaN(ms)) return undefined;
  return new Date(zone === undefined ? ms - time.getTimezoneOffset() * 60_000 : clockIn(zone, ms));
}

function dayOf(clock: Date): string {
  return `${clock.getUTCDate()} ${months[clock.getUTCMonth()]} ${clock.getUTCFullYear()}`;
}

/** By hand: to load what Node knows of languages takes eight milliseconds. */
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function twoDigits(part: number): string {
  return String(part).padStart(2, "0");
}
