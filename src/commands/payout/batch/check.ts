import { defineCommand } from "../../../cli/command/define-command.ts";
import { card, field, sentence, text, type View } from "../../../cli/output/view.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { sumText } from "./batch.ts";
import {
  allowedLines,
  type Checked,
  checkedJson,
  checkedOf,
  examineFile,
  sourceFlags,
  sourceInput,
} from "./file.ts";
import { type Before, batchBefore } from "./plan.ts";
import { adviceOnProblems, problemsOf } from "./problems.ts";

export const batchCheck = defineCommand({
  description:
    "Nothing is sent and nothing is stored; only the methods are requested from the API. Every problem is listed with its line, its column and how to correct it. Exit 2 if there is one, 5 if an unfinished batch with other rows has its name, or if its references are those of other payouts.",
  examples: [
    { comment: "Before sending it", command: "lenden payout batch check payroll.csv" },
    {
      comment: "For a script",
      command: "lenden payout batch check payroll.csv --delimiter semicolon --json",
    },
  ],
  arguments: sourceInput,
  flags: sourceFlags,
  patient: true,
  exitCodes: {
    refused: "rejected by the API or by a safety check; nothing changed",
    conflict: "the reference or ID belongs to a different transaction",
  },
  async run(input, context): Promise<Seen> {
    const { hashOf } = await import("../../../batches/csv.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger.own();
    const examined = await examineFile(input, hash, ledger, context);
    const before = await batchBefore(examined, input.name, ledger);
    if (before) context.ui.notice(before.says);
    // The plan of a batch counts: its rows were checked when it was made.
    const isBatch = before !== undefined && !before.rejected;
    const { checked, read } = examined;
    const shown = isBatch ? await checkedOf(input, read, ["unreadable"], ledger) : checked;
    if (shown.problemCount > 0) context.ui.notice(adviceOnProblems(shown));
    return { ...shown, before };
  },
  json: ({ before, ...checked }) => ({ ...checkedJson(checked), before: before?.says ?? null }),
  view: (seen) => (seen.problemCount > 0 ? problemTable(seen) : totalsCard(seen)),
  ending: (seen) => seen.before?.rejected ?? problemsOf(seen),
});

interface Seen extends Checked {
  before: Before | undefined;
}

function problemTable({ problems }: Checked): View {
  return {
    kind: "table",
    columns: [
      { key: "line", label: "LINE" },
      { key: "column", label: "COLUMN" },
      { key: "value", label: "VALUE" },
      { key: "problem", label: "PROBLEM" },
    ],
    rows: problems.map(({ line, column, value, problem }) => ({
      id: String(line),
      cells: {
        line: text(line),
        column: text(column || null),
        value: text(value.length > 40 ? `${value.slice(0, 40)}…` : value || null),
        problem: sentence(problem),
      },
    })),
    empty: "",
  };
}

function totalsCard(checked: Seen): View {
  const { before, file, sentBefore, totals } = checked;
  const { rowCount, totalPaisa, methods } = totals;
  const lines: [string, string][] = [
    ["File", file],
    ["Rows", String(rowCount)],
    ["Total", formatPaisa(totalPaisa)],
    ...(sentBefore.count > 0
      ? [["Sent before", `${sumText(sentBefore)}: not sent again`] satisfies [string, string]]
      : []),
    ...methods.map((one, index): [string, string] => [
      index === 0 ? "By method" : "",
      `${one.method}: ${sumText(one)}`,
    ]),
    ...allowedLines(checked),
  ];
  const fields = lines.map(([label, shown], index) => field(String(index), label, text(shown)));
  return card(before?.title ?? "The file can be sent", file, fields);
}
