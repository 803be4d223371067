import type { State } from "../domain/state.ts";
import type { Overlap } from "../ledger/ledger.ts";

/** Where a finding belongs in the file. */
export interface Place {
  line: number;
  /** The name of the column, and the text of the cell; empty for the line as a whole. */
  column: string;
  value: string;
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
  /** Another account of the production environment has this payout. */
  | { kind: "used-in-other-account"; id: string; state: State; at: string }
  /** Another payout, or a row of an open batch, has the same amount and recipient. */
  | Overlap;

/**
 * How a finding counts. `unreadable`: rows cannot even be compared with a plan. `rejected`: nothing is sent.
 * The others repeat a payout, which may be intended: `repeated` in the same file, `again` by another
 * reference, `other-account` by the same reference of another account.
 */
export type Weight = "unreadable" | "rejected" | "repeated" | "again" | "other-account";

export function weightOf(finding: Finding): Weight {
  switch (finding.kind) {
    case "cell":
    case "same-reference":
    case "total-too-large":
    case "sent-but-unknown":
      return "unreadable";
    case "same-recipient-in-file":
      return "repeated";
    case "paid-recently":
    case "outcome-unknown":
    case "planned":
      return "again";
    case "used-in-other-account":
      return finding.state === "CONFIRMED" ? "other-account" : "rejected";
    default:
      return "rejected";
  }
}

/** True if the user can accept it with --allow-duplicates. */
export function isAcceptable(finding: Finding): boolean {
  const weight = weightOf(finding);
  return weight !== "unreadable" && weight !== "rejected";
}
