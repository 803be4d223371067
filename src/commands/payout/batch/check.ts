import { readAmount } from "../../../contract/amount.ts";
import { formatPaisa } from "../../../contract/money.ts";
import { defineCommand } from "../../../frame/command.ts";
import { rowsText } from "../../../ui/rows.ts";
import { card, field, sentence, text, type View } from "../../../ui/view.ts";
import { batchBefore } from "./before.ts";
import { adviceOnProblems } from "./confirming.ts";
import { type Checked, checkedOf, examineFile, sourceFlags, sourceInput } from "./source.ts";
import { allowedLines } from "./standing-card.ts";

export const batchCheck = defineCommand({
  name: "payout batch check",
  summary: "Look for everything that is wrong with a file of payouts",
  details:
    "Nothing is sent and nothing is kept; the service is only asked for its methods. Every problem has its line and its column, and says what would be right. Exit 2 when there is one.",
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
  exits: ["access", "unreachable"],
  async run(input, context): Promise<Checked> {
    const { hashOf } = await import("../../../batch/file.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger();
    const { draft, checked, file } = await examineFile(input, hash, ledger, context);
    try {
      const before = await batchBefore({ ...file, draft }, ledger);
      if (before) context.notice(before.says);
      // Of a batch the plan counts: what its own rows have to do with each other was settled then.
      const told = before?.isOwn ? checkedOf(input, draft, ["cell"]) : checked;
      if (told.problemCount > 0) context.notice(adviceOnProblems(told));
      return told;
    } finally {
      draft.close();
    }
  },
  view: (checked) => (checked.problemCount > 0 ? problemTable(checked) : totalsCard(checked)),
  ending: ({ problemCount }) => (problemCount > 0 ? "usage" : undefined),
});

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

function totalsCard(checked: Checked): View {
  const { file, rows, total, methods, sentBefore } = checked;
  return card("The file can be sent", file, [
    field("file", "File", text(file)),
    field("rows", "Rows", text(rows)),
    field("total", "Total", text(shown(total))),
    ...(sentBefore.rows > 0
      ? [
          field(
            "sentBefore",
            "Sent before",
            text(`${rowsText(sentBefore.rows)}, ${shown(sentBefore.total)}: not sent again`),
          ),
        ]
      : []),
    ...methods.map((one, index) =>
      field(
        `methods.${index}`,
        index === 0 ? "By method" : "",
        text(`${one.method}: ${rowsText(one.rows)}, ${shown(one.total)}`),
      ),
    ),
    ...allowedLines(checked).map(([label, what], index) =>
      field(`allowed.${index}`, label, text(what)),
    ),
  ]);
}

function shown(total: string): string {
  const read = readAmount(total);
  return read.ok ? formatPaisa(read.value) : `BDT ${total}`;
}
