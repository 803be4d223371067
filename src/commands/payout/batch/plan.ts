import type { Source } from "../../../batches/check.ts";
import type { CsvFile } from "../../../batches/csv.ts";
import {
  type Finding,
  placedFinding,
  rejectProblems,
  sumOfRows,
} from "../../../batches/findings.ts";
import { delimiterName, hasReferenceColumn } from "../../../batches/header.ts";
import type { Choices, Question } from "../../../batches/plan.ts";
import type { FileRow } from "../../../batches/rows.ts";
import {
  type BatchStatus,
  difference,
  openOf,
  readStatus,
  type Sum,
} from "../../../batches/status.ts";
import type { Context } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { usage } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { comparisonRows } from "./comparison.ts";
import { type Examined, examineFile, type FileInput, methodTyped, sourceOf } from "./file.ts";
import { existedText, retryAdvice, sentences, sumText } from "./summary.ts";

export type PlanInput = FileInput & {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** The batch of a file, claimed and planned after a confirmation; only its plan is sent. */
export async function batchOfFile(
  input: PlanInput,
  csv: CsvFile,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { createBatch, findBatch, resumeBatch } = await import("../../../batches/plan.ts");
  const planned = await ledger.batches.ofFile(csv.hash, input.name);
  if (planned) {
    await checkColumns(planned, sourceOf(input, csv), ledger);
    return resumeBatch(planned, choicesOf(input, [], context), ledger);
  }
  const examined = await examineFile(input, csv, ledger, context);
  const { file, read, problems } = examined;
  const found = file && (await findBatch(file, read.rows, ledger));
  if (found) {
    const text = `This file has the rows of batch ${found.id}, which is resumed.`;
    context.ui.notice(text, "batch.same-rows");
    // Its rows keep the methods of the batch, however the file and the command line name them.
    const choices = choicesOf({ ...input, method: undefined, methodId: undefined }, [], context);
    return resumeBatch(found, choices, ledger);
  }
  await rejectProblems(input.file, problems, ledger);
  if (!file) throw new Error("a file without problems cannot be read");
  const { compareWithLast } = await import("../../../batches/comparison.ts");
  const compared = await compareWithLast(read, ledger);
  const { total } = examined.totals;
  const rows = [...fileRows(examined), ...comparisonRows(compared, total)];
  const choices = choicesOf(input, rows, context);
  return createBatch(file, read, choices, ledger);
}

/**
 * The plan of a file decides, not the flags of a later run.
 *
 * @throws Failure `usage` if flags read other rows from the planned file
 */
async function checkColumns(planned: Batch, source: Source, ledger: Ledger): Promise<void> {
  const { ignored = [], mapped = [] } = source.choices ?? {};
  if (ignored.length + mapped.length === 0) return;
  const { hasRowsOf } = await import("../../../batches/plan.ts");
  if (await hasRowsOf(planned, source, ledger)) return;
  const problem = `--ignore-columns and --map read other rows than those of batch ${planned.id}, which was created from this file.`;
  throw usage([problem], "To resume that batch, run the same command without these flags.");
}

/** What the command line and the user decide. `rows`: what the confirmation shows of a new batch. */
function choicesOf(input: PlanInput, rows: [string, string][], context: Context): Choices {
  return {
    allowDuplicates: input.allowDuplicates,
    method: methodTyped(input),
    expect: (total) => checkExpected(input, total),
    confirm: async (question) => {
      await confirmTotal(input, question, rows, context);
      const { checkStop } = await import("../../../operations/deps.ts");
      checkStop(await context.api.deps());
    },
  };
}

/** In production the total is typed; a sandbox only shows the rows. */
async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { batch, total, open, duplicates }: Question,
  rows: [string, string][],
  { ui }: Context,
): Promise<void> {
  const isNew = batch.plan === null;
  const { sumPaisa } = total;
  const known: [string, string][] = [
    ["Total", sumText(total)],
    ["Still open", sumText(open)],
    ...duplicateRows(duplicates),
  ];
  await ui.confirm({
    action: isNew ? "Send a batch of payouts" : "Resume a batch",
    rows: [["Batch", `${batch.id}, ${batch.name}`], ...(isNew ? rows : known)],
    alwaysShown: true,
    typed: {
      what: `the total, ${amountText(sumPaisa)}`,
      // As it is requested, and as the summary shows it.
      matches: (text) => {
        const read = readAmount(text);
        const shown = text.trim().replace(/^(?:BDT )?/, "BDT ");
        return (read.ok && read.value === sumPaisa) || shown === formatPaisa(sumPaisa);
      },
      isGiven: expectTotal !== undefined && expectCount !== undefined,
      flags: "--expect-total and --expect-count",
    },
  });
}

