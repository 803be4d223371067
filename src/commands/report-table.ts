import type { Output } from "../cli/output/render.ts";
import { type Cell, type Column, id, money, type Table, text } from "../cli/output/view.ts";
import type { Paisa } from "../domain/amount.ts";
import { formatPaisa } from "../domain/money.ts";
import type { Kind } from "../ledger/operation.ts";
import {
  type AccountReport,
  type Bucket,
  entriesIn,
  type Group,
  labelOf,
  netOf,
  periodText,
  type Scope,
  type Sums,
  sumIn,
} from "../report/report.ts";

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
export function tableOf(
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
  const entries = entryColumns(lines, isTable, amount);
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
    ...(isTable ? entries : []),
    amount("net", "NET", netOf),
    ...counted("unknown", "UNKNOWN", "unknown"),
    ...counted("inProgress", "IN PROGRESS", "inProgress"),
    ...counted("noLongerCompleted", "CHANGED", "noLongerCompleted"),
    ...countedOnly,
    // The order of CSV is a contract: a new column is the last one.
    ...(isTable ? [] : entries),
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

/** The entries of statements; a table has them only if there are any. */
function entryColumns(
  lines: Line[],
  isTable: boolean,
  amount: (key: string, label: string, paisaOf: (sums: Sums) => Paisa) => ReportColumn,
): ReportColumn[] {
  const sum = amount("entries", "ENTRIES", (sums) => entriesIn(sums).paisa);
  if (isTable) return lines.some(({ sums }) => entriesIn(sums).count > 0) ? [sum] : [];
  const count = ({ sums }: Line) => text(entriesIn(sums).count);
  return [sum, { key: "entriesCount", label: "ENTRIES", cell: count }];
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
