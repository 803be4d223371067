import { weightOf } from "../../../batches/findings.ts";
import { defineCommand } from "../../../cli/command/define-command.ts";
import { card, field, sentence, text, type View } from "../../../cli/output/view.ts";
import { inOneLine } from "../../../domain/failure.ts";
import { sumJson } from "./batch.ts";
import { type Examined, examineFile, fileArgument, fileFlags } from "./file.ts";
import { duplicateRows, existingBatch, methodRows, sumOfFindings } from "./plan.ts";
import {
  describeExisting,
  placedFinding,
  problemsFailure,
  type ShownProblem,
  shownProblems,
  sumText,
} from "./texts.ts";

export const batchCheck = defineCommand({
  description:
    "Reads the file and requests only the methods from the API. Nothing is sent or stored. Each problem is listed with its line, its column and how to fix it. Then run 'lenden payout batch send'.",
  examples: {
    "Validate a file before you send it": "lenden payout batch check payroll.csv",
    "Validate a file with semicolons in a script":
      "lenden payout batch check payroll.csv --delimiter semicolon --json",
  },
  arguments: fileArgument,
  flags: fileFlags,
  patient: true,
  exitCodes: {
    usage: "the file has problems",
    refused: "the batch of this file was cancelled",
    conflict: "references belong to other payouts, or the file was changed",
  },
  async run(input, context) {
    const { hashOf } = await import("../../../batches/csv.ts");
    const hash = await hashOf(input.file);
    const ledger = await context.ledger.own();
    const examined = await examineFile(input, hash, ledger, context);
    const existing = await existingBatch(examined, input.name, ledger);
    const before = existing ? await describeExisting(existing, ledger) : null;
    if (before) context.ui.notice(before);
    // The rows of a batch were checked when it was created.
    const problems = existing?.kind === "open" ? [] : examined.problems;
    const failure =
      existing?.kind === "rejected" ? existing.failure : problemsFailure(input.file, problems);
    if (failure && !before) context.ui.notice(inOneLine(failure));
    const sum = await sumOfFindings(examined.allowed, examined.read.rows);
    return {
      ...{ ...examined, path: input.file, problemCount: problems.length, before, failure },
      shown: await shownProblems(problems, ledger),
      duplicates: duplicateRows(examined.allowed, sum),
      allowedAgain: await allowedAgain(examined),
    };
  },
  json: ({ path, totals, read, allowed, problemCount, shown, before, allowedAgain }) => ({
    file: path,
    problemCount,
    problems: shown,
    allowedDuplicates: allowed.filter((one) => weightOf(one) === "repeated").length,
    allowedOtherAccount: allowed.filter((one) => weightOf(one) === "other-account").length,
    allowedAgain,
    ...sumJson(totals.total),
    methods: totals.methods.map((one) => ({ method: one.method, ...sumJson(one) })),
    sentBefore: sumJson(read.ledger.sentBefore),
    before,
  }),
  view: ({ path, totals, read, shown, before, duplicates }): View => {
    if (shown.length > 0) return problemTable(shown);
    const { sentBefore } = read.ledger;
    const lines: [string, string][] = [
      ["File", path],
      ["Rows", String(totals.total.count)],
      ["Total", sumText(totals.total)],
      ...(sentBefore.count > 0
        ? [["Accepted before", `${sumText(sentBefore)}, not sent again`] satisfies [string, string]]
        : []),
      ...methodRows(totals),
      ...duplicates,
    ];
    const fields = lines.map(([label, shown], index) => field(String(index), label, text(shown)));
    return card(before ? "Batch file" : "The file can be sent", path, fields);
  },
  ending: ({ failure }) => failure,
});

/** Rows that repeat payouts outside of the file, as scripts get them. */
async function allowedAgain({ allowed, read }: Examined) {
  const again = allowed.filter((one) => weightOf(one) === "again");
  const [first] = again;
  const sum = await sumOfFindings(again, read.rows);
  return { ...sumJson(sum), first: first ? placedFinding(first) : "" };
}

function problemTable(problems: ShownProblem[]): View {
  return {
    kind: "table",
    columns: ["line", "column", "value", "problem"].map((key) => ({
      key,
      label: key.toUpperCase(),
    })),
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
