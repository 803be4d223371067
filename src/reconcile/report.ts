import { basename } from "node:path";
import type { Paisa } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { formatDay } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { quoted } from "../domain/result.ts";
import { commandGroup } from "../domain/statuses.ts";
import { counted, inCommand, shellLine } from "../domain/text.ts";
import { isRounded } from "../tables/mentions.ts";
import type { SkippedRow } from "../tables/skipped.ts";
import type { Balance } from "./balance.ts";
import { mappingHint, type UnrecordedFees } from "./compare-entries.ts";
import { elsewhereText, insteadOfEntry } from "./explain.ts";
import type { ColumnMapping } from "./fields.ts";
import type { Finding, Findings, Missing } from "./findings.ts";
import type { MissingEntry } from "./known-entries.ts";
import type { Lines } from "./lines.ts";
import type { Skipped } from "./other-rows.ts";
import { isHalf } from "./proposals.ts";
import type { UnusedColumn } from "./recognize.ts";
import type { Reconciliation } from "./reconcile.ts";
import type { StatementTable } from "./table.ts";

/*
 * What a reconciliation says: its rows and sums, its summary in sentences, and the error for what is wrong or open.
 */

/** What is reported, besides the rows. */
export interface Report {
  file: string;
  /** ISO 8601, inclusive. */
  since: string;
  until: string;
  columns: Pick<ColumnMapping, "column" | "field">[];
  unusedColumns: UnusedColumn[];
  /** By the results of lines. */
  results: Record<string, { lines: number; total: Paisa }>;
  onlyInLedgerSum: { operations: number; total: Paisa };
  fees: Paisa;
  unrecordedFees: UnrecordedFees;
  balance: Balance | null;
  /** Rows of the file that are no lines, the first thousand. */
  skipped: SkippedRow[];
}

export function reportOf(
  { findings, balance }: Reconciliation,
  unrecordedFees: UnrecordedFees,
  read: Pick<Report, "file" | "since" | "until" | "columns" | "unusedColumns" | "skipped">,
): Report {
  const { count, totalPaisa } = findings.countMissing();
  return {
    ...read,
    results: Object.fromEntries(findings.totals()),
    onlyInLedgerSum: { operations: count, total: totalPaisa },
    fees: findings.fees(),
    unrecordedFees,
    balance: balance ?? null,
  };
}

/** The books count neither half of a return, but the statement has one of them. */
export function halfText({ findings }: Reconciliation, name: string): string | undefined {
  const { count, first, movedPaisa } = findings.acceptedHalves();
  if (count === 0) return undefined;
  const [lines, are, halves] =
    count === 1
      ? [`Line ${first}`, "is", "the other half"]
      : [`${count} lines (first: line ${first})`, "are", "the other halves"];
  return `${lines} of ${name} ${are} accepted without ${halves}. Until the statement with ${halves} is reconciled, the report differs from the statements by ${formatPaisa(movedPaisa)}.`;
}

/** A match proves nothing of an operation that its login may have copied from the statement of the provider. */
export function othersText(others: ReturnType<Findings["matchedOfOthers"]>): string | undefined {
  if (others.length === 0) return undefined;
  const count = others.reduce((sum, one) => sum + one.count, 0);
  const totalPaisa = others.reduce((sum, one) => sum + one.sumPaisa, 0n);
  const logins = others.map(({ login }) => login).join(", ");
  return `${counted(count, "matched operation")} (${formatPaisa(totalPaisa)}) ${count === 1 ? "was" : "were"} recorded by other logins: ${logins}. To compare them with the API, run 'lenden ledger audit'.`;
}

/** A line as it is printed. */
export function lineOf({ line, operation, proposals, ...finding }: Finding) {
  return {
    ...{ line: line.line, result: finding.result, explained: finding.explained },
    ...{ id: line.id, reference: line.reference, date: line.date },
    amount: line.movementPaisa ?? line.amountPaisa,
    currency: line.currency,
    operation: operation?.id ?? null,
    login: operation?.login ?? null,
    differences: finding.differences,
    isNet: finding.isNet ?? false,
    proposals,
    firstLine: finding.firstLine,
    reason:
      finding.reason ?? entryText(finding) ?? roundedText(line.id) ?? roundedText(line.reference),
  };
}

