import type { LedgerFindings } from "../../../batches/check.ts";
import { type Finding, isAcceptable, weightOf } from "../../../batches/findings.ts";
import type { ComparedRow, Difference } from "../../../batches/identity.ts";
import type { OtherRows } from "../../../batches/plan.ts";
import { type After, afterUse, isSent } from "../../../batches/retries.ts";
import type { Sum } from "../../../batches/status.ts";
import { Failure } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import type { Batch, BatchFile } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { sumText } from "./batch.ts";

/** The kind of a problem as scripts get it. */
type ProblemKind = "cell" | "repeated" | "again" | "taken" | "used" | "used-in-other-account";

/** A problem as people and scripts get it. */
export interface ShownProblem {
  kind: ProblemKind;
  line: number;
  /** Empty for the line as a whole. */
  column: string;
  value: string;
  problem: string;
}

export function kindOf(finding: Finding): ProblemKind {
  const weight = weightOf(finding);
  if (weight === "unreadable") return "cell";
  if (weight === "repeated" || weight === "again") return weight;
  if (finding.kind === "used-in-other-account") return finding.kind;
  return finding.kind === "reference-ended" ? "used" : "taken";
}

/** The findings in sentences. For used references also how their rows can be sent. */
export async function withAdvice(findings: Finding[], ledger: Ledger): Promise<ShownProblem[]> {
  const after = new Map<string, After | undefined>();
  for (const { kind, value } of findings)
    if (kind.startsWith("reference-")) after.set(value, await afterUse(value, ledger));
  const nexts = [...after.values()].flatMap((found) => (found ? [found.next] : []));
  const plans = await ledger.plannedReferences(nexts);
  return findings.map((finding) => {
    const { line, column, value } = finding;
    const kind = kindOf(finding);
    const found = after.get(value);
    const [plan] = (found && plans.get(found.next)) ?? [];
    // The row may be the same payout, a corrected one, or another one.
    const row = kind === "used" ? "The row" : "If it is the same payout, corrected, the row";
    const advice = found ? ` ${row} ${retryText(found, plan?.batch)}` : "";
    return { kind, line, column, value, problem: `${describeFinding(finding)}${advice}` };
  });
}

/** @param batch the open batch that has the next reference, if one does */
function retryText({ next, standing }: After, batch: string | undefined): string {
  if (standing && isSent(standing)) return `was sent again as ${next}: remove it.`;
  const where = batch ? `, in batch ${batch}` : "";
  if (standing && standing !== "unsent")
    return `was sent again as ${next}${where}, which is ${standing}: 'lenden ledger show ${next}' shows it.`;
  if (batch) return `is planned as ${next}${where}, which is still to be sent.`;
  return `can be sent by ${next}, if it is still to be paid.`;
}

/** A finding in whole sentences. */
export function describeFinding(finding: Finding): string {
  switch (finding.kind) {
    case "cell":
      return finding.problem;
    case "same-reference":
      return `Duplicate reference: also used on line ${finding.firstLine}.`;
    case "total-too-large":
      return "The total of the file is too large to be added up.";
    case "sent-but-unknown":
      return "The row was sent, but the ledger has no payout with this reference. A spreadsheet may have changed it, for example 000123 to 123.";
    case "same-recipient-in-file":
      return `Same recipient and amount as on line ${finding.firstLine}.`;
    case "reference-taken":
      return takenText(finding);
    case "reference-in-conflict":
      return `The API has a different payout under this reference: check the dashboard, then run 'lenden ledger resolve ${finding.reference}' with --created <id> or --not-created.`;
    case "reference-planned":
      return `Batch ${finding.batch} has this reference for a different payout that is not sent yet: 'lenden payout batch status ${finding.batch}' shows the batch. For a new payout, use a new reference.`;
    case "reference-ended":
      return `The payout of this reference ended ${finding.ended} on ${formatTime(finding.at)}. The reference is not used again.`;
    case "used-in-other-account":
      return otherAccountText(finding);
    case "planned":
      return `Batch ${finding.batch} is still to send the same amount to this recipient${byAccount(finding)}, as ${finding.reference}.`;
    case "paid-recently":
      return `The same amount was sent to this recipient on ${formatTime(finding.at)}${byAccount(finding)}, as ${finding.reference}.`;
    case "outcome-unknown":
      return `The same amount may have been sent to this recipient on ${formatTime(finding.at)}${byAccount(finding)}, as ${finding.reference}: its outcome is unknown.`;
  }
}

function byAccount({ isOwnAccount }: { isOwnAccount: boolean }): string {
  return isOwnAccount ? "" : " by another account";
}

/** A new reference could pay an unresolved payout twice, so none is suggested. */
function takenText(finding: Extract<Finding, { kind: "reference-taken" }>): string {
  const { reference, isUnresolved, isEnded } = finding;
  const taken = "The ledger has this reference for a different payout";
  if (isUnresolved)
    return `${taken}, which may have been paid: run 'lenden ledger resolve ${reference}' first.`;
  const inspect = `${taken}: 'lenden ledger show ${reference}' shows it.`;
  return isEnded ? inspect : `${inspect} For a new payout, use a new reference.`;
}

