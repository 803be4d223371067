import { defineCommand } from "../../../cli/command/define-command.ts";
import { card, field, sentence, text, type View } from "../../../cli/output/view.ts";
import { Failure } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { type Before, batchBefore } from "./before.ts";
import { allowedLines, type Checked, checkedJson, checkedOf } from "./checked.ts";
import { adviceOnProblems } from "./problems.ts";
import { examineFile, sourceFlags, sourceInput } from "./source.ts";
import { rowsAnd } from "./standing-card.ts";

export const batchCheck = defineCommand({
  name: "payout batch check",
  summary: "Look for everything that is wrong with a file of payouts",
  details:
    "Nothing is sent and nothing is stored; only the methods are requested from the API. Every problem has its line and its column, and says what would be right. Exit 2 if there is one, 5 if an unfinished batch with other rows has its name, or if its references are those of other payouts.",
  examples: [
    { line: "lenden payout batch check payroll.csv", says: "before sending it" },
    {
      line: "lenden payout batch check payroll.csv --delimiter semicolon --json",
      says: "for a script",
    },
  ],
  arguments: sourceInput,
  flags: sourceFlags,
  patient: true,
  exits: ["refused", "access", "conflict", "unreachable"],
  async run(input, context): Promise<Seen> {
    const { hashOf } = await import("../../../batches/csv.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger();
    const examined = await examineFile(input, hash, ledger, context);
    const before = await batchBefore(examined, input.name, ledger);
    if (before) context.notice(before.says);
    // Of a batch the plan counts: its rows were judged when it was made.
    const isBatch = before !== undefined && !before.rejected;
    const { checked, read } = examined;
    const shown = isBatch ? await checkedOf(input, read, ["unreadable"], ledger) : checked;
    if (shown.problemCount > 0) context.notice(adviceOnProblems(shown));
    return { ...shown, before };
  },
  json: ({ before, ...checked }) => ({ ...checkedJson(checked), before: before?.says ?? null }),
  view: (checked) => (checked.problemCount > 0 ? problemTable(checked) : totalsCard(checked)),
  ending: (seen) => {
    const { problemCount, before, file } = seen;
    if (before?.rejected) return before.rejected;
    return problemCount > 0 ? problemsOf(seen, file) : undefined;
  },
});

function problemsOf(checked: Checked, file: string): Failure {
  const { problemCount, isOnlyTaken } = checked;
  const count = problemCount === 1 ? "1 problem" : `${problemCount} problems`;
  const kind = isOnlyTaken ? "batch.references-used" : "batch.invalid-file";
  const hint = adviceOnProblems(checked);
  return new Failure(kind, `${file} has ${count}.`, { hint });
}

function problemTable({ problems }: Checked): View {
  return {
    kind: "table",
    columns: [
      { key: "line", label: "LINE" },
      { key: "column", label: "COLUMN" },
      { key: "value", label: "IS" },
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

interface Seen extends Checked {
  /** The batch that the file is already, or whose name it has. */
  before: Before | undefined;
}

function totalsCard(checked: Seen): View {
  const { before, file, sentBefore } = checked;
  const { rowCount, totalPaisa, methods } = checked.totals;
  return card(before?.title ?? "The file can be sent", file, [
    field("file", "File", text(file)),
    field("rows", "Rows", text(rowCount)),
    field("total", "Total", text(formatPaisa(totalPaisa))),
    ...(sentBefore.count > 0
      ? [
          field(
            "sentBefore",
            "Sent before",
            text(`${rowsAnd(sentBefore.count, sentBefore.sumPaisa)}: not sent again`),
          ),
        ]
      : []),
    ...methods.map(({ method, count, sumPaisa }, index) =>
      field(
        `methods.${index}`,
        index === 0 ? "By method" : "",
        text(`${method}: ${rowsAnd(count, sumPaisa)}`),
      ),
    ),
    ...allowedLines(checked).map(([label, what], index) =>
      field(`allowed.${index}`, label, text(what)),
    ),
  ]);
}
