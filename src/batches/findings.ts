import type { Paisa } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import type { State } from "../domain/state.ts";
import { counted, inCommand } from "../domain/text.ts";
import type { Ledger, Overlap } from "../ledger/ledger.ts";
import { adviceOnRepeats } from "../operations/limits.ts";
import { replacementOf } from "./retries.ts";
import type { Sum } from "./status.ts";

/** Where a finding belongs in the file. */
export interface Place {
  line: number;
  /** The name of the column, and the text of the cell; empty for the line as a whole. */
  column: string;
  value: string;
  /** The amount of the row, if it can be read. */
  amountPaisa?: Paisa | null;
}

/** A cell, or a line as a whole, that cannot be read. */
export interface CellProblem extends Place {
  kind: "cell";
  /** What is wrong, and what would be right. */
  problem: string;
}

/** Something about a file that the user has to correct or to accept. */
export type Finding = CellProblem | (Place & LedgerFinding) | (Place & FileFinding);

type FileFinding =
  | { kind: "same-reference" | "same-recipient-in-file"; firstLine: number }
  | { kind: "total-too-large" };

type LedgerFinding =
  /** An export shows that the row was sent, and the ledger does not know its reference. */
  | { kind: "sent-but-unknown" }
  /** The ledger has the reference for a different payout. */
  | { kind: "reference-taken"; reference: string; isUnresolved: boolean }
  /** The API has a different payout under the reference. */
  | { kind: "reference-in-conflict"; reference: string }
  /** An open batch has the reference for a different payout. */
  | { kind: "reference-planned"; reference: string; batch: string }
  /** The payout of this reference was rejected or cancelled. */
  | { kind: "reference-ended"; reference: string; ended: string; at: string }
  /** The reference replaces that of a payout which was accepted, or may have been. */
  | { kind: "replaces-payout"; reference: string; state: State; at: string }
  /** Another account of the production environment has this payout. */
  | { kind: "used-in-other-account"; id: string; state: State; at: string }
  /** Another payout, or a row of an open batch, has the same amount and recipient. */
  | Exclude<Overlap, { kind: "reported" }>;

/**
 * The groups of findings, as scripts get them. `invalid`: the rows cannot even be compared with a plan.
 * `repeats-row` and `repeats-payout` may be intended: another row, or a payout by another reference, has the
 * same amount and recipient. The others concern the row's own reference.
 */
type Group =
  | ("invalid" | "repeats-row" | "repeats-payout")
  | ("reference-conflict" | "reference-ended" | "used-in-other-account");

const groups: Record<Finding["kind"], Group> = {
  cell: "invalid",
  "same-reference": "invalid",
  "total-too-large": "invalid",
  "sent-but-unknown": "invalid",
  "same-recipient-in-file": "repeats-row",
  "paid-recently": "repeats-payout",
  "outcome-unknown": "repeats-payout",
  planned: "repeats-payout",
  "replaces-payout": "repeats-payout",
  "reference-taken": "reference-conflict",
  "reference-in-conflict": "reference-conflict",
  "reference-planned": "reference-conflict",
  "reference-ended": "reference-ended",
  "used-in-other-account": "used-in-other-account",
};

export function groupOf({ kind }: Finding): Group {
  return groups[kind];
}

/** True if the user can accept it with --allow-duplicates. */
export function isAcceptable(finding: Finding): boolean {
  if (finding.kind === "used-in-other-account") return finding.state === "CONFIRMED";
  return ["repeats-row", "repeats-payout"].includes(groupOf(finding));
}

/** The rows that findings are about, and their amount. */
export function sumOfRows(findings: Finding[]): Sum {
  const amounts = new Map(findings.map(({ line, amountPaisa }) => [line, amountPaisa ?? 0n]));
  const sumPaisa = [...amounts.values()].reduce((sum, amountPaisa) => sum + amountPaisa, 0n);
  return { count: amounts.size, sumPaisa };
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
        ? `${taken}, whose outcome is unknown: run 'lenden ledger resolve ${inCommand(reference)}' first.`
        : `${taken}: run 'lenden ledger show ${inCommand(reference)}'. For a new payout, use a new reference.`;
    }
    case "reference-in-conflict":
      return `The API has a different payout under this reference. To resolve the conflict, run 'lenden ledger resolve ${inCommand(finding.reference)}'.`;
    case "reference-planned":
      return `Batch ${finding.batch} uses this reference for a different payout, which is not sent yet. For a new payout, use a new reference.`;
    case "reference-ended": {
      const ended =
        finding.ended === "REFUSED" ? "was rejected" : `was ${finding.ended.toLowerCase()}`;
      return `The payout with this reference ${ended} on ${formatTime(finding.at)}. References cannot be reused.`;
    }
    case "replaces-payout": {
      const { reference, state, at } = finding;
      const outcome = state === "CONFIRMED" ? "was accepted" : "has an unknown outcome";
      return `Payout ${reference}, which this reference replaces, was sent on ${formatTime(at)} and ${outcome}. To see it, run 'lenden ledger show ${inCommand(reference)}'.`;
    }
    case "used-in-other-account":
      return describeElsewhere(finding);
    case "planned":
      return `Batch ${finding.batch}${ofAccount(finding)} will send the same amount to this recipient (${finding.reference}).`;
    case "paid-recently":
      return `A payout of the same amount to this recipient was accepted on ${formatTime(finding.at)}${ofAccount(finding)} (${finding.reference}).`;
    case "outcome-unknown":
      return `A payout of the same amount to this recipient${ofAccount(finding)} has an unknown outcome since ${formatTime(finding.at)} (${finding.reference}).`;
  }
}

