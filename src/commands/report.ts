import { type Context, defineCommand, type Schemas } from "../cli/command/define-command.ts";
import { flag, type Input, oneOf } from "../cli/command/flag.ts";
import type { Output } from "../cli/output/render.ts";
import { type Cell, type Column, id, money, type Table, text } from "../cli/output/view.ts";
import type { Paisa } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { formatPaisa } from "../domain/money.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import type { Kind } from "../ledger/operation.ts";
import { plainReport } from "../report/plain.ts";
import {
  type AccountReport,
  type Bucket,
  type Group,
  groupings,
  labelOf,
  largest,
  listedBuckets,
  listedText,
  netOf,
  periodText,
  type Scope,
  type Sums,
  sumIn,
} from "../report/report.ts";
import { reportPage } from "../report/report-page.ts";
import { monthAt, monthSpan, notesOf, totalsOf } from "../report/totals.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

const flags = {
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
type ReportInput = Input<typeof flags>;

export const report = defineCommand({
  description:
    "The totals include operations that were completed in the period. Operations in progress, with an unknown outcome, with a record that differs, or not Completed any more are shown separately.",
  examples: {
    "Report the current month by day": "lenden report",
    "Write a page with charts": "lenden report --month 2026-11 --by method -o html > report.html",
  },
  flags,
  formats: ["html"],

  run(input, context) {
    const { output } = context.ui;
    if (output === "csv" || output === "ids") return pagesOf(input, context);
    return output === "table" ? withListed(input, context) : sumsOf(input, context);
  },

  /** There may be a million groups, so they are read while they are printed. */
  output: reportOutput,
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

async function sumsOf(
  { month, by = "day", ...times }: ReportInput,
  context: Context,
): Promise<Reported> {
  const { host, ui } = context;
  const zone = await zoneOf(context);
  const isGiven = times.since !== undefined || times.until !== undefined;
  const { problems, ...span } = isGiven
    ? spanOf(times, zone, context)
    : { problems: [], ...monthSpan(month ?? monthAt(host.now(), zone), zone) };
  if (problems.length > 0) throw usage(problems);
  const scope: Scope = { by, ...span, zone };
  const accounts = await totalsOf(scope, await context.ledger.records());
  for (const note of notesOf(scope, accounts)) ui.notice(note);
  const room = host.stdout.isTTY ? (host.stdout.columns ?? 80) : 0;
  return { scope, accounts, output: ui.output, now: new Date(host.now()).toISOString(), room };
}

function readMonth(typed: string): Result<string> {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(typed)
    ? ok(typed)
    : err(`${quoted(typed)} is not a month. Example: 2026-11.`);
}

/** A group; undefined for the total of an account. */
interface Line {
  account: AccountReport;
  group: Group | undefined;
  sums: Sums;
}

interface ReportColumn extends Column {
  cell(line: Line): Cell;
}

/**
 * In a table amounts are aligned, and each account has a total. CSV has counts and no totals.
 *
 * @param room the columns of the terminal; 0 without one
 */
function tableOf(
  accounts: AccountReport[],
  scope: Scope,
  { output, room }: { output: Output; room: number },
): Table {
  const isTable = output === "table";
  const lines: Line[] = accounts.flatMap((account) => [
    ...account.groups.map((group) => ({ account, group, sums: group.sums })),
    ...(isTable ? [{ account, group: undefined, sums: account.total }] : []),
  ]);

  const amount = (key: string, label: string, paisaOf: (sums: Sums) => Paisa): ReportColumn => {
    const shown = (paisa: Paisa) => money(isTable && paisa === 0n ? null : paisa);
    return { key, label, isRight: true, cell: ({ sums }) => shown(paisaOf(sums)) };
  };
  const counted = (key: string, label: string, bucket: Bucket, kind?: Kind): ReportColumn[] => {
    const sumOf = (sums: Sums) => sumIn(sums, bucket, kind && [kind]);
    const isEmpty = bucket !== "completed" && lines.every(({ sums }) => sumOf(sums).count === 0);
    if (isTable && isEmpty) return [];
    const count = { key: `${key}Count`, label, cell: ({ sums }: Line) => text(sumOf(sums).count) };
    const isSpare = bucket !== "completed";
    const shown = { ...amount(key, label, (sums) => sumOf(sums).paisa), isSpare };
    return isTable ? [shown] : [shown, count];
  };
  const differing = ({ sums }: Line) => sumIn(sums, "differing").count;
  const countedOnly: ReportColumn[] =
    isTable && lines.every((line) => differing(line) === 0)
      ? []
      : [
          {
            ...{ key: "differingCount", label: "DIFFERING", isRight: true, isSpare: true },
            cell: (line) => text(isTable ? differing(line) || null : differing(line)),
          },
        ];
  const inWords: ReportColumn[] = [
    { key: "environment", label: "ENVIRONMENT", cell: ({ account }) => text(account.environment) },
    { key: "account", label: "ACCOUNT", cell: ({ account }) => text(account.account) },
  ];
  const key = ({ group }: Line) =>
    group ? (isTable ? labelOf(group, scope) : group.key) : "Total";
  const isNamed = !isTable || lines.some(({ group }) => group?.name);
  const columns: ReportColumn[] = [
    ...(!isTable || accounts.length > 1 ? inWords : []),
    { key: scope.by, label: scope.by.toUpperCase(), cell: (line) => id(key(line)) },
    ...(isNamed
      ? [
          {
            key: "name",
            label: "NAME",
            isSpare: true,
            cell: ({ group }: Line) => text(group?.name),
          },
        ]
      : []),
    ...counted("payments", "PAYMENTS IN", "completed", "payment"),
    ...counted("refunds", "REFUNDS OUT", "completed", "refund"),
    ...counted("payouts", "PAYOUTS OUT", "completed", "payout"),
    amount("net", "NET", netOf),
    ...counted("unknown", "UNKNOWN", "unknown"),
    ...counted("inProgress", "IN PROGRESS", "inProgress"),
    ...counted("noLongerCompleted", "CHANGED", "noLongerCompleted"),
    ...countedOnly,
  ];
  const lengthOf = ({ value }: Cell) =>
    typeof value === "bigint" ? formatPaisa(value).length : `${value ?? "-"}`.length;
  const used = columns.map(({ label, cell }) =>
    lines.reduce((most, line) => Math.max(most, lengthOf(cell(line))), label.length),
  );
  const left = room - used.reduce((sum, width) => sum + width + 2, 0);
  if (isTable && left >= 10) columns.push(barColumn(lines, Math.min(left, 24)));
  return {
    kind: "table",
    columns,
    rows: lines.map((line) => ({
      id: line.group?.key ?? "",
      cells: Object.fromEntries(columns.map(({ key, cell }) => [key, cell(line)])),
    })),
    empty: `No operations in this period: ${periodText(scope)}.`,
  };
}

/** Money in and out, relative to the largest group. */
function barColumn(lines: Line[], barWidth: number): ReportColumn {
  const paisaOf = (sums: Sums, kinds?: Kind[]) => Number(sumIn(sums, "completed", kinds).paisa);
  const groups = lines.filter(({ group }) => group);
  const most = groups.reduce((most, { sums }) => Math.max(most, paisaOf(sums)), 1);
  const bar = ({ group, sums }: Line) => {
    if (!group) return null;
    const all = Math.round((paisaOf(sums) / most) * barWidth);
    const paid = Math.round((paisaOf(sums, ["payment"]) / most) * barWidth);
    return `${"█".repeat(paid)}${"░".repeat(all - paid)}`;
  };
  return { key: "bar", label: "IN █ OUT ░", cell: (line) => text(bar(line)) };
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
