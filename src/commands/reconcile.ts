import { basename } from "node:path";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import { counted } from "../domain/text.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  checkOtherEntries,
  checkWithdrawals,
  compareEntries,
  withdraw,
} from "../reconcile/compare-entries.ts";
import {
  checkExplanations,
  checkFees,
  explain,
  feesText,
  recordFees,
  returnTexts,
} from "../reconcile/explain.ts";
import { type ColumnMapping, statementFields } from "../reconcile/fields.ts";
import type { Findings } from "../reconcile/findings.ts";
import { readLines } from "../reconcile/lines.ts";
import type { Skipped } from "../reconcile/other-rows.ts";
import { periodOf, swapDates } from "../reconcile/period.ts";
import {
  type Acceptance,
  accept,
  findMissingAgain,
  type Statement,
} from "../reconcile/proposals.ts";
import { unusedColumns } from "../reconcile/recognize.ts";
import type { Reconciliation } from "../reconcile/reconcile.ts";
import {
  endingOf,
  halfText,
  lineOf,
  missingEntryOf,
  missingOf,
  oddDebitsText,
  othersText,
  type Report,
  type ReportRow,
  reportOf,
  skippedTexts,
  summaryOf,
  unusedText,
  workbookTexts,
} from "../reconcile/report.ts";
import { type Mapping, openMappings } from "../tables/mappings.ts";
import { args, flags, type ReconcileInput } from "./reconcile-flags.ts";
import { plainResult, reconcileOutput, rowTable } from "./reconcile-output.ts";
import {
  askForProposals,
  columnQuestion,
  explanationQuestion,
  uniqueOf,
  withdrawalQuestion,
} from "./reconcile-questions.ts";
import { spanOf, zoneOf } from "./time-filters.ts";

export const reconcile = defineCommand({
  description:
    "Matches statement lines with ledger operations by ID or reference. A match by amount and recipient is only a proposal, which you accept in a terminal or with --accept. lenden changes a status in the ledger only if the API's record has it.",
  examples: {
    "Reconcile a statement, and save how its columns are read":
      "lenden reconcile statement.csv --mapping provider --record-fees --yes",
    "Record operations that the ledger lacks":
      "lenden reconcile statement.csv --import --record-fees --yes",
  },
  arguments: args,
  flags,
  patient: true,
  exitCodes: {
    conflict: "the statement contradicts the ledger or itself",
    partial: "some items are still open",
  },

  run(input, context) {
    const { output } = context.ui;
    return output === "csv" || output === "ids"
      ? pagesOf(input, context)
      : resultOf(input, context);
  },
  output: reconcileOutput,
  json: (result) => {
    return plainResult(result.report, result.found.findings);
  },
  view: (result) => {
    const { shown, zone, ending } = result;
    const empty = ending ? "No line differs from the ledger." : "Every line matches the ledger.";
    return rowTable(shown, empty, zone);
  },
  ending: (result) => result.ending,
});

/** Rows that are printed at once. */
const pageSize = 1_000;

/** All that a person has to see, page by page; an empty page if there is nothing. */
async function* pagesOf(
  input: ReconcileInput,
  context: Context,
): AsyncIterable<Awaited<ReturnType<typeof resultOf>>> {
  const result = await resultOf(input, context);
  let shown: ReportRow[] = [];
  for (const row of rowsOf(result.found.findings)) {
    shown.push(row);
    if (shown.length < pageSize) continue;
    yield { ...result, shown };
    shown = [];
  }
  if (shown.length > 0 || result.count === 0) yield { ...result, shown };
}

function* rowsOf(findings: Findings): Iterable<ReportRow> {
  for (const one of findings.list("shown")) yield lineOf(one);
  for (const one of findings.listMissing()) yield missingOf(one);
  for (const one of findings.listMissingEntries()) yield missingEntryOf(one);
}