function otherAccountText(finding: Extract<Finding, { kind: "used-in-other-account" }>): string {
  const { id, state, at } = finding;
  const inspect = `'lenden ledger show ${id}' shows it.`;
  const resolve = `Check the merchant dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`;
  if (state === "CONFIRMED")
    return `Another account sent this payout on ${formatTime(at)}: ${inspect}`;
  if (state === "REFUSED")
    return `The API rejected this payout of another account on ${formatTime(at)}, and it may have been sent again by a new reference: ${inspect} If it was not paid since, give it a new reference; else remove the row.`;
  if (state === "CONFLICT")
    return `This payout of another account is in conflict: ${inspect} ${resolve}`;
  return `The outcome of this payout of another account is unknown since ${formatTime(at)}: ${inspect} ${resolve}`;
}

interface Problems {
  file: string;
  problemCount: number;
  isOnlyTaken: boolean;
  problems: ShownProblem[];
}

/** The error of a file with problems; undefined if it has none. */
export function problemsOf(checked: Problems): Failure | undefined {
  const { file, problemCount, isOnlyTaken } = checked;
  if (problemCount === 0) return undefined;
  return new Failure(
    isOnlyTaken ? "batch.references-used" : "batch.invalid-file",
    `${file} has ${problemCount === 1 ? "1 problem" : `${problemCount} problems`}.`,
    { hint: adviceOnProblems(checked) },
  );
}

/** The same with the problems themselves (at most a thousand of them). */
export function rejectProblems(checked: Problems): void {
  const failure = problemsOf(checked);
  if (!failure) return;
  const listed = checked.problems.map(({ line, column, value, problem }) => {
    const cell = `${column && `, ${column}`}${value && ` ${JSON.stringify(value.slice(0, 40))}`}`;
    return `line ${line}${cell}: ${problem}`;
  });
  const left = checked.problemCount - listed.length;
  throw new Failure(failure.reason, failure.message, {
    problems: left > 0 ? [...listed, `and ${left} more`] : listed,
    hint: `${failure.details.hint} 'lenden payout batch check' shows the same as a table.`,
  });
}

/** What to do about the problems of a file. */
export function adviceOnProblems({ problemCount, problems }: Problems): string {
  const isCut = problemCount > problems.length;
  const mayBeIntended = problems.some(({ kind }) =>
    ["repeated", "again", "used-in-other-account"].includes(kind),
  );
  return [
    "Correct the file.",
    ...(isCut ? [`Only the first ${problems.length} of ${problemCount} problems are listed.`] : []),
    ...(mayBeIntended ? ["If the repeated payouts are intended, add --allow-duplicates."] : []),
  ].join(" ");
}

/** An unfinished batch with other rows has the file's name. */
export function otherRows(
  { name }: Pick<BatchFile, "name">,
  { batch, differences, byReference }: OtherRows,
): Failure {
  const { id, createdAt } = batch;
  const allNew = byReference
    ? ""
    : " (the file has no column ref, so all its rows are new payouts then, also those that did not change)";
  const own = batch.name === name ? "" : `, ${batch.name}`;
  return new Failure(
    "batch.other-rows",
    `Other rows under the name ${name} were planned on ${formatTime(createdAt)}, as batch ${id}${own}, which is not finished.`,
    {
      problems: firstOf(differences.map((one) => describeDifference(one, byReference))),
      hint: `If this is a new batch, give it another name with --name${allNew}. To resume ${id}, use its file without changes. To correct rows that were rejected, use the file of 'lenden payout batch export ${id} --only failed'. To give up its rows that were not sent, run 'lenden payout batch cancel ${id}'.`,
      operation: id,
    },
  );
}

/** A difference in one line. */
function describeDifference(difference: Difference, byReference: boolean): string {
  const shown = (row: ComparedRow) =>
    byReference ? `${row.reference}, ${payoutText(row)}` : payoutText(row);
  if (difference.kind === "not-in-file")
    return `the plan has ${shown(difference.row)}, and the file does not`;
  const { kind, line, row } = difference;
  if (kind === "not-in-plan") return `line ${line}: ${shown(row)} is not in the plan`;
  const part = (one: ComparedRow) =>
    kind === "payout" ? payoutText(one) : `${kind} ${one[kind] ?? "(none)"}`;
  return `line ${line}: ${part(row)}; the plan has ${part(difference.planned)}`;
}

/** `1250.50 to 01712345678 by bkash`. */
function payoutText({ amountPaisa, recipient, method }: ComparedRow): string {
  const paisa = String(amountPaisa % 100n).padStart(2, "0");
  return `${amountPaisa / 100n}.${paisa} to ${recipient} by ${method}`;
}

/** Other payouts repeat rows of the file since it was checked. */
export function paidMeanwhile({ findings }: LedgerFindings): Failure {
  const message = "Other payouts repeat rows of this file since it was checked.";
  const hint =
    "Run the same command again to see them all. Only if they are intended, add --allow-duplicates.";
  return new Failure("batch.duplicates", message, { problems: listed(findings), hint });
}

/** Between a plan and its end, others may pay the same recipients the same amounts. */
export function paidOtherwise({ id }: Batch, findings: Finding[], sum: Sum): Failure {
  const hint = findings.every(isAcceptable)
    ? "If they are intended, add --allow-duplicates: it shows them before it asks."
    : "Resolve them first, or run 'lenden payout batch cancel' with the same file.";
  const message = `Batch ${id} is still to send ${sumText(sum)}, that other payouts repeat.`;
  return new Failure("batch.duplicates", message, { problems: listed(findings), hint });
}

function listed(findings: Finding[]): string[] {
  return firstOf(findings.map((finding) => `line ${finding.line}: ${describeFinding(finding)}`));
}

const mostListed = 20;

function firstOf(all: string[]): string[] {
  const left = all.length - mostListed;
  return left > 0 ? [...all.slice(0, mostListed), `and ${left} more`] : all;
}
