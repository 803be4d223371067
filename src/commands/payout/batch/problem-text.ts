import { type Finding, weightOf } from "../../../batches/findings.ts";
import type { ComparedRow, Difference } from "../../../batches/identity.ts";
import { formatTime } from "../../../domain/local-time.ts";

/** The kind of a problem as scripts get it. */
export type ProblemKind =
  | "cell"
  | "repeated"
  | "again"
  | "taken"
  | "used"
  | "used-in-other-account";

export function kindOf(finding: Finding): ProblemKind {
  const weight = weightOf(finding);
  if (weight === "unreadable") return "cell";
  if (weight === "repeated" || weight === "again") return weight;
  if (finding.kind === "used-in-other-account") return finding.kind;
  return finding.kind === "reference-ended" ? "used" : "taken";
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

/** A difference in one line. */
export function describeDifference(difference: Difference, byReference: boolean): string {
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