async function resultOf(input: ReconcileInput, context: Context) {
  const { mapping: name, map } = input;
  const mappings = openMappings(context.host.folders.config);
  const file = basename(input.file);
  const zone = await zoneOf(context);
  const span = spanOf(input, zone, context);
  if (span.problems.length > 0) throw usage(span.problems, swapDates);
  const isExplained = explainedBy(input);
  const mapping = name === undefined ? undefined : mappings.find(name);
  const saved = name === undefined ? [] : savedColumns(name, mapping);
  const { chooseColumns, openStatement, savedColumn } = await import("../reconcile/columns.ts");
  const isDated = input.since !== undefined && input.until !== undefined;
  const { delimiter, sheet = mapping?.sheet } = input;
  const standardInput = context.host.stdin;
  const known = {
    ...{ delimiter, sheet, standardInput, isDated },
    ...{ mapping: name ?? "", saved, map },
  };
  const opened = await openStatement(input.file, known, context.ledger.own);
  const ledger = await context.ledger.own();
  const { statement, columns, isNew } = await chooseColumns(opened, isDated, ledger);
  const unused = unusedColumns(statement, columns);
  if (isNew) await context.ui.confirm(columnQuestion(columns, unused));
  const lines = await readLines(statement, columns, zone);
  const isSaved = saved.length > 0 && map.length === 0 && !isNew && sheet === mapping?.sheet;
  const told =
    name === undefined || isSaved
      ? undefined
      : mappings.save(name, { kind: "statement", columns: columns.map(savedColumn), sheet });
  if (told !== undefined) context.ui.notice(told);
  const since = { at: span.since, typed: input.since?.typed };
  const until = { at: span.until, typed: input.until?.typed };
  const period = periodOf(lines, since, until, zone);
  const options = { name: file, mapping: name ?? "", isImporting: input.import, ...period };
  const { reconcile } = await import("../reconcile/reconcile.ts");
  const found = await reconcile(lines, options, ledger, await context.api.deps());
  const unrecorded = await compareEntries(found.findings, options, ledger);
  checkExplanations(found.findings, input.explain);
  checkWithdrawals(found.findings, input.withdraw);
  checkOtherEntries(found.findings, input.file, input);
  if (input.recordFees) checkFees(found.findings);
  const { user: by } = context.host;
  const accepting = async (some: Acceptance[]) => {
    if (some.length > 0) await accept(found, some, { ...options, by }, ledger);
    return some.length;
  };
  await accepting(input.accept);
  if (input.acceptUnique) {
    const unique = uniqueOf(found, input.reason).filter((one) => !isExplained(one));
    const count = await accepting(unique);
    context.ui.notice(`Accepted ${counted(count, "line")} with exactly one proposal.`);
  } else if (input.accept.length === 0) await accepting(await askForProposals(found, context));
  const isChanged = await changeEntries(input, found, options, ledger, context);
  const fees = isChanged ? await compareEntries(found.findings, options, ledger) : unrecorded;
  const { rows: skipped } = lines.skipped;
  const read = { columns: columns.map(savedColumn), unusedColumns: unused, skipped };
  const report = reportOf(found, fees, { file: input.file, ...period, ...read });
  if (unused.length > 0)
    context.ui.notice(`Columns that are not used: ${unused.map(unusedText).join(", ")}.`);
  for (const told of workbookTexts(statement, lines.hidden))
    context.ui.notice(told, "workbook.hidden");
  for (const told of skippedTexts(lines.skipped)) context.ui.notice(told, "statement.skipped-rows");
  if (lines.oddDebits)
    context.ui.notice(oddDebitsText(file, lines.oddDebits), "statement.odd-debits");
  const half = halfText(found, file);
  if (half !== undefined) context.ui.notice(half, "statement.half-of-return");
  const others = othersText(found.findings.matchedOfOthers(ledger.login));
  if (others !== undefined) context.ui.notice(others, "statement.recorded-by-others");
  return {
    found,
    report,
    zone,
    ...shownOf(found, report, { ...input, ...lines.skipped }, context, zone),
  };
}

/** @throws Failure `usage` if a line is accepted too: nothing is recorded before both were checked */
function explainedBy({ accept, explain }: ReconcileInput) {
  const explained = new Set(explain.map(({ line }) => line));
  const isExplained = ({ line }: Pick<Acceptance, "line">) => explained.has(line);
  const both = accept.find(isExplained);
  if (both) throw usage([`--accept, --explain: line ${both.line} can only have one of them.`]);
  return isExplained;
}

/**
 * Records and withdraws entries, after the check.
 *
 * @returns true if some may have changed
 */
async function changeEntries(
  input: ReconcileInput,
  found: Reconciliation,
  options: Statement,
  ledger: Ledger,
  context: Context,
): Promise<boolean> {
  if (input.explain.length > 0) {
    checkExplanations(found.findings, input.explain);
    for (const told of returnTexts(found.findings, input.explain))
      context.ui.notice(told, "statement.may-be-returned");
    await context.ui.confirm(explanationQuestion(input.explain, found));
    await explain(found, input.explain, options, ledger);
    await findMissingAgain(found, options, ledger);
  }
  if (input.withdraw.length > 0) {
    await context.ui.confirm(withdrawalQuestion(input.withdraw, found));
    await withdraw(input.withdraw, ledger);
  }
  if (input.recordFees)
    context.ui.notice(feesText(await recordFees(found.findings, options, ledger)));
  return input.explain.length + input.withdraw.length > 0 || input.recordFees;
}

/** @throws Failure `usage` if the mapping is not one of statements */
function savedColumns(name: string, mapping: Mapping | undefined): ColumnMapping[] {
  return (mapping?.columns ?? []).map(({ column, field: saved }) => {
    const field = statementFields.find((one) => one === saved);
    if (mapping?.kind === "statement" && field) return { column, field };
    throw usage(
      [`The mapping ${quoted(name)} is not one of statements.`],
      "To list the mappings, run 'lenden mapping list'.",
    );
  });
}

/** What a table shows, what is said beside it, and the error that ends the run. */
function shownOf(
  found: Reconciliation,
  report: Report,
  { import: isImporting, wrongTotal }: ReconcileInput & Pick<Skipped, "wrongTotal">,
  { ui }: Context,
  zone: string,
) {
  const { findings, netLines, unseen, conflict } = found;
  if (ui.output !== "ids") for (const text of summaryOf(report, netLines, zone)) ui.notice(text);
  const missing = findings.countMissing().count + findings.countMissingEntries().count;
  const count = findings.count("shown").count + missing;
  const lines = findings.mostImportant(mostRows).map(lineOf);
  const operations = take(findings.listMissing(), mostRows - lines.length).map(missingOf);
  const left = mostRows - lines.length - operations.length;
  const entries = take(findings.listMissingEntries(), left).map(missingEntryOf);
  const shown: ReportRow[] = [...lines, ...operations, ...entries];
  if (ui.output === "table" && shown.length < count)
    ui.notice(`${shown.length} of ${count} shown. To list all, use --output csv.`);
  const ended = endingOf(found, report, { isImporting, wrongTotal });
  const contradiction = ended?.kind === "conflict" ? ended : conflict;
  return { count, shown, ending: contradiction ?? unseen ?? ended };
}

function take<Item>(items: Iterable<Item>, most: number): Item[] {
  const taken: Item[] = [];
  if (most > 0) for (const one of items) if (taken.push(one) === most) break;
  return taken;
}

/** Of a table; other output is complete. */
const mostRows = 50;
