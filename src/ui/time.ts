import { accepted, type Reading, rejected } from "../contract/reading.ts";

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `500ms`, `30s`, `10m`, `2h` as milliseconds. */
export function readDuration(text: string): Reading<number> {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = Object.entries(unitsMs).find(([name]) => name === unit)?.[1];
  if (digits === undefined || unitMs === undefined) {
    return rejected("This is not a duration. Write it as 500ms, 30s, 10m or 2h.");
  }
  const ms = Number(digits) * unitMs;
  // A timer of Node's counts in 32 bits: anything longer would fire at once.
  return ms <= 2 ** 31 - 1 ? accepted(ms) : rejected("This duration is too long; at most 596h.");
}

/** `20 Nov 2026, 10:31:12` in the zone of this machine; a text that is no time as it came. */
export function formatTime(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatter().format(ms);
}

let made: Intl.DateTimeFormat | undefined;

/** Made once: making one costs more than a whole table of uses. */
function formatter(): Intl.DateTimeFormat {
  made ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  return made;
}