/** The line itself; a fee beside its amount is counted. */
function entryText({ explained, elsewhere }: Pick<Finding, "explained" | "elsewhere">) {
  return explained === null && elsewhere !== null ? elsewhereText(elsewhere) : null;
}

function roundedText(name: string | null): string | null {
  return isRounded(name ?? "") ? `a spreadsheet rounded the ID ${name}` : null;
}

/** An operation that no line names, as it is printed. */
export function missingOf({ id, kind, remoteId, reference, amountPaisa, completedAt }: Missing) {
  return {
    ...{ line: null, result: "only-in-ledger" as const, operation: id, kind },
    ...{ id: remoteId, reference, amount: amountPaisa, completedAt },
  };
}

/** An entry that no line has, as it is printed. */
export function missingEntryOf({ key, category, paisa, bookedAt, line, ...by }: MissingEntry) {
  return {
    ...{ line: null, result: "only-in-ledger" as const, entry: key, category },
    ...{ amount: paisa, bookedAt, text: line, reason: by.reason, login: by.login },
  };
}

export type ReportRow =
  | ReturnType<typeof lineOf>
  | ReturnType<typeof missingOf>
  | ReturnType<typeof missingEntryOf>;

/** The error for what contradicts the ledger, or is still open; undefined if nothing is. */
export function endingOf(
  found: Reconciliation,
  report: Report,
  { isImporting, wrongTotal }: { isImporting: boolean; wrongTotal: Skipped["wrongTotal"] },
): Failure | undefined {
  const { findings, balance, outside, unsettled } = found;
  const name = basename(report.file);
  const told = (
    { count, first }: { count: number; first: Pick<Finding, "line"> | undefined },
    one: string,
    many: string,
  ) =>
    sentences(count, `line of ${name} ${one}`, `lines of ${name} ${many}`, () => {
      const { line, movementPaisa = null, amountPaisa = null, currency } = first?.line ?? {};
      return `line ${line}, ${amountIn(currency ?? "BDT", movementPaisa ?? amountPaisa ?? 0n)}`;
    });
  const missing = findings.countMissing();
  const entries = findings.countMissingEntries();
  const toldMissing = (count: number, first: Missing | undefined, one: string, many: string) =>
    sentences(count, `${one} is not in ${name}`, `${many} are not in ${name}`, () => {
      const { reference = null, id, amountPaisa = null } = first ?? {};
      return `${reference ?? id}, ${formatPaisa(amountPaisa ?? 0n)}`;
    });
  const unlisted = isImporting
    ? [
        ...told(
          findings.count("unlistedWithId"),
          "has an ID that the API does not know",
          "have IDs that the API does not know",
        ),
        ...told(
          findings.count("unrecorded"),
          "has a record of the API that is not valid",
          "have records of the API that are not valid",
        ),
        ...told(
          findings.count("unlistedWithoutId"),
          "has no ID and is not in the ledger",
          "have no ID and are not in the ledger",
        ),
      ]
    : told(findings.count("unlisted"), "is not in the ledger", "are not in the ledger");
  const wrong = [
    ...told(findings.count("contradicting"), "contradicts the ledger", "contradict the ledger"),
    ...(balance?.brokenAt ? [`The balance is wrong: ${brokenText(balance.brokenAt)}.`] : []),
    ...(wrongTotal ? [wrongTotalText(name, wrongTotal)] : []),
  ];
  const left = [
    ...unlisted,
    ...told(findings.count("unknown"), "has an unknown outcome", "have an unknown outcome"),
    ...told(
      {
        count: outside.count,
        first: outside.first && { line: { ...outside.first, at: null, isBack: false } },
      },
      "is outside the period",
      "are outside the period",
    ),
    ...toldMissing(missing.count, missing.first, "operation", "operations"),
    ...toldMissing(
      unsettled.length,
      unsettled[0],
      "operation with an unknown outcome",
      "operations with an unknown outcome",
    ),
    ...feesText(name, report.unrecordedFees),
    ...sentences(
      entries.count,
      `entry of the ledger is not in ${name}`,
      `entries of the ledger are not in ${name}`,
      () => `${entries.first?.category}, ${formatPaisa(entries.first?.paisa ?? 0n)}`,
    ),
  ];
  if (wrong.length + left.length === 0) return undefined;
  const isWrong = wrong.length > 0;
  const hints = hintsOf(found, report, isImporting);
  if (isWrong || hints.length === 0) hints.unshift("Check these items with the payment provider.");
  const code = isWrong ? "statement.contradicts" : "statement.open-items";
  return new Failure(code, [...wrong, ...left].join(" "), { hint: hints.join(" ") });
}