/**
 * What sending a file would do, because it is a batch already; undefined if it is not.
 *
 * @throws Failure if its batch was cancelled, or if an unfinished batch of its name has other rows
 */
export async function describeExisting(
  { file, read, source }: Examined,
  ownName: string | undefined,
  ledger: Ledger,
): Promise<string | undefined> {
  const { findBatch } = await import("../../../batches/plan.ts");
  const planned = await ledger.batches.ofFile(source.hash, ownName);
  if (planned) await checkColumns(planned, source, ledger);
  const batch = planned ?? (file && (await findBatch(file, read.rows, ledger)));
  return batch && describeBatch(batch, ledger);
}

/** What sending a batch would do. @throws Failure if it was cancelled */
export async function describeBatch(batch: Batch, ledger: Ledger): Promise<string> {
  const { cancelledBatch, checkOpenRows } = await import("../../../batches/plan.ts");
  if (batch.cancelledAt !== null) throw cancelledBatch(batch);
  const status = await readStatus(batch, ledger);
  const open = openOf(status.sums);
  const left = open.count === 0 ? "no row is left to send" : `${sumText(open)}, are still open`;
  const { count } = sumOfRows((await checkOpenRows(batch, ledger)).findings);
  return sentences([
    `This file is batch ${batch.id}: ${left}.`,
    open.count === 0 ? newPeriodText(status) : "",
    count > 0
      ? `Other payouts repeat ${rowsText(count)}: resume with --allow-duplicates if they are intended.`
      : "",
    await retryAdvice(status, ledger),
  ]);
}

/** How to pay the same rows again; empty if some of them failed. */
export function newPeriodText({ batch: { columns }, sums }: BatchStatus): string {
  if (sums.refused.count + sums.cancelled.count + sums.conflict.count > 0) return "";
  const references = hasReferenceColumn(columns) ? " and new references" : "";
  return `To pay the same rows again for a new period, use --name${references}, for example --name 2026-12.`;
}

/** What a script expects of the file must be what is in it. */
export function checkExpected(
  { expectTotal, expectCount }: PlanInput,
  { count, sumPaisa }: Sum,
): void {
  const problems: string[] = [];
  if (expectTotal !== undefined && expectTotal !== sumPaisa)
    problems.push(
      `--expect-total: the total is ${formatPaisa(sumPaisa)}, not ${formatPaisa(expectTotal)}.`,
    );
  if (expectCount !== undefined && expectCount !== count)
    problems.push(`--expect-count: the file has ${rowsText(count)}, not ${expectCount}.`);
  if (problems.length > 0) throw usage(problems, "Check the file, or correct the flag.");
}

/** What a person checks before the file is sent: labels and texts. */
export function fileRows({ totals, read, allowed }: Examined): [string, string][] {
  const { total, methods, first, last, largest } = totals;
  const { sentBefore, sentBeforeLines } = read.ledger;
  const shown = (label: string, row: FileRow | undefined): [string, string][] => {
    if (!row) return [];
    const name = row.name ? ` (${row.name})` : "";
    const payout = `${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${name}`;
    return [[label, `line ${row.line}: ${payout}`]];
  };
  const before: [string, string][] = [
    ["Already existed", `${existedText(sentBefore, total)} (${linesText(sentBeforeLines)})`],
    ["To be sent now", sumText(difference(total, sentBefore))],
  ];
  return [
    ["Delimiter", delimiterName(read.delimiter)],
    ["Total", sumText(total)],
    ...(sentBefore.count > 0 ? before : []),
    ...methods.map((one): [string, string] => [one.method, sumText(one)]),
    ...shown("Largest", largest),
    ...first.flatMap((row, index) => shown(index === 0 ? "First" : "", row)),
    ...(total.count > first.length ? shown("Last", last) : []),
    ...duplicateRows(allowed),
  ];
}

const mostRanges = 10;

/** `lines 2-4, 9`. */
function linesText(lines: number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const line of lines) {
    const range = ranges.at(-1);
    if (range?.last === line - 1) range.last = line;
    else ranges.push({ first: line, last: line });
  }
  const shown = ranges
    .slice(0, mostRanges)
    .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  const more = ranges.length > mostRanges ? " and more" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${shown.join(", ")}${more}`;
}

/** Rows that repeat a payout, which --allow-duplicates accepts. */
function duplicateRows(findings: Finding[]): [string, string][] {
  const [first] = findings;
  if (!first) return [];
  return [
    ["Duplicates", `${sumText(sumOfRows(findings))}, allowed`],
    ["", placedFinding(first)],
  ];
}
