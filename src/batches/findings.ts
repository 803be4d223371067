import type { State } from "../domain/state.ts";

/** A cell, or a line as a whole, that cannot be read. */
export interface CellProblem extends Place {
  kind: "cell";
  /** What is wrong, and what would be right. */
  problem: string;
}

/** Where a finding belongs in the file. */
export interface Place {
  line: number;
  /** The place of the column, from 1; 0 for the line as a whole. */
  place: number;
  /** The column's name, and the cell's text; empty for the line as a whole. */
  column: string;
  value: string;
}

/** Something about a file that the user has to correct or to accept. */
export type Finding =
  | CellProblem
  | (Place & { kind: "same-reference"; firstLine: number })
  | (Place & { kind: "total-too-large" })
  /** An export shows that the row was sent, and the ledger does not know its reference. */
  | (Place & { kind: "sent-but-unknown" })
  /** The ledger has the reference for a different payout. */
  | (Place & {
      kind: "reference-taken";
      reference: string;
      isUnresolved: boolean;
      isEnded: boolean;
    })
  /** The API has a different payout under the reference. */
  | (Place & { kind: "reference-in-conflict"; reference: string })
  /** An open batch has the reference for a different payout. */
  | (Place & { kind: "reference-planned"; reference: string; batch: string })
  /** The payout of this reference was rejected or cancelled. */
  | (Place & { kind: "reference-ended"; reference: string; ended: string; at: string })
  /** Another account of the production environment has this payout. */
  | (Place & { kind: "used-in-other-account"; id: string; state: State; at: string })
  | (Place & { kind: "same-recipient-in-file"; firstLine: number })
  | (Place & { kind: "paid-recently" | "outcome-unknown"; isOwnAccount: boolean } & Sent)
  | (Place & { kind: "planned"; isOwnAccount: boolean; batch: string; reference: string });

interface Sent {
  reference: string;
  at: string;
}

/**
 * How a finding counts. `unreadable`: rows cannot even be compared with a plan. `rejected`: nothing is sent.
 * `repeated` and `again`: the recipient gets the same amount more than once, which may be intended.
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