function hintsOf(
  { findings, outside, strangeStatus, strangeWords, unsettled }: Reconciliation,
  { columns, file, unrecordedFees }: Report,
  isImporting: boolean,
): string[] {
  const hints: string[] = [];
  if (strangeStatus) {
    const { line, status } = strangeStatus;
    const column = columns.find(({ field }) => field === "status")?.column;
    hints.push(
      `lenden does not know the status ${quoted(status ?? "")} (line ${line}). If all lines moved money, ignore the column: --map '${column}=ignore'.`,
    );
  }
  if (strangeWords) {
    const { column, text: words, line } = strangeWords;
    hints.push(
      `The direction of line ${line} is read from ${quoted(words)}. If the words of this column are not directions, ignore it: ${shellLine(["--map", `${column}=ignore`])}.`,
    );
  }
  hints.push(...contradictionHints(findings, columns, strangeStatus !== undefined));
  hints.push(...secondLineHints(findings), ...cancelledHints(findings));
  const { first: counted } = findings.count("countedTwice");
  if (counted)
    hints.push(
      `Line ${counted.line.line} matches the ledger, and an entry counts its money again. To withdraw the entry: ${shellLine(["--explain", `${counted.line.line}=none:<reason>`])}.`,
    );
  if (findings.count("unlistedWithId").count > 0)
    hints.push(
      isImporting
        ? "If another account has these IDs, select its profile with --profile."
        : "To record operations that only the statement has, add --import.",
    );
  hints.push(...ownIdHints(findings, columns), ...acceptHints(findings));
  if (findings.count("unexplained").count > 0)
    hints.push(
      "To explain a line that is no operation, such as a top-up, use --explain <line>=<category>:<reason>.",
    );
  const { first: other } = findings.count("elsewhere");
  const { first: fee } = findings.count("feeElsewhere");
  const mapping = other?.elsewhere ?? fee?.feeElsewhere ?? null;
  if (mapping !== null) hints.push(mappingHint(file, mapping));
  if (unrecordedFees.fees > 0 && !fee) hints.push("To record the fees, add --record-fees.");
  const { first: entry } = findings.countMissingEntries();
  if (entry)
    hints.push(
      `If the statement was corrected, withdraw the entry: ${shellLine([`--withdraw=${entry.key}:<reason>`])}.`,
    );
  if (outside.count > 0) hints.push("Correct --since and --until.");
  if (unsettled.length > 0)
    hints.push("To see unknown outcomes, run 'lenden ledger list --unknown'.");
  return hints;
}

/** The way out if one column contradicts all lines. What an amount is, no hint ignores. */
function contradictionHints(
  findings: Findings,
  columns: Report["columns"],
  hasStatusHint: boolean,
): string[] {
  const ignorable = ["id", "reference", "date", "type", "status", "recipient"];
  return findings.contradicted().flatMap((field) => {
    const column = columns.find((one) => one.field.replace("-month-first", "") === field)?.column;
    if (!column || !ignorable.includes(field) || (field === "status" && hasStatusHint)) return [];
    const flag = shellLine(["--map", `${column}=${field === "id" ? "line-id" : "ignore"}`]);
    const instead = field === "id" ? "If they are the provider's own IDs" : "To ignore the column";
    return `All lines differ in the column ${quoted(column)}. ${instead}: ${flag}.`;
  });
}

