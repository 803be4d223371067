import type { LedgerFindings } from "../../../batches/check.ts";
import { type Finding, isAcceptable, weightOf } from "../../../batches/findings.ts";
import type { ComparedRow, Difference } from "../../../batches/identity.ts";
import type { OtherRows } from "../../../batches/plan.ts";
import {
  countRetries,
  isAccepted,
  type NextReference,
  type Retries,
  replacementOf,
} from "../../../batches/retries.ts";
import {
  type BatchStatus,
  openOf,
  type RowStatus,
  type StatusSums,
  type Sum,
  sumOf,
} from "../../../batches/status.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import {
  type Effect,
  Failure,
  type FailureKind,
  inOneLine,
  type Reason,
  whatHappened,
} from "../../../domain/failure.ts";
import { formatDay, formatTime } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";

export const statusNames: Record<RowStatus, string> = {
  completed: "Completed",
  processing: "Processing",
  cancelled: "Cancelled",
  refused: "Rejected",
  conflict: "Conflict",
  uncertain: "Outcome unknown",
  unsent: "Not sent",
};

/** `3 rows, BDT 1,250.50`. */
export function sumText({ count, sumPaisa }: Sum): string {
  return `${rowsText(count)}, ${formatPaisa(sumPaisa)}`;
}

/** How many rows of a batch were accepted, and how the others ended. */
export function countsText({ total, sums }: BatchStatus): string {
  const accepted = sumOf(sums.completed, sums.processing, sums.cancelled);
  const others = (["cancelled", "refused", "conflict", "uncertain", "unsent"] as const)
    .filter((status) => sums[status].count > 0)
    .map((status) => `${statusNames[status].toLowerCase()}: ${sums[status].count}`);
  const amounts = `${formatPaisa(accepted.sumPaisa)} of ${formatPaisa(total.sumPaisa)}`;
  const first = `${accepted.count} of ${rowsText(total.count)} accepted (${amounts})`;
  return `${[first, ...others].join("; ")}.`;
}

export function inProgressText({ pid, machine }: { pid: number; machine: string }): string {
  return `Process ${pid} on ${machine} is sending this batch. Rows in flight count as unknown.`;
}

/** Why a file has no row to send, and how to pay the same rows again. */
export async function nothingLeftText(
  { batch, sums }: BatchStatus,
  hasReferences: boolean,
  { batches }: Ledger,
): Promise<string> {
  const times = await batches.sentBetween(batch);
  const days = times ? [...new Set([formatDay(times.first), formatDay(times.last)])] : [];
  const when = days.length === 0 ? "" : ` (sent on ${days.join(" to ")})`;
  const text = `No row of batch ${batch.id}, ${batch.name}, is left to send${when}. Nothing was sent.`;
  if (sums.refused.count + sums.cancelled.count + sums.conflict.count > 0) return text;
  const again = hasReferences ? "--name and new references" : "--name";
  return `${text} To pay the same rows again, use ${again}.`;
}

/** What happens to rows whose outcome is unknown from an earlier run. */
export function unknownRowsTexts({ id }: Batch, unknown: number, forgotten: number): string[] {
  const retried = unknown - forgotten;
  const texts: string[] = [];
  if (retried > 0)
    texts.push(
      `Retrying ${rowsText(retried)} with an unknown outcome first, with the same references (delay up to 10 s).`,
    );
  if (forgotten > 0)
    texts.push(
      `${rowsText(forgotten)} with an unknown outcome for over 24 hours: not retried automatically. Check the dashboard. For rows that were not created, run 'lenden payout batch resolve ${id} --not-created'.`,
    );
  return texts;
}

/** The batch of a file, if it has one. */
export type ExistingBatch =
  | { kind: "rejected"; failure: Failure }
  /** Sending the file resumes it. */
  | { kind: "open"; status: BatchStatus; duplicates: Sum };

/** What sending the file would do, because it is a batch already. */
export async function describeExisting(existing: ExistingBatch, ledger: Ledger): Promise<string> {
  if (existing.kind === "rejected") return inOneLine(existing.failure);
  const { status, duplicates } = existing;
  const open = openOf(status.sums);
  const left = open.count === 0 ? "no row is left to send" : `${sumText(open)}, are still open`;
  return sentences([
    `This file is batch ${status.batch.id}: ${left}.`,
    duplicates.count > 0
      ? `Other payouts repeat ${rowsText(duplicates.count)}: resume with --allow-duplicates if they are intended.`
      : "",
    await retryAdvice(status, ledger),
  ]);
}

