import { type Finding, isAcceptable } from "../../../batches/findings.ts";
import type { FileRow, Totals } from "../../../batches/rows.ts";
import { openOf, type Sum } from "../../../batches/status.ts";
import type { Context } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { usage } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { readStatus } from "./batch.ts";
import { type Examined, examineFile, type FileInput, methodTyped } from "./file.ts";
import {
  type ExistingBatch,
  otherRowsFailure,
  placedFinding,
  rejectProblems,
  repeatedMeanwhile,
  repeatedSince,
  sumText,
} from "./texts.ts";

export type PlanInput = FileInput & {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** Resumes a batch, after a confirmation. */
export async function resumedBatch(
  planned: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { acceptRows, checkOpenRows, resumeBatch } = await import("../../../batches/plan.ts");
  const { hasMore } = await import("../../../batches/check.ts");
  const batch = await resumeBatch(planned, methodTyped(input), ledger);
  return orRelease(batch, ledger, async () => {
    const { sums, total } = await readStatus(batch, ledger);
    const open = openOf(sums);
    checkExpected(input, total);
    const sumOfRows = (findings: Finding[]) =>
      sumOfFindings(findings, ledger.batches.rows(batch, "open"));
    const shown = await checkOpenRows(batch, ledger);
    const rejected = shown.findings.filter(
      (finding) => !(input.allowDuplicates && isAcceptable(finding)),
    );
    if (rejected.length > 0) throw repeatedSince(batch, rejected, await sumOfRows(rejected));
    if (open.count === 0) return batch;
    const rows: [string, string][] = [
      ["Batch", `${batch.id}, ${batch.name}`],
      ["Total", sumText(total)],
      ["Still open", sumText(open)],
      ...duplicateRows(shown.findings, await sumOfRows(shown.findings)),
    ];
    await confirmTotal(input, { action: "Resume a batch", rows, total }, context);
    // The confirmation took a while.
    const { findings, ...now } = await checkOpenRows(batch, ledger);
    if (hasMore({ findings, ...now }, shown))
      throw repeatedSince(batch, findings, await sumOfRows(findings));
    return acceptRows(batch, shown, ledger);
  });
}

/** Reads a file, and makes it a batch after a confirmation: its plan is durable. */
export async function newBatch(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { checkStop } = await import("../../../operations/deps.ts");
  const { claimBatch, findBatch, planBatch } = await import("../../../batches/plan.ts");
  const examined = await examineFile(input, hash, ledger, context);
  const { file, read, totals, problems } = examined;
  if (!file) {
    await rejectProblems(input.file, problems, ledger);
    throw new Error("a file without problems cannot be read");
  }
  const found = await findBatch(file, read.rows, ledger);
  if (found.kind === "same") {
    const text = `This file has the rows of batch ${found.batch.id}, which is resumed.`;
    context.ui.notice(text, "batch.same-rows");
    // Its rows keep the methods of the batch, however the file and the command line name them.
    const rows = { ...input, method: undefined, methodId: undefined };
    return resumedBatch(found.batch, rows, ledger, context);
  }
  if (found.kind === "other-rows") throw otherRowsFailure(file.name, found);
  await rejectProblems(input.file, problems, ledger);
  checkExpected(input, totals.total);
  const claim = await claimBatch(file, read.rows, ledger);
  if (claim.kind === "other-rows") throw otherRowsFailure(file.name, claim);
  const { batch } = claim;
  // Another process created it while this one read the file. Its plan is used.
  if (batch.plan) {
    await ledger.batches.release(batch);
    return resumedBatch(batch, input, ledger, context);
  }
  return orRelease(batch, ledger, async () => {
    const { total } = totals;
    if (read.ledger.sentBefore.count < total.count) {
      const rows = await summaryOf(batch, examined);
      await confirmTotal(input, { action: "Send a batch of payouts", rows, total }, context);
    }
    checkStop(await context.api.deps());
    const answer = await planBatch(batch, read, ledger);
    if (answer.kind === "other-rows") throw otherRowsFailure(file.name, answer);
    if (answer.kind === "repeated") throw repeatedMeanwhile(answer.found);
    return answer.batch;
  });
}

/** Ends the lock of a batch that is not sent, so that another process can claim it. */
async function orRelease(batch: Batch, ledger: Ledger, work: () => Promise<Batch>): Promise<Batch> {
  try {
    return await work();
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}

/** The batch that a file is, or whose name it has; undefined if the file is new or cannot be read. */
export async function existingBatch(
  { file, read }: Examined,
  ownName: string | undefined,
  ledger: Ledger,
): Promise<ExistingBatch | undefined> {
  if (!file) return undefined;
  const { cancelledBatch, checkOpenRows, findBatch } = await import("../../../batches/plan.ts");
  const planned = await ledger.batches.ofFile(file.hash, ownName);
  const found = planned
    ? ({ kind: "same", batch: planned } as const)
    : await findBatch(file, read.rows, ledger);
  if (found.kind === "new") return undefined;
  if (found.kind === "other-rows")
    return { kind: "rejected", failure: otherRowsFailure(file.name, found) };
  const { batch } = found;
  if (batch.cancelledAt !== null) return { kind: "rejected", failure: cancelledBatch(batch) };
  const { findings } = await checkOpenRows(batch, ledger);
  const duplicates = await sumOfFindings(findings, ledger.batches.rows(batch, "open"));
  return { kind: "open", status: await readStatus(batch, ledger), duplicates };
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

interface Question {
  action: string;
  rows: [string, string][];
  total: Sum;
}

/** In production the total is typed; a sandbox only shows the rows. */
async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { action, rows, total }: Question,
  { ui }: Context,
): Promise<void> {
  await ui.confirm({
    action,
    rows,
    alwaysShown: true,
    typed: {
      what: `the total, ${amountText(total.sumPaisa)}`,
      // As it is requested, and as the summary shows it.
      matches: (text) => {
        const read = readAmount(text);
        const shown = text.trim().replace(/^(?:BDT )?/, "BDT ");
        return (read.ok && read.value === total.sumPaisa) || shown === formatPaisa(total.sumPaisa);
      },
      isGiven: expectTotal !== undefined && expectCount !== undefined,
      flags: "--expect-total and --expect-count",
    },
  });
}

/** What a person checks before the confirmation. */
async function summaryOf(
  batch: Batch,
  { totals, read, allowed }: Examined,
): Promise<[string, string][]> {
  const { total, first, last, largest } = totals;
  const { sentBefore } = read.ledger;
  const shown = (row: FileRow | undefined): string => {
    if (!row) return "";
    const name = row.name ? ` (${row.name})` : "";
    return `line ${row.line}: ${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${name}`;
  };
  const left = {
    count: total.count - sentBefore.count,
    sumPaisa: total.sumPaisa - sentBefore.sumPaisa,
  };
  const before: [string, string][] = [
    ["Accepted before", sumText(sentBefore)],
    ["To be sent now", sumText(left)],
  ];
  const lastRow: [string, string] = ["Last", shown(last)];
  return [
    ["Batch", `${batch.id}, ${batch.name}`],
    ["Total", sumText(total)],
    ...(sentBefore.count > 0 ? before : []),
    ...methodRows(totals),
    ["Largest", shown(largest)],
    ...first.map((row, index): [string, string] => [index === 0 ? "First" : "", shown(row)]),
    ...(total.count > first.length ? [lastRow] : []),
    ...duplicateRows(allowed, await sumOfFindings(allowed, read.rows)),
  ];
}

export function methodRows({ methods }: Totals): [string, string][] {
  return methods.map((one) => [one.method, sumText(one)]);
}

/** Rows that repeat a payout, which --allow-duplicates accepts: label and text. */
export function duplicateRows(findings: Finding[], sum: Sum): [string, string][] {
  const [first] = findings;
  if (!first) return [];
  return [
    ["Duplicates", `${sumText(sum)}, allowed`],
    ["", placedFinding(first)],
  ];
}

interface RowAmount {
  line: number;
  amountPaisa: bigint | null;
}

/** The rows that findings are about, and their amount. */
export async function sumOfFindings(
  findings: Finding[],
  rows: AsyncIterable<RowAmount> | RowAmount[],
): Promise<Sum> {
  const lines = new Set(findings.map(({ line }) => line));
  let sumPaisa = 0n;
  if (lines.size > 0)
    for await (const { line, amountPaisa } of rows)
      if (lines.has(line)) sumPaisa += amountPaisa ?? 0n;
  return { count: lines.size, sumPaisa };
}
