import type { Context } from "../cli/command/context.ts";
import { flag, type Input, oneOf } from "../cli/command/flag.ts";
import { usage } from "../domain/failure.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { groupings, type Scope } from "../report/report.ts";
import { monthAt, monthSpan } from "../report/totals.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

/** The period of a report, and how it is grouped. */
export const scopeFlags = {
  month: flag.optional(
    "--month <month>",
    "Month, such as 2026-11 (default: the current month)",
    readMonth,
  ),
  since: { ...timeFilters.since, unless: "month" },
  until: { ...timeFilters.until, unless: "month" },
  by: flag.optional(
    "--by <group>",
    `Group by {${groupings.join(" | ")}} (default: day)`,
    oneOf(groupings),
  ),
};
export type ReportInput = Input<typeof scopeFlags>;

/** @throws Failure `usage` if the period is empty */
export async function scopeOf(
  { month, by = "day", ...times }: ReportInput,
  context: Context,
): Promise<Scope> {
  const zone = await zoneOf(context);
  const isGiven = times.since !== undefined || times.until !== undefined;
  const { problems, ...span } = isGiven
    ? spanOf(times, zone, context)
    : { problems: [], ...monthSpan(month ?? monthAt(context.host.now(), zone), zone) };
  if (problems.length > 0) throw usage(problems);
  return { by, ...span, zone };
}

function readMonth(typed: string): Result<string> {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(typed)
    ? ok(typed)
    : err(`${quoted(typed)} is not a month. Example: 2026-11.`);
}