/** The way out if the provider's own IDs keep its texts from being searched. */
function* ownIdHints(findings: Findings, columns: Report["columns"]): Iterable<string> {
  const id = columns.find(({ field }) => field === "id");
  const hasTexts =
    columns.some(({ field }) => field === "narration" || field === "type") ||
    findings.count("unsearched").count > 0;
  if (!id || !hasTexts || findings.count("unlistedWithId").count === 0) return;
  if (findings.count("matchedById").count > 0) return;
  const flag = shellLine(["--map", `${id.column}=line-id`]);
  yield `No ID in the column ${quoted(id.column)} is known. If they are the provider's own IDs, search the texts of the lines instead: ${flag}.`;
}

function* acceptHints(findings: Findings): Iterable<string> {
  if (findings.count("proposed").count > 0)
    yield "To accept a proposed match, use --accept <line>=<operation>:<reason>.";
  if (findings.count("proposedOnce").count > 0)
    yield "To accept each line that has exactly one proposal, use --accept-unique --reason <text>.";
}

/** What to do about money that moved once more than the API says. */
function* secondLineHints(findings: Findings): Iterable<string> {
  const { first } = findings.count("beside");
  if (!first?.operation || first.remoteId === null) return;
  const { line, remoteId, operation } = first;
  const get = `lenden ${commandGroup(operation.kind)} get ${inCommand(remoteId)}`;
  const flag = shellLine(["--explain", `${line.line}=other:<reason>`]);
  yield `The API may have a newer record for line ${line.line}: '${get}'. If it has not, ask the payment provider's support, and record the money of the line: ${flag}.`;
}

/** What to do about the line of a cancelled operation. */
function* cancelledHints(findings: Findings): Iterable<string> {
  const { first } = findings.count("halves");
  if (!first?.operation) return;
  const { id } = first.operation;
  const name = first.name ?? id;
  const { line, movementPaisa } = first.line;
  const accepting = (of: number) => shellLine(["--accept", `${of}=${name}:<reason>`]);
  const others = [...findings.list("returning")].filter(({ proposals }) =>
    proposals.some(({ operation, isReturn }) => isReturn && operation === id),
  );
  const alone = isHalf(first)
    ? ` If another statement has it, accept line ${line}: ${accepting(line)}.`
    : "";
  yield others[0]
    ? `${name} is Cancelled, and line ${others[0].line.line} may have its money in the other direction: ${accepting(others[0].line.line)}.`
    : `${name} is Cancelled, and no line has the money of line ${line} in the other direction.${alone}`;
  const entry = movementPaisa === null ? undefined : findings.entryOf(-movementPaisa);
  if (entry !== undefined)
    yield `Line ${entry} has that amount, and is explained by an entry. ${insteadOfEntry(entry, name)}`;
}

function feesText(name: string, { fees, total }: UnrecordedFees): string[] {
  if (fees === 0) return [];
  const lacks = fees === 1 ? "fee is" : "fees are";
  return [`${fees} ${lacks} not in the ledger, but in ${name}: ${formatPaisa(total)}.`];
}

/** How many there are, and the first one; no sentence if there are none. */
function sentences(count: number, one: string, many: string, first: () => string): string[] {
  if (count === 0) return [];
  return [count === 1 ? `1 ${one} (${first()}).` : `${count} ${many} (first: ${first()}).`];
}

function brokenText({ line, shown, expected }: NonNullable<Balance["brokenAt"]>): string {
  const instead = expected === null ? "" : ` instead of ${formatPaisa(expected)}`;
  return `line ${line} shows ${formatPaisa(shown)}${instead}`;
}

