import type { Paisa } from "../../contract/amount.ts";
import type { State } from "../../state.ts";
import type { Holder } from "../operation.ts";

/** A file of payouts as it was planned; from then on only the plan counts. */
export interface Batch {
  number: bigint;
  /** Short, and the same on every machine: derived from the identity. */
  id: string;
  /** The file's, unless it was given another one. */
  name: string;
  /** Of the file, without its directories. */
  fileName: string;
  /** SHA-256 of the file's bytes. */
  fileHash: string;
  /** Of its rows and its own name (`identityOf`); null for an old plan whose rows another one has too. */
  identity: string | null;
  /** The file's columns, as its header names them. */
  columns: string[];
  /** The method of rows that name none, as it was typed. */
  method: string | null;
  user: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601; from then on nothing of it is sent. */
  cancelledAt: string | null;
  holder: Holder | null;
  /** Null while it is being planned: nothing of it was sent then. */
  plan: Plan | null;
}

/** A file that becomes a batch. */
export interface BatchFile {
  /** The file's, unless it was given another one. */
  name: string;
  fileName: string;
  hash: string;
  identity: string;
  columns: string[];
  method: string | null;
}

interface Plan {
  rowCount: number;
  totalPaisa: Paisa;
  /** Covers every row, so that a plan that was altered is noticed. */
  digest: string;
}

/** One payout of a batch. */
export interface PlannedPayout {
  /** The line of the file on which it begins. */
  line: number;
  reference: string;
  amountPaisa: Paisa;
  /** As it goes on the wire. */
  recipient: string;
  methodId: string;
  /** The method as it was typed. */
  method: string;
  name: string | null;
  description: string | null;
  /** True if the recipient gets the same amount by another payout too, and the user accepted that. */
  isAccepted: boolean;
}

/** The whole row of the file. */
export interface PlannedRow extends PlannedPayout {
  /** From 1, in the order of the file. */
  row: number;
  /** The cells as they stood in the file, in the order of its columns. */
  cells: string[];
}

/** A row, and what came of it; everything is null that has not happened. */
export interface RowResult extends PlannedRow {
  state: State | null;
  payoutId: string | null;
  status: string | null;
  code: string | null;
  message: string | null;
  sentAt: string | null;
  updatedAt: string | null;
}

/** How many rows stand in one state, and their sum. */
export interface Tally {
  /** Null: not begun. */
  state: State | null;
  status: string | null;
  count: number;
  sumPaisa: Paisa;
}
