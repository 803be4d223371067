import { clockIn, defaultTimeZone, readTimeZone } from "./time-zone.ts";

/** The zone of the profile, in which people read every time. */
let zoneOfProfile = defaultTimeZone;

/** Sets the zone of all times that name no other one. A text that is no zone is reported by its readers. */
export function showTimesIn(zone: string): void {
  zoneOfProfile = zone;
}

/** `20 Nov 2026, 10:31:12` in a zone, by default that of the profile; a text that is no time as it came. */
export function formatTime(iso: string, zone = zoneOfProfile): string {
  const clock = clockOf(iso, zone);
  if (!clock) return iso;
  const parts = [clock.getUTCHours(), clock.getUTCMinutes(), clock.getUTCSeconds()];
  return `${dayOf(clock)}, ${parts.map(twoDigits).join(":")}`;
}

/** `20 Nov 2026`, of the same. */
export function formatDay(iso: string, zone = zoneOfProfile): string {
  const clock = clockOf(iso, zone);
  return clock ? dayOf(clock) : iso;
}

/** `2026-11-20T10:31:12+06:00`: a time as clocks in a zone show it, with the offset of the zone. */
export function localIso(iso: string, zone: string): string {
  const clockMs = clockIn(zone, Date.parse(iso));
  // Of a time that no clock shows, such as one of the year 0.
  if (Number.isNaN(clockMs)) return iso;
  const minutes = Math.round((clockMs - Date.parse(iso)) / 60_000);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map(twoDigits);
  return `${new Date(clockMs).toISOString().slice(0, 19)}${minutes < 0 ? "-" : "+"}${hours}:${rest}`;
}

/** A time whose parts in UTC are those that clocks in a zone show. */
function clockOf(iso: string, zone: string): Date | undefined {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return undefined;
  return new Date(clockIn(readTimeZone(zone).ok ? zone : defaultTimeZone, ms));
}

function dayOf(clock: Date): string {
  return `${clock.getUTCDate()} ${months[clock.getUTCMonth()]} ${clock.getUTCFullYear()}`;
}

/** By hand: to load what Node knows of languages takes eight milliseconds. */
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function twoDigits(part: number): string {
  return String(part).padStart(2, "0");
}
