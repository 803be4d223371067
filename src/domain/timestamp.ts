import { err, ok, quoted, type Result } from "./result.ts";

/** Reads a payout's timestamp: Unix time in whole seconds (docs/api.md §5). */
export function readTimestamp(text: string): Result<number> {
  if (/^[1-9][0-9]{8,9}$/.test(text)) return ok(Number(text));
  if (/^[1-9][0-9]{12}$/.test(text))
    return err(`The timestamp is in milliseconds. Did you mean ${text.slice(0, -3)}?`);
  return err(`${quoted(text)} is not a timestamp. Use Unix time in seconds. Example: 1763614800.`);
}

/** How far a clock may be off: the API accepts five minutes (§8), and one is kept as a margin. */
export const toleratedClockMs = 4 * 60_000;
