import { type Context, defineCommand, type Schemas } from "../cli/command/define-command.ts";
import type { Output } from "../cli/output/render.ts";
import { plainReport } from "../report/plain.ts";
import {
  type AccountReport,
  type Group,
  largest,
  listedBuckets,
  listedText,
  type Scope,
} from "../report/report.ts";
import { reportPage } from "../report/report-page.ts";
import { notesOf, totalsOf } from "../report/totals.ts";
import { type ReportInput, scopeFlags, scopeOf } from "./report-scope.ts";
import { tableOf } from "./report-table.ts";

export const report = defineCommand({
  description:
    "The totals include operations that were completed in the period. Operations in progress, with an unknown outcome, with a record that differs, or not Completed any more are shown separately.",
  examples: {
    "Report the current month by day": "lenden report",
    "Write a page with charts": "lenden report --month 2026-11 --by method -o html > report.html",
  },
  flags: scopeFlags,
  formats: ["html"],

  run(input, context) {
    const { output } = context.ui;
    if (output === "csv" || output === "ids") return pagesOf(input, context);
    return output === "table" ? withListed(input, context) : sumsOf(input, context);
  },

  output: reportOutput,
  /** There may be a million groups, so they are read while they are printed. */
  json: ({ scope, accounts }) => plainReport(scope, accounts),

  view: (result) => {
    const { scope, accounts, output, now, room, line } = result;
    if (line !== undefined) return { kind: "line", text: line, id: "" };
    const shown = accounts.map((one) => ({ ...one, groups: [...largest(one.groups, pageSize)] }));
    if (output === "html") return { kind: "raw", text: reportPage(shown, scope, now) };
    return tableOf(shown, scope, { output, room });
  },
});

/** Rows that are shown at once. A table and a page have the largest groups, and the sum of the others. */
const pageSize = 1_000;

/** The table, and below it the operations that are in no total and that a person has to look at. */
async function* withListed(input: ReportInput, context: Context) {
  const report = await sumsOf(input, context);
  yield report;
  for (const { account, listed } of report.accounts)
    for (const bucket of listedBuckets)
      for (const one of listed[bucket]) {
        const owner = report.accounts.length > 1 ? `${account}: ` : "";
        yield { ...report, line: `${owner}${listedText(one, report.scope.zone)}` };
      }
}

/** Each page of an account by itself; an empty one if there is no account. */
async function* pagesOf(input: ReportInput, context: Context) {
  const report = await sumsOf(input, context);
  for (const account of report.accounts) {
    let groups: Group[] = [];
    for (const group of account.groups) {
      groups.push(group);
      if (groups.length < pageSize) continue;
      yield { ...report, accounts: [{ ...account, groups }] };
      groups = [];
    }
    if (groups.length > 0) yield { ...report, accounts: [{ ...account, groups }] };
  }
  if (report.accounts.length === 0) yield report;
}

interface Reported {
  scope: Scope;
  accounts: AccountReport<Iterable<Group>>[];
  output: Output;
  /** ISO 8601. */
  now: string;
  /** The columns of the terminal; 0 without one. */
  room: number;
  /** In place of the table, a sentence below it. */
  line?: string;
}

async function sumsOf(input: ReportInput, context: Context): Promise<Reported> {
  const { host, ui } = context;
  const scope = await scopeOf(input, context);
  const accounts = await totalsOf(scope, await context.ledger.records());
  for (const note of notesOf(scope, accounts)) ui.notice(note);
  const room = host.stdout.isTTY ? (host.stdout.columns ?? 80) : 0;
  return { scope, accounts, output: ui.output, now: new Date(host.now()).toISOString(), room };
}

function reportOutput({
  z,
  text,
  textOrNull,
  count,
  amount,
  amountOrNull,
  signed,
  each,
  warnings,
}: Schemas) {
  const counted = z.strictObject({ count, amount });
  const byKind = each(counted, "payments refunds payouts");
  const sums = {
    ...byKind,
    entries: z.strictObject({ count, amount: signed }),
    net: signed,
    ...each(z.strictObject(byKind), "unknown inProgress noLongerCompleted"),
    ...each(count, "differing notCounted"),
  };
  /** An operation that is in no total, with the amount that was requested. */
  const uncounted = {
    ...each(text, "operation kind"),
    ...each(textOrNull, "remoteId reference"),
    requested: amountOrNull,
  };
  return z.strictObject({
    by: text,
    timeZone: text,
    ...each(textOrNull, "since until"),
    accounts: z.array(
      z.strictObject({
        ...each(text, "account environment"),
        groups: z.array(z.strictObject({ key: text, name: textOrNull, ...sums })),
        total: z.strictObject(sums),
        /** At most 1,000 of each. */
        differing: z.array(z.strictObject({ ...uncounted, message: textOrNull })),
        noLongerCompleted: z.array(
          z.strictObject({ ...uncounted, ...each(textOrNull, "completedAt status") }),
        ),
      }),
    ),
    warnings,
  });
}
