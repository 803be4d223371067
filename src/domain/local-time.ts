/** `20 Nov 2026, 10:31:12` in the zone of this machine; a text that is no time as it came. */
export function formatTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return `${formatDay(iso)}, ${clock.map(twoDigits).join(":")}`;
}

/** `20 Nov 2026`, of the same. */
export function formatDay(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${time.getDate()} ${months[time.getMonth()]} ${time.getFullYear()}`;
}

/** By hand: to load what Node knows of languages takes eight milliseconds. */
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function twoDigits(part: number): string {
  return String(part).padStart(2, "0");
}
