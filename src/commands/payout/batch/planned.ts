import { basename } from "node:path";
import { usage } from "../../../failure.ts";
import type { Batch, Context, Ledger } from "../../../frame/context.ts";
import type { Preview } from "../../../frame/preview.ts";
import { alreadySentText } from "./already-sent.ts";
import { batchBefore } from "./before.ts";
import { againLines } from "./checked.ts";
import {
  checkExpected,
  confirmTotal,
  leftBefore,
  type PlanInput,
  paidOtherwise,
  summaryOf,
} from "./confirming.ts";
import { refuseProblems } from "./problems.ts";
import { examineFile, methodTyped } from "./source.ts";
import { readStanding, rowsAnd } from "./standing-card.ts";

/** Goes on with a file that was planned before, once somebody confirmed. */
export async function resumedBatch(
  planned: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
  notices: BatchNotice[] = [],
): Promise<Batch> {
  const { resumeBatch } = await import("../../../batch/claim.ts");
  const { isMore, leftByOtherKeys, paidElsewhere } = await import("../../../batch/elsewhere.ts");
  const batch = resumeBatch(planned, methodTyped(input), ledger);
  return unlessRefused(batch, ledger, async () => {
    const standing = readStanding(batch, ledger);
    const { sums } = standing;
    const open = {
      count: sums.unsent.count + sums.uncertain.count,
      sumPaisa: sums.unsent.sumPaisa + sums.uncertain.sumPaisa,
    };
    if (open.count === 0) {
      const text = alreadySentText(basename(input.file), standing, ledger);
      context.notice(text, "batch.already-sent");
    }
    for (const { text, reason } of [...renamed(batch, input), ...notices])
      context.notice(text, reason);
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    checkExpected(input, { rowCount, totalPaisa });
    const left = leftByOtherKeys(batch, ledger);
    if (left.length > 0 && !input.allowDuplicates) throw leftBefore(batch, left);
    const shown = paidElsewhere(batch, ledger);
    if (shown.count > 0 && !input.allowDuplicates) throw paidOtherwise(batch, shown);
    if (open.count > 0) {
      const rows: [string, string][] = [
        ["Batch", `${batch.id}, ${batch.name}`],
        ["In all", rowsAnd(rowCount, totalPaisa)],
        ["Still open", rowsAnd(open.count, open.sumPaisa)],
        ...againLines(shown),
      ];
      await confirmTotal(input, { action: "Go on with a batch", rows, totalPaisa }, context);
      // Whoever was asked took a while.
      const now = paidElsewhere(batch, ledger);
      if (isMore(now, shown)) throw paidOtherwise(batch, now);
    }
    return batch;
  });
}

interface BatchNotice {
  text: string;
  reason: string;
}

function renamed(batch: Batch, { name }: PlanInput): BatchNotice[] {
  if (name === undefined || name === batch.name) return [];
  const text = `This file is batch ${batch.id} already, by the name ${batch.name}.`;
  return [{ text, reason: "batch.same-file" }];
}

/** Reads a file, and makes a durable plan of it, once somebody confirmed. */
export async function newBatch(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { checkStop } = await import("../../../operations/stop.ts");
  const { claimBatch, planBatch, plannedBefore } = await import("../../../batch/claim.ts");
  const { draft, checked, file } = await examineFile(input, hash, ledger, context);
  try {
    // What cannot be read cannot be compared with anything either.
    if (draft.problemCount(["cell"]) > 0) refuseProblems(checked);
    const before = plannedBefore(file, draft, ledger);
    if (before) return await savedAnew(before, input, ledger, context);
    refuseProblems(checked);
    const totals = draft.totals();
    checkExpected(input, totals);
    const batch = claimBatch(file, draft, ledger);
    // Another process planned it while this one read: its plan is what counts, and is never made anew.
    if (batch.plan) {
      ledger.batches().letGo(batch);
      return await resumedBatch(batch, input, ledger, context);
    }
    return await unlessRefused(batch, ledger, async () => {
      const rows = summaryOf(batch, checked, totals);
      const { totalPaisa } = totals;
      await confirmTotal(input, { action: "Send a batch of payouts", rows, totalPaisa }, context);
      checkStop(await context.world());
      return planBatch(batch, draft, ledger, checked.allowedAgain);
    });
  } finally {
    draft.close();
  }
}

/** Other bytes, and the same rows: references made from these bytes would pay each recipient again. */
function savedAnew(
  before: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const text = `This file was saved again, and its rows are those of batch ${before.id}. That plan counts.`;
  return resumedBatch(before, input, ledger, context, [{ text, reason: "batch.same-rows" }]);
}

/** The file checked, and the request of its first row; nothing is sent or kept. */
export async function previewOf(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Preview> {
  const { payoutBody } = await import("../../../operations/payout/order.ts");
  const { orderOfRow } = await import("../../../batches/send.ts");
  const { draft, checked, file } = await examineFile(input, hash, ledger, context);
  try {
    const before = await batchBefore({ ...file, draft }, ledger);
    if (before?.conflict) throw before.conflict;
    if (before) context.notice(before.says, "batch.exists");
    else refuseProblems(checked);
    const totals = draft.totals();
    checkExpected(input, totals);
    const [first] = totals.first;
    if (!first) throw usage(["There is no row in the file."]);
    return await context.preview("createPayout", payoutBody(orderOfRow(first)));
  } finally {
    draft.close();
  }
}

/** Lets the batch go where nobody confirmed it: another process may take it then. */
async function unlessRefused(
  batch: Batch,
  ledger: Ledger,
  work: () => Promise<Batch>,
): Promise<Batch> {
  try {
    return await work();
  } catch (error) {
    ledger.batches().letGo(batch);
    throw error;
  }
}
