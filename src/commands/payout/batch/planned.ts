import { amountText, type Paisa, readAmount } from "../../../contract/amount.ts";
import { Failure, usage } from "../../../failure.ts";
import type { Batch, Context, Draft, Ledger } from "../../../frame/context.ts";
import type { Preview } from "../../../frame/preview.ts";
import { formatPaisa } from "../../../ui/money.ts";
import { type Checked, examineFile } from "./source.ts";
import { rowsAnd, standingOf } from "./standing-card.ts";

export type PlanInput = Parameters<typeof examineFile>[0] & {
  name: string | undefined;
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** Goes on with a file that was planned before, once somebody confirmed. */
export async function resumedBatch(
  planned: Batch,
  input: PlanInput,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { resumeBatch } = await import("../../../batch/claim.ts");
  if (input.name !== undefined && input.name !== planned.name)
    context.notice(`This file is batch ${planned.id} already, by the name ${planned.name}.`);
  const batch = resumeBatch(planned, input.methodId ?? input.method, ledger);
  return unlessRefused(batch, ledger, async () => {
    const { sums } = standingOf(batch, ledger);
    const open = {
      count: sums.unsent.count + sums.uncertain.count,
      sumPaisa: sums.unsent.sumPaisa + sums.uncertain.sumPaisa,
    };
    const { rowCount = 0, totalPaisa = 0n } = batch.plan ?? {};
    checkExpected(input, { rowCount, totalPaisa });
    if (open.count > 0) {
      const rows: [string, string][] = [
        ["Batch", `${batch.id}, ${batch.name}`],
        ["In all", rowsAnd(rowCount, totalPaisa)],
        ["Still open", rowsAnd(open.count, open.sumPaisa)],
      ];
      await confirmTotal(input, { action: "Go on with a batch", rows, totalPaisa }, context);
    }
    return batch;
  });
}

/** Reads a file, and makes a durable plan of it, once somebody confirmed. */
export async function newBatch(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { checkName, claimBatch, planBatch } = await import("../../../batch/claim.ts");
  const { draft, checked, ...examined } = await examineFile(input, hash, ledger, context);
  const file = { ...examined.file, name: input.name ?? examined.file.name };
  try {
    checkName(file, draft, ledger);
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
      return planBatch(batch, draft, ledger);
    });
  } finally {
    draft.close();
  }
}

/** The file checked, and the request of its first row; nothing is sent or kept. */
export async function previewOf(
  input: PlanInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Preview> {
  const { payoutBody } = await import("../../../operations/payout-order.ts");
  const { orderOf } = await import("../../../batch/send.ts");
  const { draft, checked } = await examineFile(input, hash, ledger, context);
  try {
    refuseProblems(checked);
    const totals = draft.totals();
    checkExpected(input, totals);
    const [first] = totals.first;
    if (!first) throw usage(["There is no row in the file."]);
    return await context.preview("createPayout", payoutBody(orderOf(first)));
  } finally {
    draft.close();
  }
}

/** Bad input gets all its problems named at once (at most a thousand of them). */
function refuseProblems({ file, problemCount, problems }: Checked): void {
  if (problemCount === 0) return;
  const lines = problems.map(({ line, column, value, problem }) => {
    const place = column ? `, ${column}` : "";
    return `line ${line}${place}${value ? ` ${JSON.stringify(value.slice(0, 40))}` : ""}: ${problem}`;
  });
  const onlyTaken = problems.every(({ kind }) => kind === "taken");
  const mayBeMeant = problems.some(({ kind }) => kind === "repeated");
  throw new Failure(
    onlyTaken ? "conflict" : "usage",
    `${file} has ${problemCount} ${problemCount === 1 ? "problem" : "problems"}; nothing was sent.`,
    {
      problems: lines,
      hint: mayBeMeant
        ? "Mend the file. If the repeated payouts are meant, add --allow-duplicates."
        : "Mend the file; 'lenden payout batch check' shows the same as a table.",
    },
  );
}

/** What a script expects of the file must be what is in it. */
function checkExpected(
  { expectTotal, expectCount }: PlanInput,
  { rowCount, totalPaisa }: { rowCount: number; totalPaisa: Paisa },
): void {
  const problems = [
    ...(expectTotal === undefined || expectTotal === totalPaisa
      ? []
      : [`--expect-total: the total is ${amountText(totalPaisa)}.`]),
    ...(expectCount === undefined || expectCount === rowCount
      ? []
      : [`--expect-count: there are ${rowCount} rows.`]),
  ];
  if (problems.length > 0) throw usage(problems, "Nothing was sent.");
}

interface Question {
  action: string;
  rows: [string, string][];
  totalPaisa: Paisa;
}

async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { action, rows, totalPaisa }: Question,
  context: Context,
): Promise<void> {
  await context.confirm({
    action,
    rows,
    alwaysShown: true,
    typed: {
      what: `the total, ${amountText(totalPaisa)}`,
      matches: (text) => {
        const read = readAmount(text);
        return read.ok && read.value === totalPaisa;
      },
      isGiven: expectTotal !== undefined && expectCount !== undefined,
      flags: "--expect-total and --expect-count",
    },
  });
}

function summaryOf(
  batch: Batch,
  { allowedDuplicates }: Checked,
  totals: ReturnType<Draft["totals"]>,
): [string, string][] {
  const { rowCount, totalPaisa, methods, sentBefore, first, last, largest } = totals;
  const shown = (row: typeof last): string =>
    row
      ? `line ${row.line}: ${formatPaisa(row.amountPaisa)} to ${row.recipient}${row.name ? ` (${row.name})` : ""}`
      : "";
  return [
    ["Batch", `${batch.id}, ${batch.name}`],
    ["In all", rowsAnd(rowCount, totalPaisa)],
    ...(sentBefore.count > 0
      ? ([
          ["Sent before", rowsAnd(sentBefore.count, sentBefore.sumPaisa)],
          [
            "To be sent now",
            rowsAnd(rowCount - sentBefore.count, totalPaisa - sentBefore.sumPaisa),
          ],
        ] satisfies [string, string][])
      : []),
    ...methods.map(({ method, count, sumPaisa }): [string, string] => [
      method,
      rowsAnd(count, sumPaisa),
    ]),
    ["Largest", shown(largest)],
    ...first.map((row, index): [string, string] => [index === 0 ? "First" : "", shown(row)]),
    ...(rowCount > first.length ? [["Last", shown(last)] satisfies [string, string]] : []),
    ...(allowedDuplicates > 0
      ? [
          [
            "Repeated",
            `${allowedDuplicates} rows pay somebody the same again, as allowed`,
          ] satisfies [string, string],
        ]
      : []),
  ];
}

/** Who is not asked, or says no, leaves the batch to others. */
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
