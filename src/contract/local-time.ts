/** `20 Nov 2026, 10:31:12` in the zone of this machine; a text that is no time as it came. */
export function formatTime(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatter().format(ms);
}

/** `20 Nov 2026`, of the same. */
export function formatDay(iso: string): string {
  const [day = ""] = formatTime(iso).split(",");
  return Number.isNaN(Date.parse(iso)) ? iso : day;
}

let made: Intl.DateTimeFormat | undefined;

/** Made once: making one costs more than a whole table of uses. */
function formatter(): Intl.DateTimeFormat {
  made ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  return made;
}
