import { walletIn } from "../domain/mobile.ts";
import { formatPaisa } from "../domain/money.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import { currencyOfHeading } from "../tables/currency.ts";
import type { Payroll } from "../tables/payroll.ts";
import { meaningProblems } from "../tables/payroll-columns.ts";
import { beforeColumn, type PayrollField } from "../tables/payroll-names.ts";
import { sortRows } from "../tables/payroll-rows.ts";
import type { SkippedRow } from "../tables/skipped.ts";
import { keptColumns } from "./clean-columns.ts";
import { completedProblems } from "./clean-completed.ts";
import {
  type Change,
  type CleanProblem,
  type CleanRow,
  type CleanRules,
  createRowReader,
} from "./clean-rows.ts";
import { type Field, fields } from "./fields.ts";
import { countRow, type Sum } from "./status.ts";
import { linesText } from "./texts.ts";

/** A payroll in lenden's own form. */
export interface Cleaned {
  columns: string[];
  /** The cells of each row, in the order of the columns. */
  rows: string[][];
  changes: Change[];
  skipped: SkippedRow[];
  hidden: Sum;
  /** The rows of the file with an amount that can be read, and the rows that are written. */
  before: Sum;
  after: Sum;
  problems: CleanProblem[];
}

/** Cleans what is certain and what is probable, and finds what cannot be decided. */
export async function cleanPayroll(payroll: Payroll, rules: CleanRules): Promise<Cleaned> {
  const placeOf = (field: PayrollField) =>
    payroll.columns.find((one) => one.field === field)?.place ?? -1;
  const sorted = sortRows(payroll, { to: placeOf("to"), amount: placeOf("amount") });
  const problems: CleanProblem[] = [...problemsOfColumns(payroll), ...sorted.problems];
  const changes: Change[] = [];
  const has = (field: PayrollField) => payroll.columns.some((one) => one.field === field);
  const written: Field[] = [
    ...(has("name") ? (["name"] as const) : []),
    ...(["to", "amount"] as const),
    ...(has("method") || rules.writesMethod ? (["method"] as const) : []),
    ...(has("ref") ? (["ref"] as const) : []),
    ...(has("description") ? (["description"] as const) : []),
  ];
  const missing = fields.filter((field) => !written.includes(field));
  const { kept, names } = keptColumns(payroll.columns, missing);
  const read = createRowReader(payroll, kept, sorted.mark, rules, { problems, changes });
  const all = sorted.payouts.map(read);
  const hidden = { count: 0, sumPaisa: 0n };
  const before = { count: 0, sumPaisa: 0n };
  for (const { amount, isHidden } of all) {
    if (amount !== undefined) countRow(before, { amountPaisa: amount });
    if (isHidden) countRow(hidden, { amountPaisa: amount ?? 0n });
  }
  if (hidden.count > 0 && rules.hidden === undefined)
    problems.push({
      kind: "hidden rows",
      problem: hiddenText(
        hidden,
        all.flatMap(({ line, isHidden }) => (isHidden ? line : [])),
      ),
    });
  problems.push(...walletProblems(payroll, all));
  problems.push(...(await completedProblems(all, payroll, rules)));
  const isLeft = ({ isHidden = false }) => isHidden && rules.hidden === "skip";
  const rows = all.filter((one) => !isLeft(one));
  const left = new Set(payroll.rows.filter(isLeft).map(({ line }) => line));
  const after = { count: 0, sumPaisa: 0n };
  for (const { amount } of rows) countRow(after, { amountPaisa: amount ?? 0n });
  const hasBefore = has("before") || rows.some(({ replaced }) => replaced.length > 0);
  return {
    columns: [...written, ...(hasBefore ? [beforeColumn] : []), ...names],
    rows: rows.map(({ cells, replaced, kept }) => [
      ...written.map((field) => cells[field] ?? ""),
      ...(hasBefore ? [replaced.join("; ") || (cells.before ?? "")] : []),
      ...kept,
    ]),
    changes: changes.filter(({ line }) => !left.has(line)),
    skipped: sorted.skipped,
    hidden,
    before,
    after,
    // What is skipped needs no correction.
    problems: problems.filter(({ line }) => line === undefined || !left.has(line)),
  };
}

/** What is wrong with columns as a whole. */
function* problemsOfColumns({ columns, header, rows }: Payroll): Iterable<CleanProblem> {
  if (header.includes("payoutId"))
    yield {
      kind: "column",
      problem:
        "The file is an export of lenden, whose rows may be paid already. Send the exported file unchanged.",
    };
  for (const { field, name } of columns)
    if (field === "amount" && currencyOfHeading(name)) {
      const problem = `The column ${quoted(name)} is not in BDT, and amounts are in BDT.`;
      yield { kind: "currency", column: name, problem };
    }
  for (const problem of meaningProblems(columns, rows)) yield { kind: "column", problem };
}

/** A column of numbers of one wallet, in rows that are paid by another one. */
function* walletProblems({ columns }: Payroll, rows: CleanRow[]): Iterable<CleanProblem> {
  const to = columns.find(({ field }) => field === "to");
  const wallet = to && !to.isChosen ? walletIn(to.name) : undefined;
  if (!to || wallet === undefined) return;
  for (const method of new Set(rows.map((row) => row.method)))
    if ((walletIn(method) ?? wallet) !== wallet) {
      const right = shellLine(["--map", `${to.name}=to`]);
      const problem = `The column ${quoted(to.name)} names another wallet than the method ${quoted(method)}. Correct the method. If the method is right for these numbers, add ${right}.`;
      yield { kind: "column", problem };
    }
}

function hiddenText({ count, sumPaisa }: Sum, lines: number[]): string {
  const rows = count === 1 ? "1 row is" : `${count} rows are`;
  return `${rows} hidden in the workbook (${linesText(lines)}): ${formatPaisa(sumPaisa)}. To pay them, add --hidden include. To leave them unpaid, add --hidden skip.`;
}
