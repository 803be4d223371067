import { basename } from "node:path";
import { isAcceptable } from "../../../batches/findings.ts";
import type { Batch, Context, Ledger } from "../../../cli/command/context.ts";
import type { Preview } from "../../../cli/command/preview.ts";
import { usage } from "../../../domain/failure.ts";
import { alreadySentText } from "./already-sent.ts";
import { batchBefore } from "./before.ts";
import { againLines, againOf } from "./checked.ts";
import { checkExpected, confirmTotal, type PlanInput, summaryOf } from "./confirming.ts";
import { otherRows, paidMeanwhile, paidOtherwise, refuseProblems } from "./problems.ts";
import { examineFile, methodTyped } from "./source.ts";
import { readStanding, rowsAnd } from "./standing-card.ts";

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
  return unlessRefused(batch, ledger, async () => {
    const standing = await readStanding(batch, ledger);
    const { sums } = standing;
    const open = {
      count: sums.unsent.count + sums.uncertain.count,
      sumPaisa: sums.unsent.sumPaisa + sums.uncertain.sumPaisa,
    };
    if (open.count === 0) {
      const text = await alreadySentText(basename(input.file), standing, ledger);
      context.notice(text, "batch.already-sent");
    }
    for (const { text, reason } of notices) context.notice(text, reason);
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    checkExpected(input, { rowCount, totalPaisa });
    const shown = await checkOpenRows(batch, ledger);
    const again = (found: typeof shown) =>
      againOf(found.findings, ledger.batches.rows(batch, "open"));
    const rejected = shown.findings.filter(
      (finding) => !(input.allowDuplicates && isAcceptable(finding)),
    );
    if (rejected.length > 0)
      throw paidOtherwise(
        batch,
        rejected,
        await againOf(rejected, ledger.batches.rows(batch, "open")),
      );
    if (open.count === 0) return batch;
    const rows: [string, string][] = [
      ["Batch", `${batch.id}, ${batch.name}`],
      ["In all", rowsAnd(rowCount, totalPaisa)],
      ["Still open", rowsAnd(open.count, open.sumPaisa)],
      ...againLines(await again(shown)),
    ];
    await confirmTotal(input, { action: "Resume a batch", rows, totalPaisa }, context);
    // The confirmation took a while.
    const now = await checkOpenRows(batch, ledger);
    if (hasMore(now, shown)) throw paidOtherwise(batch, now.findings, await again(now));
    return acceptRows(batch, shown, ledger);
  });
}

interface BatchNotice {
  text: string;
  reason: string;
}

/** Reads a file, and makes a durable plan of it after a confirmation. */
export async function newBatch(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { checkStop } = await import("../../../operations/world.ts");
  const { claimBatch, findBatch, planBatch } = await import("../../../batches/plan.ts");
  const { file, read, checked } = await examineFile(input, hash, ledger, context);
  if (!file) {
    refuseProblems(checked);
    throw new Error("a file without problems cannot be read");
  }
  const found = await findBatch(file, read.rows, ledger);
  if (found.kind === "same") return sameRows(found.batch, input, ledger, context);
  if (found.kind === "other-rows") throw otherRows(file, found);
  refuseProblems(checked);
  const { totals, sentBefore } = checked;
  checkExpected(input, totals);
  const claim = await claimBatch(file, read.rows, ledger);
  if (claim.kind === "other-rows") throw otherRows(file, claim);
  const { batch } = claim;
  // Another process planned it while this one read: its plan counts, and is never made again.
  if (batch.plan) {
    await ledger.batches.release(batch);
    return resumedBatch(batch, input, ledger, context);
  }
  return unlessRefused(batch, ledger, async () => {
    const isSomethingToSend = sentBefore.count < totals.rowCount;
    if (isSomethingToSend) {
      const rows = summaryOf(batch, checked);
      const { totalPaisa } = totals;
      await confirmTotal(input, { action: "Send a batch of payouts", rows, totalPaisa }, context);
    }
    checkStop(await context.world());
    const answer = await planBatch(batch, read, ledger);
    if (answer.kind === "other-rows") throw otherRows(file, answer);
    if (answer.kind === "repeated") throw paidMeanwhile(answer.found);
    if (!isSomethingToSend) {
      const text = await alreadySentText(
        basename(input.file),
        await readStanding(answer.batch, ledger),
        ledger,
      );
      context.notice(text, "batch.already-sent");
    }
    return answer.batch;
  });
}

/** Another file with the same rows: the plan and its references count. */
function sameRows(
  before: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const text = `This file has the rows of batch ${before.id}. That plan counts.`;
  // Its rows have the methods of the plan, however the file and the command line name them.
  const rows = { ...input, method: undefined, methodId: undefined };
  return resumedBatch(before, rows, ledger, context, [{ text, reason: "batch.same-rows" }]);
}

/** Checks the file, and gives the request of its first row; nothing is sent or stored. */
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
  if (before) context.notice(before.says, "batch.exists");
  else refuseProblems(checked);
  checkExpected(input, checked.totals);
  const [first] = checked.totals.first;
  if (!first || !isComplete(first)) throw usage(["There is no row in the file."]);
  return context.preview("createPayout", payoutBody(orderOfRow(first)));
}

/** Ends the claim of a batch that is not sent, so that another process can claim it. */
async function unlessRefused(
  batch: Batch,
  ledger: Ledger,
  work: () => Promise<Batch>,
): Promise<Batch> {
  try {
    return await work();
  } catch (error) {
    await ledger.batches.release(batch);
    throw error;
  }
}
