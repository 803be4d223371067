import { basename } from "node:path";
import { isAcceptable } from "../../../batches/findings.ts";
import type { FileRow } from "../../../batches/rows.ts";
import type { Context } from "../../../cli/command/context.ts";
import type { Preview } from "../../../cli/command/preview.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { type Failure, inOneLine, usage } from "../../../domain/failure.ts";
import { formatDay } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type BatchStanding, openOf, readStanding, sumText } from "./batch.ts";
import { adviceOn, wasOrWere } from "./ending.ts";
import {
  againLines,
  allowedLines,
  type Checked,
  type Examined,
  examineFile,
  methodTyped,
  repeatedOf,
} from "./file.ts";
import { otherRows, paidMeanwhile, paidOtherwise, rejectProblems } from "./problems.ts";

type PlanInput = Parameters<typeof examineFile>[0] & {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

interface BatchNotice {
  text: string;
  reason: string;
}

/** Resumes a batch that was planned before, after a confirmation. */
export async function resumedBatch(
  planned: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
  notices: BatchNotice[] = [],
): Promise<Batch> {
  const { acceptRows, checkOpenRows, resumeBatch } = await import("../../../batches/plan.ts");
  const { hasMore } = await import("../../../batches/check.ts");
  const batch = await resumeBatch(planned, methodTyped(input), ledger);
  return orRelease(batch, ledger, async () => {
    const standing = await readStanding(batch, ledger);
    const open = openOf(standing.sums);
    if (open.count === 0) await announceSent(input, standing, ledger, context);
    for (const { text, reason } of notices) context.ui.notice(text, reason);
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    checkExpected(input, { rowCount, totalPaisa });
    const repeated = (findings: typeof shown.findings) =>
      repeatedOf(findings, ledger.batches.rows(batch, "open"));
    const shown = await checkOpenRows(batch, ledger);
    const rejected = shown.findings.filter(
      (finding) => !(input.allowDuplicates && isAcceptable(finding)),
    );
    if (rejected.length > 0) throw paidOtherwise(batch, rejected, await repeated(rejected));
    if (open.count === 0) return batch;
    const rows: [string, string][] = [
      ["Batch", `${batch.id}, ${batch.name}`],
      ["Total", sumText({ count: rowCount, sumPaisa: totalPaisa })],
      ["Still open", sumText(open)],
      ...againLines(await repeated(shown.findings)),
    ];
    await confirmTotal(input, { action: "Resume a batch", rows, totalPaisa }, context);
    // The confirmation took a while.
    const now = await checkOpenRows(batch, ledger);
    if (hasMore(now, shown)) throw paidOtherwise(batch, now.findings, await repeated(now.findings));
    return acceptRows(batch, shown, ledger);
  });
}

/** Reads a file, and makes a durable plan of it after a confirmation. */
export async function newBatch(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { checkStop } = await import("../../../operations/deps.ts");
  const { claimBatch, findBatch, planBatch } = await import("../../../batches/plan.ts");
  const { file, read, checked } = await examineFile(input, hash, ledger, context);
  if (!file) {
    rejectProblems(checked);
    throw new Error("a file without problems cannot be read");
  }
  const found = await findBatch(file, read.rows, ledger);
  if (found.kind === "same") {
    const text = `This file has the rows of batch ${found.batch.id}. That plan counts.`;
    // Its rows have the methods of the plan, however the file and the command line name them.
    const rows = { ...input, method: undefined, methodId: undefined };
    const notices = [{ text, reason: "batch.same-rows" }];
    return resumedBatch(found.batch, rows, ledger, context, notices);
  }
  if (found.kind === "other-rows") throw otherRows(file, found);
  rejectProblems(checked);
  const { totals, sentBefore } = checked;
  checkExpected(input, totals);
  const claim = await claimBatch(file, read.rows, ledger);
  if (claim.kind === "other-rows") throw otherRows(file, claim);
  const { batch } = claim;
  // Another process planned it while this one read: its plan counts, and no other one is made.
  if (batch.plan) {
    await ledger.batches.release(batch);
    return resumedBatch(batch, input, ledger, context);
  }
  return orRelease(batch, ledger, async () => {
    const isSomethingToSend = sentBefore.count < totals.rowCount;
    if (isSomethingToSend) {
      const { totalPaisa } = totals;
      const rows = summaryOf(batch, checked);
      await confirmTotal(input, { action: "Send a batch of payouts", rows, totalPaisa }, context);
    }
    checkStop(await context.api.deps());
    const answer = await planBatch(batch, read, ledger);
    if (answer.kind === "other-rows") throw otherRows(file, answer);
    if (answer.kind === "repeated") throw paidMeanwhile(answer.found);
    if (!isSomethingToSend)
      await announceSent(input, await readStanding(answer.batch, ledger), ledger, context);
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

/** Checks the file, and returns the request of its first row; nothing is sent or stored. */
export async function previewOf(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Preview> {
  const { payoutBody } = await import("../../../payouts/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const { isComplete } = await import("../../../batches/identity.ts");
  const examined = await examineFile(input, hash, ledger, context);
  const { checked } = examined;
  const before = await batchBefore(examined, input.name, ledger);
  if (before?.rejected) throw before.rejected;
  if (before) context.ui.notice(before.says, "batch.exists");
  else rejectProblems(checked);
  checkExpected(input, checked.totals);
  const [first] = checked.totals.first;
  if (!first || !isComplete(first)) throw usage(["There is no row in the file."]);
  return context.api.preview("createPayout", payoutBody(orderOfRow(first)));
}

/** What a file is already, in words. */
export interface Before {
  title: string;
  says: string;
  /** Why `send` rejects the file: its batch was cancelled, or an unfinished one with other rows has its name. */
  rejected?: Failure;
}

/** The batch that a file is, or whose name it has; undefined if the file is new or cannot be read. */
export async function batchBefore(
  { file, read }: Examined,
  ownName: string | undefined,
  ledger: Ledger,
): Promise<Before | undefined> {
  if (!file) return undefined;
  const { cancelledBatch, checkOpenRows, findBatch } = await import("../../../batches/plan.ts");
  const planned = await ledger.batches.ofFile(file.hash, ownName);
  const found = planned
    ? ({ kind: "same", batch: planned } as const)
    : await findBatch(file, read.rows, ledger);
  if (found.kind === "new") return undefined;
  const { batch } = found;
  if (found.kind === "other-rows" || batch.cancelledAt !== null) {
    const isOther = found.kind === "other-rows";
    const rejected = isOther ? otherRows(file, found) : cancelledBatch(batch);
    const title = isOther ? "An unfinished batch has this name" : "The batch was cancelled";
    return { title, says: inOneLine(rejected), rejected };
  }
  const standing = await readStanding(batch, ledger);
  const advice = (await adviceOn(standing, ledger)) ?? "";
  const open = openOf(standing.sums);
  const isFile = `This file is batch ${batch.id}`;
  if (open.count === 0)
    return {
      title: "No row is left to be sent",
      says: `${isFile}, and no row of it is left to be sent. ${advice}`.trim(),
    };
  const { findings } = await checkOpenRows(batch, ledger);
  const { count } = await repeatedOf(findings, ledger.batches.rows(batch, "open"));
  const repeated =
    count === 0
      ? ""
      : ` Other payouts repeat ${rowsText(count)}: without --allow-duplicates the batch is not sent.`;
  return {
    title: "The file is a batch already",
    says: `${isFile}, of which ${sumText(open)}, are still open.${repeated} ${advice}`.trim(),
  };
}

/** Warns that a file has no row left to send. */
async function announceSent(
  { file }: PlanInput,
  { batch, sums }: BatchStanding,
  ledger: Ledger,
  context: Context,
): Promise<void> {
  const name = basename(file);
  const { rowCount = 0 } = batch.plan ?? {};
  const conflicts = sums.conflict.count;
  const failed = sums.refused.count + sums.cancelled.count;
  const times = await ledger.batches.sentBetween(batch);
  const [first, last] = times ? [formatDay(times.first), formatDay(times.last)] : ["", ""];
  const when = first === last ? first && ` on ${first}` : ` between ${first} and ${last}`;
  const but = failed > 0 ? `, but ${failed} ${wasOrWere(failed)} rejected or cancelled` : "";
  const rows = rowCount === 1 ? `The row of ${name}` : `All ${rowCount} rows of ${name}`;
  const text =
    conflicts > 0
      ? `No row of ${name} is left to send: ${rowsText(conflicts)} in conflict with another payout.`
      : `${rows} ${wasOrWere(rowCount)} already sent${when}${but}.`;
  context.ui.notice(`${text} Nothing was sent.`, "batch.already-sent");
}

/** What a script expects of the file must be what is in it. */
function checkExpected(
  { expectTotal, expectCount }: PlanInput,
  { rowCount, totalPaisa }: { rowCount: number; totalPaisa: Paisa },
): void {
  const problems: string[] = [];
  if (expectTotal !== undefined && expectTotal !== totalPaisa)
    problems.push(
      `--expect-total: the total is ${formatPaisa(totalPaisa)}, not ${formatPaisa(expectTotal)}.`,
    );
  if (expectCount !== undefined && expectCount !== rowCount)
    problems.push(`--expect-count: the file has ${rowsText(rowCount)}, not ${expectCount}.`);
  if (problems.length > 0)
    throw usage(problems, "Nothing was sent. Check the file, or correct the flag.");
}

interface Question {
  action: string;
  rows: [string, string][];
  totalPaisa: Paisa;
}

/** In production the total is typed; a sandbox only shows the rows. */
async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { action, rows, totalPaisa }: Question,
  context: Context,
): Promise<void> {
  await context.ui.confirm({
    action,
    rows,
    alwaysShown: true,
    typed: {
      what: `the total, ${amountText(totalPaisa)}`,
      // As it is requested, and as the summary shows it.
      matches: (text) => {
        const read = readAmount(text);
        const shown = text.trim().replace(/^(?:BDT )?/, "BDT ");
        return (read.ok && read.value === totalPaisa) || shown === formatPaisa(totalPaisa);
      },
      isGiven: expectTotal !== undefined && expectCount !== undefined,
      flags: "--expect-total and --expect-count",
    },
  });
}

/** What a person checks before the confirmation. */
function summaryOf(batch: Batch, checked: Checked): [string, string][] {
  const { totals, sentBefore } = checked;
  const { rowCount, totalPaisa, methods, first, last, largest } = totals;
  const shown = (row: FileRow | undefined): string => {
    if (!row) return "";
    const name = row.name ? ` (${row.name})` : "";
    return `line ${row.line}: ${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${name}`;
  };
  const now = {
    count: rowCount - sentBefore.count,
    sumPaisa: totalPaisa - sentBefore.sumPaisa,
  };
  const before: [string, string][] = [
    ["Sent before", sumText(sentBefore)],
    ["To be sent now", sumText(now)],
  ];
  const lastRow: [string, string] = ["Last", shown(last)];
  return [
    ["Batch", `${batch.id}, ${batch.name}`],
    ["Total", sumText({ count: rowCount, sumPaisa: totalPaisa })],
    ...(sentBefore.count > 0 ? before : []),
    ...methods.map((one): [string, string] => [one.method, sumText(one)]),
    ["Largest", shown(largest)],
    ...first.map((row, index): [string, string] => [index === 0 ? "First" : "", shown(row)]),
    ...(rowCount > first.length ? [lastRow] : []),
    ...allowedLines(checked),
  ];
}