export function existingText(existing: Sum): string {
  return `Not paid now: ${sumText(existing)}. The API already had payouts with these references. For dates, run 'lenden payout batch export'.`;
}

/** What ended a run before its last row. */
export interface RunStop {
  /** The rule that stopped it, if one did. */
  stopped?: Failure | undefined;
  /** What else happened, in sentences. */
  notes: string[];
}

const resumeHint = "To resume, run 'lenden payout batch send' with the same file.";

const endings: Partial<Record<FailureKind, { reason: Reason; text: string }>> = {
  access: { reason: "batch.access-denied", text: "" },
  conflict: {
    reason: "batch.in-conflict",
    text: "The API has a different payout under the reference of some rows.",
  },
  internal: { reason: "batch.ledger-failed", text: "" },
  partial: { reason: "batch.rows-failed", text: "Some rows were rejected or cancelled." },
  pending: {
    reason: "batch.still-processing",
    text: "The wait ended before all rows were Completed or Cancelled.",
  },
  uncertain: { reason: "batch.outcome-unknown", text: "The outcome of some rows is unknown." },
  unreachable: { reason: "batch.incomplete", text: "Not all rows were sent." },
};

/** The error of a batch that did not end well; undefined if it did. */
export async function endingFailure(
  kind: FailureKind | undefined,
  status: BatchStatus,
  { stopped, notes }: RunStop,
  ledger: Ledger,
): Promise<Failure | undefined> {
  if (kind === undefined) return undefined;
  const { batch, sums } = status;
  const { reason, text } = endings[kind] ?? { reason: "batch.incomplete", text: "" };
  const why = stopped ? whatHappened(stopped) : text;
  const isOpen = batch.cancelledAt === null && openOf(sums).count > 0;
  const resume = stopped?.details.hint ?? (isOpen && kind !== "pending" ? resumeHint : "");
  const hint = sentences([await retryAdvice(status, ledger), resume]);
  return new Failure(reason, sentences([why, ...notes, countsText(status)]), {
    effect: effectOf(sums, kind),
    operation: batch.id,
    ...(hint && { hint }),
  });
}

/** What happened to the money of a batch. While a process sends it, its unknown rows are pending. */
function effectOf(sums: StatusSums, kind: FailureKind): Effect {
  const { completed, processing, cancelled, refused, conflict } = sums;
  if (kind !== "pending" && conflict.count + sums.uncertain.count > 0) return "outcome-unknown";
  if (completed.count + processing.count + cancelled.count > 0)
    return refused.count + openOf(sums).count > 0 ? "partly-sent" : "accepted";
  if (kind === "pending") return "partly-sent";
  return refused.count > 0 || kind === "access" ? "nothing-changed" : "nothing-sent";
}

/** For people: the counts of a batch's error state its effect already. */
export function shownEnding(failure: Failure): string {
  return sentences([failure.message, failure.details.hint ?? ""]);
}

/** What to do about rows that were rejected, cancelled or in conflict; empty if there are none. */
async function retryAdvice({ batch, sums }: BatchStatus, ledger: Ledger): Promise<string> {
  const parts: string[] = [];
  const failed = sums.refused.count + sums.cancelled.count;
  if (failed > 0) {
    const retries = await countRetries(batch, ledger);
    parts.push(retriesText(retries));
    if (retries.accepted.count + retries.others.count < failed)
      parts.push(
        `To correct and resend failed rows, run 'lenden payout batch export ${batch.id} --only failed'.`,
      );
  }
  if (sums.conflict.count > 0)
    parts.push(
      `Compare 'lenden payout batch export ${batch.id} --only conflict' with the dashboard before you pay again.`,
    );
  return sentences(parts);
}

/** Rows that have new references; empty if there are none. */
export function retriesText({ accepted, others }: Retries): string {
  return sentences([
    accepted.count > 0 ? `Accepted by new references: ${sumText(accepted)}.` : "",
    others.count > 0
      ? `New references that are not accepted: ${rowsText(others.count)}, for example ${others.first}.`
      : "",
  ]);
}

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

function problemKindOf(finding: Finding): ProblemKind {
  const weight = weightOf(finding);
  if (weight === "unreadable") return "cell";
  if (weight === "repeated" || weight === "again") return weight;
  if (finding.kind === "used-in-other-account") return finding.kind;
  return finding.kind === "reference-ended" ? "used" : "taken";
}

const mostShown = 1_000;