function wrongTotalText(name: string, wrong: NonNullable<Skipped["wrongTotal"]>): string {
  const { line, shown, expected, isPart, others } = wrong;
  const lines = isPart ? "lines since the total before it" : "lines above it";
  const more = others > 0 ? ` So are ${others} more totals.` : "";
  return `The total on line ${line} of ${name} is wrong: it is ${formatPaisa(shown)}, but the ${lines} add up to ${formatPaisa(expected)}.${more}`;
}

/** One and many. */
const skippedKinds: [SkippedRow["kind"], string, string][] = [
  ["title", "row above the header", "rows above the header"],
  ["header", "repeated header", "repeated headers"],
  ["total", "total, which is right", "totals, which are right"],
  ["wrong-total", "total, which is wrong", "totals, which are wrong"],
  ["note", "row without a transaction", "rows without a transaction"],
];
const mostNamed = 5;

/** The rows that are no lines, a sentence for each kind. */
export function* skippedTexts({ rows, others }: Pick<Skipped, "rows" | "others">) {
  for (const [kind, one, many] of skippedKinds) {
    const found = rows.filter((one) => one.kind === kind);
    if (found.length === 0) continue;
    const shown = found
      .slice(0, mostNamed)
      .map(({ line, text }) => `line ${line}: ${quoted(text)}`);
    const rest = found.length > mostNamed ? `; and ${found.length - mostNamed} more` : "";
    yield `Not read as transactions: ${found.length} ${found.length === 1 ? one : many} (${shown.join("; ")}${rest}).`;
  }
  if (others > 0) yield `Not read as transactions: ${counted(others, "more row")}.`;
}

/** What a person does not see in the workbook, or what was not read of it. */
export function* workbookTexts(
  { sheet, hiddenColumns }: Pick<StatementTable, "sheet" | "hiddenColumns">,
  { count, paisa }: Lines["hidden"],
) {
  if (sheet && sheet.others.length > 0)
    yield `The sheet ${quoted(sheet.name)} is read, not ${sheet.others.map((one) => quoted(one)).join(", ")}.`;
  if (count > 0)
    yield `${counted(count, "row")} of the workbook ${count === 1 ? "is" : "are"} hidden, and read: ${formatPaisa(paisa)}.`;
  if (hiddenColumns.length > 0)
    yield `Columns that are hidden in the workbook: ${hiddenColumns.join(", ")}.`;
}

/** The summary, in sentences. */
export function* summaryOf(report: Report, netLines: number, zone: string) {
  const { since, until, results, onlyInLedgerSum: left, fees, balance } = report;
  yield `Period: ${formatDay(since, zone)} to ${formatDay(until, zone)}. Fees: ${formatPaisa(fees)}.`;
  // A sum would add money in and money out.
  for (const [result, { lines }] of Object.entries(results))
    if (result !== "balance") yield `${result}: ${lines}`;
  if (netLines > 0) yield `The amounts of ${netLines} lines match with their fee.`;
  if (left.operations > 0) yield `only-in-ledger: ${left.operations}, ${formatPaisa(left.total)}`;
  if (!balance) return;
  const { opening, movements, closing, brokenAt } = balance;
  const sum = `${formatPaisa(opening)} + movements ${formatPaisa(movements)} - fees ${formatPaisa(balance.fees)}`;
  if (!brokenAt) yield `Balance: opening ${sum} = closing ${formatPaisa(closing)}.`;
  else yield `Balance: ${brokenText(brokenAt)}.`;
}

/** In the currency of the line. */
export function amountIn(currency: string, paisa: Paisa): string {
  return formatPaisa(paisa).replace("BDT", () => currency);
}

/** A column, with its texts if they are few. */
export function unusedText({ column, values }: UnusedColumn): string {
  return values.length > 0 ? `${column} (${values.join(" | ")})` : column;
}

export function oddDebitsText(name: string, odd: NonNullable<Lines["oddDebits"]>): string {
  const { line, others, isBelowZero } = odd;
  const more = others > 0 ? ` So are ${others} more.` : "";
  const [here, most] = isBelowZero ? ["below", "above"] : ["above", "below"];
  return `The debit on line ${line} of ${name} is ${here} zero, but most are ${most}: it is read as money that came back.${more}`;
}
