import { clockIn, whenClockShows } from "../domain/time-zone.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type AccountReport,
  type Bucket,
  createReport,
  type Group,
  periodText,
  type Scope,
  sumIn,
} from "./report.ts";

/** The totals of all accounts that a ledger has, from its operations. */
export async function totalsOf(
  scope: Scope,
  ledger: Pick<Ledger, "list" | "entries">,
): Promise<AccountReport<Iterable<Group>>[]> {
  const sums = createReport(scope);
  const filter = { bookedSince: scope.since, bookedUntil: scope.until, oldestFirst: true };
  for await (const one of ledger.list(undefined, filter)) await sums.add(one);
  const { since = "", until = "9" } = scope;
  for await (const page of ledger.entries.list())
    for (const one of page)
      if (one.bookedAt >= since && one.bookedAt <= until) await sums.addEntry(one);
  return sums.accounts();
}

/** What the totals are of, and what they do not include, in sentences. */
export function* notesOf(scope: Scope, accounts: AccountReport<Iterable<Group>>[]) {
  const countOf = (bucket: Bucket) =>
    accounts.reduce((count, { total }) => count + sumIn(total, bucket).count, 0);
  if (accounts.length > 0) {
    const named = accounts.map(({ account, environment }) => `${account} (${environment})`);
    yield `Period: ${periodText(scope)} (${scope.zone}). Account: ${named.join(", ")}.`;
  }
  const [unknown, inProgress] = [countOf("unknown"), countOf("inProgress")];
  const [differing, changed] = [countOf("differing"), countOf("noLongerCompleted")];
  if (inProgress > 0) yield `Not included: ${inProgress} in progress.`;
  if (unknown > 0)
    yield `Not included: ${unknown} with an unknown outcome. To list them, run 'lenden ledger list --unknown'.`;
  if (differing > 0)
    yield `Not included: ${differing} with a record that differs from what was requested. To list them, run 'lenden ledger list --status conflict'.`;
  if (changed > 0)
    yield `Not included: ${changed} completed in the period and not Completed any more.`;
}

/** The month of a time, such as 2026-11. */
export function monthAt(ms: number, zone: string): string {
  return new Date(clockIn(zone, ms)).toISOString().slice(0, 7);
}

/** The first and the last moment of a month. */
export function monthSpan(month: string, zone: string): Pick<Scope, "since" | "until"> {
  const startMs = (monthsLater: number) => {
    const date = new Date(month);
    date.setUTCMonth(date.getUTCMonth() + monthsLater);
    return whenClockShows(zone, date.getTime());
  };
  return {
    since: new Date(startMs(0)).toISOString(),
    until: new Date(startMs(1) - 1).toISOString(),
  };
}
