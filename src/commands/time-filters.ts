import type { Context } from "../cli/command/context.ts";
import { flag, type Input } from "../cli/command/flag.ts";
import { readTime } from "../cli/output/time.ts";
import { usage } from "../domain/failure.ts";
import { readTimeZone } from "../domain/time-zone.ts";

/** The filters by time that every list has. */
export const timeFilters = {
  since: flag.optional("--since <time>", 'From this time: 2026-11-20, today, "2h ago"', readTime),
  until: flag.optional("--until <time>", "Up to and including this time or day", readTime),
};

/** The zone of the profile: the dates of filters and the times of lists are in it. */
export async function zoneOf({ config }: Pick<Context, "config">): Promise<string> {
  const { value, source } = (await config.settings()).timeZone;
  const zone = readTimeZone(value);
  if (zone.ok) return zone.value;
  throw usage([`time-zone of ${source}: ${zone.problem}`]);
}

/** @returns the span in ISO 8601, inclusive, and a problem if it is empty */
export function spanOf(
  { since, until }: Partial<Input<typeof timeFilters>>,
  zone: string,
  { host }: Pick<Context, "host">,
) {
  const from = since?.span(host.now(), zone).fromMs;
  const end = until?.span(host.now(), zone).toMs;
  const isEmpty = from !== undefined && end !== undefined && from > end;
  return {
    since: isoOf(from),
    until: isoOf(end),
    problems: isEmpty ? [`--since ${since?.typed} is after --until ${until?.typed}.`] : [],
  };
}

/** A time that no date can hold is at the end of all times. */
function isoOf(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(Math.max(0, Math.min(ms, 253_402_300_799_999))).toISOString();
}
