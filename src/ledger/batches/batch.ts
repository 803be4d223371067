import type { Paisa } from "../../contract/amount.ts";
import type { State } from "../../state.ts";
import type { Holder } from "../operation.ts";
import type { Again } from "../others.ts";

/** A file of payouts, as it was planned; the file itself is never read again. */
export interface Batch {
  number: bigint;
  /** Short, and the same on every machine: it comes from the file's bytes. */
  id: string;
  name: string;
  /** Of the file, without its folders. */
  fileName: string;
  /** SHA-256 of the file's bytes. */
  fileHash: string;
  /** The file's columns, as its header names them. */
  columns: string[];
  /** The method of rows that name none, as it was typed. */
  method: string | null;
  user: string;
  /** ISO 8601. */
  createdAt: string;
  holder: Holder | null;
  /** Null while it is being planned: nothing of it was sent then. */
  plan: Plan | null;
}

/** A file that is to become a batch. */
export interface BatchFile {
  /** The file's, unless somebody gave it another. */
  name: string;
  fileName: string;
  hash: string;
  columns: string[];
  method: string | null;
}

export interface Plan {
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
  name: string | null;
  description: string | null;
}

/** The whole row that it stands in. */
export interface PlannedRow extends PlannedPayout {
  /** From 1, in the order of the file. */
  row: number;
  /** The method as it was typed. */
  method: string;
  /** The cells as they stood in the file, in the order of its columns. */
  cells: string[];
  fingerprint: string;
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

/** Rows whose recipients get the same amount by something else too, and the first of them in words. */
export interface PaidElsewhere extends Again {
  first: { line: number; says: string }[];
}

/** How many rows stand in one state, and their sum. */
export interface Tally {
  /** Null: not begun. */
  state: State | null;
  status: string | null;
  count: number;
  sumPaisa: Paisa;
}