/** The first problems in sentences. For used references also how their rows can be sent. */
export async function shownProblems(all: Finding[], ledger: Ledger): Promise<ShownProblem[]> {
  const findings = all.slice(0, mostShown);
  const next = new Map<string, NextReference | undefined>();
  for (const { kind, value } of findings)
    if (kind.startsWith("reference-")) next.set(value, await replacementOf(value, ledger));
  const references = [...next.values()].flatMap((found) => (found ? [found.reference] : []));
  const plans = await ledger.plannedReferences(references);
  return findings.map((finding) => {
    const { line, column, value } = finding;
    const found = next.get(value);
    const batch = found && plans.get(found.reference)?.[0]?.batch;
    const problem = sentences([describeFinding(finding), found ? nextText(found, batch) : ""]);
    return { kind: problemKindOf(finding), line, column, value, problem };
  });
}

/** @param batch the open batch that has the next reference, if one does */
function nextText({ reference, status }: NextReference, batch: string | undefined): string {
  if (status && isAccepted(status))
    return `This row was already resent as ${reference}. Remove it.`;
  if (batch) return `Its new reference ${reference} is in batch ${batch}, not sent yet.`;
  if (status && status !== "unsent")
    return `Its new reference ${reference} is ${statusNames[status].toLowerCase()}: run 'lenden ledger show ${reference}'.`;
  return `If this is the same payout, corrected or still unpaid, use reference ${reference}.`;
}

/** A finding in whole sentences. */
function describeFinding(finding: Finding): string {
  switch (finding.kind) {
    case "cell":
      return finding.problem;
    case "same-reference":
      return `Duplicate reference: also used on line ${finding.firstLine}.`;
    case "total-too-large":
      return "The total of the file is too large.";
    case "sent-but-unknown":
      return "The export shows this row as sent, but the ledger does not know its reference. A spreadsheet may have changed it, for example 000123 to 123.";
    case "same-recipient-in-file":
      return `Same recipient and amount as on line ${finding.firstLine}.`;
    case "reference-taken": {
      const { reference, isUnresolved } = finding;
      const taken = "This reference already belongs to a different payout";
      // A new reference could pay an unresolved payout twice, so none is suggested.
      return isUnresolved
        ? `${taken}, whose outcome is unknown: run 'lenden ledger resolve ${reference}' first.`
        : `${taken}: run 'lenden ledger show ${reference}'. For a new payout, use a new reference.`;
    }
    case "reference-in-conflict":
      return `The API has a different payout under this reference. Check the dashboard, then run 'lenden ledger resolve ${finding.reference}' with --created <id> or --not-created.`;
    case "reference-planned":
      return `Batch ${finding.batch} has this reference for a different payout, not sent yet. For a new payout, use a new reference.`;
    case "reference-ended": {
      const ended = finding.ended === "REFUSED" ? "was rejected" : `ended ${finding.ended}`;
      return `The payout of this reference ${ended} on ${formatTime(finding.at)}. References cannot be reused.`;
    }
    case "used-in-other-account":
      return otherAccountText(finding);
    case "planned":
      return `Batch ${finding.batch}${byAccount(finding)} will send the same amount to this recipient (${finding.reference}).`;
    case "paid-recently":
      return `A payout of the same amount to this recipient was accepted on ${formatTime(finding.at)}${byAccount(finding)} (${finding.reference}).`;
    case "outcome-unknown":
      return `A payout of the same amount to this recipient${byAccount(finding)} has an unknown outcome since ${formatTime(finding.at)} (${finding.reference}).`;
  }
}

function byAccount({ isOwnAccount }: { isOwnAccount: boolean }): string {
  return isOwnAccount ? "" : " of another account";
}

function otherAccountText(finding: Extract<Finding, { kind: "used-in-other-account" }>): string {
  const { id, state, at } = finding;
  const inspect = `Run 'lenden ledger show ${id}'.`;
  const payout = `The same payout of another account`;
  if (state === "CONFIRMED") return `${payout} was accepted on ${formatTime(at)}. ${inspect}`;
  if (state === "REFUSED")
    return `${payout} was rejected on ${formatTime(at)} and may have a new reference. ${inspect} If it is still unpaid, use a new reference; otherwise remove the row.`;
  const what = state === "CONFLICT" ? "is in conflict" : `is unknown since ${formatTime(at)}`;
  return `${payout} ${what}. Check the dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`;
}

