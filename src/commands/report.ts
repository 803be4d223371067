import { type Context, defineCommand, type Schemas } from "../cli/command/define-command.ts";
import { flag, type Input, oneOf } from "../cli/command/flag.ts";
import type { Output } from "../cli/output/render.ts";
import { type Cell, type Column, id, money, type Table, text } from "../cli/output/view.ts";
import { amountText, type Paisa } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { formatPaisa } from "../domain/money.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import { clockIn, whenClockShows } from "../domain/time-zone.ts";
import type { Kind, Operation } from "../ledger/operation.ts";
import {
  type AccountReport,
  type Bucket,
  createReport,
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
  output: (schema) => reportOutput(schema),
  json: ({ scope, accounts }) => ({
    by: scope.by,
    since: scope.since ?? null,
    until: scope.until ?? null,
    timeZone: scope.zone,
    accounts: accounts.map(({ groups, total, listed, ...account }) => ({
      ...account,
      groups: jsonGroups(groups),
      total: jsonOf(total),
      differing: listed.differing.map(({ message, ...one }) => ({ ...jsonListed(one), message })),
      noLongerCompleted: listed.noLongerCompleted.map(({ completedAt, status, ...one }) => ({
        ...jsonListed(one),
        completedAt,
        status,
      })),
    })),
  }),

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

function jsonListed(
  one: Pick<Operation, "id" | "kind" | "remoteId" | "reference" | "amountPaisa">,
) {
  const { id, kind, remoteId, reference, amountPaisa } = one;
  const requested = amountPaisa === null ? null : amountText(amountPaisa);
  return { operation: id, kind, remoteId, reference, requested };
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

function* jsonGroups(groups: Iterable<Group>) {
  for (const { sums, ...group } of groups) yield { ...group, ...jsonOf(sums) };
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
  const currentMonth = new Date(clockIn(zone, host.now())).toISOString().slice(0, 7);
  const { problems, ...span } = isGiven
    ? spanOf(times, zone, context)
    : { problems: [], ...monthSpan(month ?? currentMonth, zone) };
  if (problems.length > 0) throw usage(problems);
  const scope: Scope = { by, ...span, zone };
  const sums = createReport(scope);
  const filter = { bookedSince: span.since, bookedUntil: span.until, oldestFirst: true };
  for await (const one of (await context.ledger.records()).list(undefined, filter))
    await sums.add(one);
  const accounts = await sums.accounts();
  const countOf = (bucket: Bucket) =>
    accounts.reduce((count, { total }) => count + sumIn(total, bucket).count, 0);
  if (accounts.length > 0) {
    const named = accounts.map(({ account, environment }) => `${account} (${environment})`);
    ui.notice(`Period: ${periodText(scope)} (${zone}). Account: ${named.join(", ")}.`);
  }
  const [unknown, inProgress] = [countOf("unknown"), countOf("inProgress")];
  const [differing, changed] = [countOf("differing"), countOf("noLongerCompleted")];
  if (inProgress > 0) ui.notice(`Not included: ${inProgress} in progress.`);
  if (unknown > 0)
    ui.notice(
      `Not included: ${unknown} with an unknown outcome. To list them, run 'lenden ledger list --unknown'.`,
    );
  if (differing > 0)
    ui.notice(
      `Not included: ${differing} with a record that differs from what was requested. To list them, run 'lenden ledger list --status conflict'.`,
    );
  if (changed > 0)
    ui.notice(`Not included: ${changed} completed in the period and not Completed any more.`);
  const room = host.stdout.isTTY ? (host.stdout.columns ?? 80) : 0;
  return { scope, accounts, output: ui.output, now: new Date(host.now()).toISOString(), room };
}

function readMonth(typed: string): Result<string> {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(typed)
    ? ok(typed)
    : err(`${quoted(typed)} is not a month. Example: 2026-11.`);
}

function monthSpan(month: string, zone: string): Pick<Scope, "since" | "until"> {
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

function jsonOf(sums: Sums) {
  const sum = (bucket: Bucket, kind: Kind) => {
    const { count, paisa } = sumIn(sums, bucket, [kind]);
    return { count, amount: amountText(paisa) };
  };
  const each = (bucket: Bucket) => ({
    payments: sum(bucket, "payment"),
    refunds: sum(bucket, "refund"),
    payouts: sum(bucket, "payout"),
  });
  const net = netOf(sums);
  return {
    ...each("completed"),
    net: net < 0n ? `-${amountText(-net)}` : amountText(net),
    unknown: each("unknown"),
    inProgress: each("inProgress"),
    noLongerCompleted: each("noLongerCompleted"),
    // Their amounts are not proved.
    differing: sumIn(sums, "differing").count,
    notCounted: sumIn(sums, "notCounted").count,
  };
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
