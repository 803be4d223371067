import type { Batch, Context } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { usage } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { allowedLines, type Checked } from "./checked.ts";
import type { examineFile } from "./source.ts";
import { rowsAnd } from "./standing-card.ts";

export type PlanInput = Parameters<typeof examineFile>[0] & {
  name: string | undefined;
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** What a script expects of the file must be what is in it. */
export function checkExpected(
  { expectTotal, expectCount }: PlanInput,
  { rowCount, totalPaisa }: { rowCount: number; totalPaisa: Paisa },
): void {
  const problems = [
    ...(expectTotal === undefined || expectTotal === totalPaisa
      ? []
      : [
          `--expect-total: the total is ${formatPaisa(totalPaisa)}, not ${formatPaisa(expectTotal)}.`,
        ]),
    ...(expectCount === undefined || expectCount === rowCount
      ? []
      : [`--expect-count: the file has ${rowsText(rowCount)}, not ${expectCount}.`]),
  ];
  if (problems.length > 0)
    throw usage(problems, "Nothing was sent. Look at the file, or correct the flag.");
}

interface Question {
  action: string;
  rows: [string, string][];
  totalPaisa: Paisa;
}

/** Production asks for the total; a sandbox only shows the rows. */
export async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { action, rows, totalPaisa }: Question,
  context: Context,
): Promise<void> {
  await context.confirm({
    action,
    rows,
    alwaysShown: true,
    typed: {
      what: `the total (${amountText(totalPaisa)})`,
      // As it is asked for, and as the summary shows it.
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
export function summaryOf(batch: Batch, checked: Checked): [string, string][] {
  const { totals, sentBefore } = checked;
  const { rowCount, totalPaisa, methods, first, last, largest } = totals;
  const shown = (row: typeof last): string =>
    row
      ? `line ${row.line}: ${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${row.name ? ` (${row.name})` : ""}`
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
    ...allowedLines(checked),
  ];
}
