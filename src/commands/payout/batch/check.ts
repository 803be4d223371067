import type { Examined } from "../../../batches/file.ts";
import {
  groupOf,
  placedFinding,
  problemsFailure,
  shownProblems,
  sumOfRows,
} from "../../../batches/findings.ts";
import { sumJson } from "../../../batches/plain.ts";
import type { ReadTable } from "../../../batches/read-rows.ts";
import { defineCommand, type Schemas } from "../../../cli/command/define-command.ts";
import { card, field, sentence, table, text, type View } from "../../../cli/output/view.ts";
import { Failure, inOneLine } from "../../../domain/failure.ts";
import { warnOfRecipients } from "../../resources.ts";
import {
  comparedRows,
  comparisonJson,
  comparisonOf,
  comparisonOutput,
  nothingCompared,
} from "./comparison.ts";
import { fileArgument, fileFlags, otherNumbers, readingFor, warnOfHeld } from "./file.ts";
import { delimiterName, fileRows, tableRows } from "./file-rows.ts";

export const batchCheck = defineCommand({
  description:
    "Lists each problem with its line, its column and how to fix it. Nothing is sent or stored. To send the file, run 'lenden payout batch send'.",
  examples: {
    "Validate a file before you send it": "lenden payout batch check payroll.csv",
  },
  arguments: fileArgument,
  flags: fileFlags,
  sameFlagsAs: "payout batch send",
  patient: true,
  exitCodes: {
    refused: "the batch of this file was cancelled",
    access: "a limit does not let the file be sent",
    conflict: "references belong to other payouts, or the file was changed",
  },
  async run(input, context) {
    const { openPayoutFile } = await import("../../../batches/payout-file.ts");
    const from = await openPayoutFile(input.file);
    const ledger = await context.ledger.own();
    const { batchOfBytes } = await import("../../../batches/lookup.ts");
    const { describeExisting, examineFile, soughtOf } = await import("../../../batches/file.ts");
    const { deniedByLimits } = await import("../../../batches/plan.ts");
    const planned = await batchOfBytes(soughtOf(input, from), ledger);
    const examined = await examineFile(input, from, planned, ledger, await readingFor(context));
    const describing = describeExisting(input, from, examined, planned, ledger);
    const existing = await describing.catch((error) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    const before = existing instanceof Failure ? inOneLine(existing) : (existing ?? null);
    if (typeof existing === "string") context.ui.notice(existing);
    // The rows of a batch were checked when it was created.
    const problems = typeof existing === "string" ? [] : examined.problems;
    const { read } = examined;
    const isNew = examined.file !== undefined && before === null;
    const failure =
      existing instanceof Failure
        ? existing
        : ((await problemsFailure(input.file, problems, ledger)) ??
          (isNew ? await deniedByLimits(read, ledger) : undefined));
    warnOfHeld(examined, context);
    const { unusualTexts } = await import("../../../batches/unusual.ts");
    const { names, amounts } = unusualTexts(read.rows);
    warnOfRecipients(otherNumbers(examined), context);
    for (const text of names) context.ui.notice(text, "batch.number-with-two-names");
    for (const text of amounts) context.ui.notice(text, "batch.large-amount");
    if (failure)
      for (const [label, text] of tableRows(read.table)) context.ui.notice(`${label}: ${text}`);
    const shown = await shownProblems(problems, ledger);
    const compared = isNew ? await comparisonOf(read, ledger, context) : nothingCompared;
    const count = problems.length;
    return { ...examined, path: input.file, count, shown, before, ...compared, failure };
  },
  output: checkOutput,
  json: ({ path, totals, read, allowed, count, shown, before, comparison, repaired }) => ({
    file: path,
    ...tableJson(read.table),
    problemCount: count,
    problems: shown,
    allowedDuplicates: allowed.filter((one) => groupOf(one) === "repeats-row").length,
    allowedOtherAccount: allowed.filter((one) => groupOf(one) === "used-in-other-account").length,
    allowedAgain: allowedAgain(allowed),
    ...sumJson(totals.total),
    methods: totals.methods.map((one) => ({ method: one.method, ...sumJson(one) })),
    sentBefore: sumJson(read.ledger.sentBefore),
    sentBeforeLines: read.ledger.sentBeforeLines,
    comparison: comparison ? comparisonJson(comparison) : null,
    repairs: repaired?.id ?? null,
    before,
  }),
  view: (checked): View => {
    const { path, shown, before, totals, failure } = checked;
    if (shown.length > 0)
      return table(shown, {
        id: ({ line }) => String(line),
        empty: "",
        columns: {
          line: ["LINE", ({ line }) => text(line)],
          column: ["COLUMN", ({ column }) => text(column || null)],
          value: ["VALUE", ({ value }) => text(value || null)],
          problem: ["PROBLEM", ({ problem }) => sentence(problem)],
        },
      });
    const compared = comparedRows(checked, totals.total);
    // Without the flags of its batch, the cells of a file mean nothing.
    const known = checked.file ? fileRows(checked, before !== null && !failure) : [];
    const rows = [["File", path], ...known, ...compared];
    const fields = rows.map(([label = "", cell], index) => field(String(index), label, text(cell)));
    return card(before || failure ? "Batch file" : "The file can be sent", path, fields);
  },
  ending: ({ failure }) => failure,
});

function tableJson({ delimiter, sheet, kept, hiddenColumns, hiddenRows }: ReadTable) {
  return {
    delimiter: delimiter === undefined ? null : delimiterName(delimiter),
    sheet: sheet?.name ?? null,
    keptColumns: kept,
    hiddenColumns,
    hiddenRows: sumJson(hiddenRows),
  };
}

/** Rows that repeat payouts outside of the file, as scripts get them. */
function allowedAgain(allowed: Examined["allowed"]) {
  const again = allowed.filter((one) => groupOf(one) === "repeats-payout");
  const [first] = again;
  return { ...sumJson(sumOfRows(again)), first: first ? placedFinding(first) : "" };
}

function checkOutput(schema: Schemas) {
  const { z, text, textOrNull, count, amount, each, warnings } = schema;
  const sum = z.strictObject({ rows: count, total: amount });
  return z.strictObject({
    file: text,
    ...each(textOrNull, "delimiter sheet"),
    ...each(z.array(text), "keptColumns hiddenColumns"),
    hiddenRows: sum,
    problemCount: count,
    problems: z.array(z.strictObject({ line: count, ...each(text, "kind column value problem") })),
    allowedDuplicates: count,
    allowedOtherAccount: count,
    allowedAgain: z.strictObject({ rows: count, total: amount, first: text }),
    rows: count,
    total: amount,
    methods: z.array(z.strictObject({ method: text, rows: count, total: amount })),
    sentBefore: sum,
    sentBeforeLines: z.array(count),
    comparison: z.nullable(comparisonOutput(schema)),
    repairs: textOrNull,
    before: textOrNull,
    warnings,
  });
}
