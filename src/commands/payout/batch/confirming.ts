import { amountText, type Paisa, readAmount } from "../../../contract/amount.ts";
import { formatPaisa } from "../../../contract/money.ts";
import { Failure, usage } from "../../../failure.ts";
import type { Batch, Context, Draft, PaidElsewhere } from "../../../frame/context.ts";
import { rowsText } from "../../../ui/rows.ts";
import { allowedLines, type Checked } from "./checked.ts";
import type { examineFile } from "./source.ts";
import { rowsAnd } from "./standing-card.ts";

export type PlanInput = Parameters<typeof examineFile>[0] & {
  name: string | undefined;
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** Between a plan and its end the same people may be paid by another file, or by hand. */
export function paidOtherwise({ id }: Batch, { count, sumPaisa, first }: PaidElsewhere): Failure {
  const listed = first.map(({ line, says }) => `line ${line}: ${says}`);
  return new Failure(
    "usage",
    `Of what batch ${id} is still to send, ${rowsAnd(count, sumPaisa)}, ${count === 1 ? "goes" : "go"} to somebody who gets the same otherwise.`,
    {
      problems: count > first.length ? [...listed, `and ${count - first.length} more`] : listed,
      hint: "Nothing was sent now. If they are to be paid once more, add --allow-duplicates: it shows them before it asks.",
    },
  );
}

/** Since a batch was planned another key may have had to do with the very rows that are still to be sent. */
export function leftBefore({ id }: Batch, first: PaidElsewhere["first"]): Failure {
  return new Failure(
    "usage",
    `Another API key had to do with rows that batch ${id} is still to send.`,
    {
      problems: first.map(({ line, says }) => `line ${line}: ${says}`),
      hint: "Nothing was sent now. If all that is still open is to be paid, add --allow-duplicates.",
    },
  );
}

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
      what: `the total, ${amountText(totalPaisa)}`,
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

/** What a person looks at before saying yes. */
export function summaryOf(
  batch: Batch,
  checked: Checked,
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
    ...allowedLines(checked),
  ];
}