function ofAccount({ isOwnAccount }: { isOwnAccount: boolean }): string {
  return isOwnAccount ? "" : " of another account";
}

function describeElsewhere({
  id,
  state,
  at,
}: Extract<Finding, { kind: "used-in-other-account" }>): string {
  const payout = "Another account already sent this payout";
  const inspect = `To see it, run 'lenden ledger show ${id}'.`;
  if (state === "CONFIRMED")
    return `${payout}, and it was accepted on ${formatTime(at)}. ${inspect}`;
  if (state === "REFUSED")
    return `${payout}, and it was rejected on ${formatTime(at)}. It may have been sent again since. ${inspect} If it is still unpaid, use a new reference. If it was paid, remove the row.`;
  const what =
    state === "CONFLICT"
      ? "and the API has a different payout under its reference"
      : `and its outcome is unknown since ${formatTime(at)}`;
  return `${payout}, ${what}. To resolve it, run 'lenden ledger resolve ${id}'.`;
}

export function placedFinding(finding: Finding): string {
  return `line ${finding.line}: ${describeFinding(finding)}`;
}

/** A problem as people and scripts get it. */
export interface ShownProblem extends Pick<Place, "line" | "column" | "value"> {
  kind: Group;
  problem: string;
}

const mostShown = 1_000;

/** The first problems in sentences. For references that cannot be reused also how their rows can be sent. */
export async function shownProblems(all: Finding[], ledger: Ledger): Promise<ShownProblem[]> {
  const findings = all.slice(0, mostShown);
  const replacements = new Map<string, Awaited<ReturnType<typeof replacementOf>>>();
  for (const finding of findings)
    if (["reference-conflict", "reference-ended"].includes(groupOf(finding)))
      replacements.set(finding.value, await replacementOf(finding.value, ledger));
  const next = [...replacements.values()].flatMap((one) => (one ? [one.reference] : []));
  const { plans } = await ledger.references(next, { withPlans: true });
  return findings.map((finding) => {
    const { line, column, value } = finding;
    const replacement = replacements.get(value);
    const batch = replacement && plans.get(replacement.reference)?.[0]?.batch;
    const advice = replacement ? ` ${adviceFor(replacement, batch)}` : "";
    const problem = describeFinding(finding) + advice;
    return { kind: groupOf(finding), line, column, value, problem };
  });
}

/** @param batch the open batch that will send the new reference, if one will */
function adviceFor(
  { reference, isSent }: { reference: string; isSent: boolean },
  batch: string | undefined,
): string {
  if (isSent)
    return `The payout was already resent as ${reference}: run 'lenden ledger show ${inCommand(reference)}'.`;
  if (batch) return `Batch ${batch} will resend it with the new reference ${reference}.`;
  return `If the payout is still unpaid, use the new reference ${reference}.`;
}

/** The error of a file with problems, without the problems themselves; undefined if it has none. */
export async function problemsFailure(
  file: string,
  problems: Finding[],
  ledger: Pick<Ledger, "limits">,
): Promise<Failure | undefined> {
  const count = problems.length;
  if (count === 0) return undefined;
  const isOnlyTaken = problems.every((finding) => groupOf(finding) === "reference-conflict");
  const shown = count > mostShown ? `; the first ${mostShown} are shown` : "";
  const advice = problems.some(isAcceptable) ? ` ${await adviceOnRepeats(ledger)}` : "";
  return new Failure(
    isOnlyTaken ? "batch.references-used" : "batch.invalid-file",
    `${file} has ${counted(count, "problem")}${shown}.`,
    { hint: `Fix the file, then run the same command again.${advice}` },
  );
}

/** @throws Failure that lists the problems of a file, if it has any */
export async function rejectProblems(
  file: string,
  findings: Finding[],
  ledger: Ledger,
): Promise<void> {
  const failure = await problemsFailure(file, findings, ledger);
  if (!failure) return;
  const problems = (await shownProblems(findings, ledger)).map((shown) => {
    const { line, column, value, problem } = shown;
    const cell = `${column && `, ${column}`}${value && ` ${JSON.stringify(value)}`}`;
    return `line ${line}${cell}: ${problem}`;
  });
  throw new Failure(failure.reason, failure.message, { ...failure.details, problems });
}
