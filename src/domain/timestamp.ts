import { accepted, type Reading, rejected } from "./reading.ts";

/** Reads a payout's timestamp: Unix time in whole seconds (service.md §5). */
export function readTimestamp(text: string): Reading<number> {
  if (/^[1-9][0-9]{8,9}$/.test(text)) return accepted(Number(text));
  if (/^[1-9][0-9]{12}$/.test(text))
    return rejected(`This is in milliseconds. Did you mean ${text.slice(0, -3)}?`);
  return rejected("A timestamp is Unix time in seconds, for example 1763614800.");
}

/** How far a clock may be off: the service takes five minutes (§8), and one is kept as a margin. */
export const toleratedClockMs = 4 * 60_000;