/** The error of a file with problems, without the problems themselves; undefined if it has none. */
export function problemsFailure(file: string, problems: Finding[]): Failure | undefined {
  const count = problems.length;
  if (count === 0) return undefined;
  const isOnlyTaken = problems.every((finding) => problemKindOf(finding) === "taken");
  const shown = count > mostShown ? `; the first ${mostShown} are shown` : "";
  return new Failure(
    isOnlyTaken ? "batch.references-used" : "batch.invalid-file",
    `${file} has ${count === 1 ? "1 problem" : `${count} problems`}${shown}.`,
    {
      hint: sentences([
        "Fix the file, then run the check again.",
        problems.some(isAcceptable)
          ? "To send rows that repeat a payout on purpose, add --allow-duplicates."
          : "",
      ]),
    },
  );
}

/** @throws Failure that lists the problems of a file, if it has any */
export async function rejectProblems(
  file: string,
  problems: Finding[],
  ledger: Ledger,
): Promise<void> {
  const failure = problemsFailure(file, problems);
  if (!failure) return;
  const { reason, message, details } = failure;
  const listed = (await shownProblems(problems, ledger)).map((shown) => {
    const { line, column, value, problem } = shown;
    const cell = `${column && `, ${column}`}${value && ` ${JSON.stringify(value.slice(0, 40))}`}`;
    return `line ${line}${cell}: ${problem}`;
  });
  throw new Failure(reason, message, { ...details, problems: listed });
}

/** An unfinished batch with other rows has the name. */
export function otherRowsFailure(
  name: string,
  { batch, differences, byReference }: OtherRows,
): Failure {
  const { id, createdAt } = batch;
  const own = batch.name === name ? "" : ` (${batch.name})`;
  const newBatch = byReference
    ? "To start a new batch, add --name."
    : "To start a new batch, add --name: without a column ref, all its rows are new payouts.";
  return new Failure(
    "batch.other-rows",
    `${name} differs from the file of batch ${id}${own}, created on ${formatTime(createdAt)} and not finished.`,
    {
      problems: firstOf(differences.map((one) => describeDifference(one, byReference))),
      hint: `${newBatch} To resume ${id}, use its original file. To correct failed rows, run 'lenden payout batch export ${id} --only failed'. To send none of the rest, run 'lenden payout batch cancel ${id}'.`,
      operation: id,
    },
  );
}

function describeDifference({ line, row, planned }: Difference, byReference: boolean): string {
  const shown = (one: ComparedRow) =>
    byReference ? `${one.reference}, ${payoutText(one)}` : payoutText(one);
  if (!row) return planned ? `only in the batch: ${shown(planned)}` : "";
  if (!planned) return `line ${line}: only in the file: ${shown(row)}`;
  const part = [payoutText, nameText, descriptionText].find((one) => one(row) !== one(planned));
  return `line ${line}: ${(part ?? shown)(row)}; the batch has ${(part ?? shown)(planned)}`;
}

/** `1250.50 to 01712345678 by bkash`. */
function payoutText({ amountPaisa, recipient, method }: ComparedRow): string {
  const paisa = String(amountPaisa % 100n).padStart(2, "0");
  return `${amountPaisa / 100n}.${paisa} to ${recipient} by ${method}`;
}

const nameText = ({ name }: ComparedRow) => `name ${name ?? "(none)"}`;
const descriptionText = ({ description }: ComparedRow) => `description ${description ?? "(none)"}`;

/** Payouts that repeat rows of a file, found after it was checked. */
export function repeatedMeanwhile({ findings }: LedgerFindings): Failure {
  return new Failure("batch.duplicates", "Other payouts repeat rows of this file by now.", {
    problems: listed(findings),
    hint: "To see all of them, run the same command again. If they are intended, add --allow-duplicates.",
  });
}

/** Other payouts that repeat rows of a batch since it was created. */
export function repeatedSince({ id }: Batch, findings: Finding[], sum: Sum): Failure {
  const hint = findings.every(isAcceptable)
    ? "If they are intended, add --allow-duplicates."
    : `Resolve them first, or run 'lenden payout batch cancel ${id}'.`;
  const message = `Other payouts repeat rows of batch ${id} that are not sent yet (${sumText(sum)}).`;
  return new Failure("batch.duplicates", message, { problems: listed(findings), hint });
}

export function placedFinding(finding: Finding): string {
  return `line ${finding.line}: ${describeFinding(finding)}`;
}

function listed(findings: Finding[]): string[] {
  return firstOf(findings.map(placedFinding));
}

const mostListed = 20;

function firstOf(all: string[]): string[] {
  const left = all.length - mostListed;
  return left > 0 ? [...all.slice(0, mostListed), `and ${left} more`] : all;
}

/** Rows that other processes are working on. */
export function lockedRowsText({ count, by }: { count: number; by: Failure }): string {
  return `Other processes are working on ${rowsText(count)}. ${inOneLine(by)}`;
}

function sentences(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}
