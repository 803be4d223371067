import type { Cleaned } from "../../../batches/clean.ts";
import type { ChangeKind } from "../../../batches/clean-cells.ts";
import type { Change, CleanProblem } from "../../../batches/clean-rows.ts";
import { sumText } from "../../../batches/texts.ts";
import { Failure } from "../../../domain/failure.ts";
import { quoted } from "../../../domain/result.ts";
import { counted, rowsText } from "../../../domain/text.ts";
import type { Payroll } from "../../../tables/payroll.ts";
import type { PayrollColumn } from "../../../tables/payroll-columns.ts";
import type { SkippedRow } from "../../../tables/skipped.ts";

/** Examples of a kind of change or problem. */
const mostExamples = 3;
const mostSkipped = 20;

/** What each column is, with a cell of it. */
export function* columnTexts({ line, sheet, columns }: Payroll) {
  if (sheet && sheet.others.length > 0)
    yield `The sheet ${quoted(sheet.name)} is read, not ${sheet.others.map(quoted).join(", ")}.`;
  yield `Columns (the header is line ${line}):`;
  for (const column of columns)
    if (column.name !== "" || column.sample !== "") {
      const name = column.name || `column ${column.place + 1}`;
      const sample = column.sample === "" ? "" : `, such as ${quoted(column.sample)}`;
      const hidden = column.isHidden ? ", hidden in the workbook" : "";
      yield `  ${name}: ${roleOf(column)}${sample}${hidden}`;
    }
}

function roleOf({ field }: PayrollColumn): string {
  if (field === undefined) return "kept";
  if (field === "ignore") return "dropped";
  if (field === "before") return "cells before an earlier clean";
  return field === "meaning" || field === "currency" ? "read, then dropped" : field;
}

const skippedKinds: Record<SkippedRow["kind"], string> = {
  title: "title",
  header: "repeated header",
  total: "total, which is right",
  "wrong-total": "wrong total",
  note: "nothing to pay",
};

/** The rows that are no payouts. */
export function* skippedTexts(skipped: SkippedRow[], all: boolean) {
  if (skipped.length === 0) return;
  yield `Skipped: ${rowsText(skipped.length)}.`;
  const shown = all ? skipped : skipped.slice(0, mostSkipped);
  for (const { line, kind, text } of shown) yield `  line ${line} (${skippedKinds[kind]}): ${text}`;
  if (shown.length < skipped.length)
    yield `  and ${skipped.length - shown.length} more, which --all lists`;
}

const changeKinds: Record<ChangeKind, string> = {
  "recipient-completed": "Recipients that were completed by a lost zero",
  "recipient-notation": "Recipients in another notation",
  "amount-rounded": "Amounts whose decimals have an error of arithmetic",
  "amount-notation": "Amounts in another notation",
  "amount-comma": "Amounts with a comma before the decimals",
  reference: "References in another notation",
  method: "Names of methods",
  text: "Texts with line breaks, outer spaces or invisible characters",
};

/** Each kind of change with examples; of recipients that became other numbers, every row. */
export function* changeTexts(changes: Change[], all: boolean) {
  for (const [kind, label] of Object.entries(changeKinds)) {
    const found = changes.filter((one) => one.kind === kind);
    if (found.length === 0) continue;
    yield `${label}: ${found.length}`;
    const isListed = all || kind === "recipient-completed";
    for (const one of isListed ? found : found.slice(0, mostExamples)) {
      const name = kind.startsWith("recipient") && one.name ? ` (${one.name})` : "";
      yield `  line ${one.line}: ${quoted(one.before)} becomes ${one.after}${name}`;
    }
  }
}

/** The sums before and after, and what is hidden. */
export function* totalTexts(
  { columns, hidden, before, after }: Cleaned,
  choice: "include" | "skip" | undefined,
) {
  if (hidden.count > 0 && choice !== undefined)
    yield `Rows that the workbook hides are ${choice === "skip" ? "not written" : "written too"}: ${sumText(hidden)}.`;
  if (!columns.includes("method"))
    yield "The rows have no method. Add --method here, or when you check and send the file.";
  yield `In the file: ${sumText(before)}. Clean: ${sumText(after)}.`;
}

/** The error of a file with problems; undefined if it has none. */
export function problemsOf(
  file: string,
  problems: CleanProblem[],
  all: boolean,
): Failure | undefined {
  if (problems.length === 0) return undefined;
  const kinds = [...new Set(problems.map(({ kind }) => kind))];
  const texts = kinds.flatMap((kind) => {
    const found = problems.filter((one) => one.kind === kind);
    const shown = all ? found : found.slice(0, mostExamples);
    const more = found.length - shown.length;
    const rest = more > 0 ? [`and ${counted(more, "more problem")} of this kind (${kind})`] : [];
    return [...shown.map(problemText), ...rest];
  });
  const isCut = !all && kinds.length > 0 && texts.some((text) => /^and \d+ more/.test(text));
  const list = isCut ? " To list every problem, add --all." : "";
  return new Failure(
    "batch.invalid-file",
    `${file} has ${counted(problems.length, "problem")} that lenden cannot decide. Nothing was written.`,
    {
      problems: texts,
      hint: `Correct the file or add the flags, then run the command again.${list}`,
    },
  );
}

function problemText({ line, column, problem }: CleanProblem): string {
  const place = [line === undefined ? "" : `line ${line}`, column ?? ""].filter(Boolean).join(", ");
  return place === "" || line === undefined ? problem : `${place}: ${problem}`;
}
