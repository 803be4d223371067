import { usage } from "../domain/failure.ts";
import { formatDay } from "../domain/local-time.ts";
import { clockIn, whenClockShows } from "../domain/time-zone.ts";
import type { Lines } from "./lines.ts";

const dayMs = 86_400_000;

/** One end of a period that the user set: ISO 8601, and as it was typed. */
interface Given {
  at: string | undefined;
  typed: string | undefined;
}

/**
 * The period of a statement: from the day of the first date to that of the last, unless the user says otherwise.
 *
 * @returns ISO 8601, inclusive
 * @throws Failure `usage` if there is no date, or if the given end is outside of the dates
 */
export function periodOf({ span }: Pick<Lines, "span">, since: Given, until: Given, zone: string) {
  const { fromMs, toMs } = span ?? { fromMs: 0, toMs: 0 };
  if ((since.at === undefined || until.at === undefined) && !span)
    throw usage(
      ["No line of the statement has a date."],
      "To set the period, add --since and --until.",
    );
  const day = (ms: number) => Math.floor(clockIn(zone, ms) / dayMs);
  const start = (of: number) => whenClockShows(zone, of * dayMs);
  const iso = (ms: number) => new Date(ms).toISOString();
  const period = {
    since: since.at ?? iso(start(day(fromMs))),
    until: until.at ?? iso(start(day(toMs) + 1) - 1),
  };
  if (period.since <= period.until) return period;
  const dates = `The dates of the statement are ${formatDay(iso(fromMs), zone)} to ${formatDay(iso(toMs), zone)}.`;
  const flag = since.at === undefined ? `--until ${until.typed}` : `--since ${since.typed}`;
  throw usage([`${flag} is not a day of the statement. ${dates}`], swapDates);
}

export const swapDates = "Set --since to the first day of the statement, and --until to the last.";
