import { createHash, hash } from "node:crypto";
import { isObject, jsonIn } from "../domain/json.ts";
import type { OperationEvent } from "./events.ts";
import type { Head } from "./position.ts";
import { numberIn, type Row, type TextRow, textOrNull, textRow } from "./values.ts";

/** An event of an operation or of the ledger as a whole. Events are never changed or deleted. */
export interface Event {
  /** Null for an account, a batch plan or an acceptance. */
  operation: bigint | null;
  /** The number of the batch that was planned. */
  batch?: bigint | null;
  /** ISO 8601. */
  at: string;
  event: string;
  /** JSON. */
  data: string;
}

export function eventOfOperation(operation: bigint, { at, event, data }: OperationEvent): Event {
  return { operation, at, event, data: JSON.stringify(data) };
}

/** In place of the hash before the first event. */
export const beginning = "0".repeat(64);

/** The hash of an event covers the hash before it, so that a change of the past is detected. */
export function hashOf(
  { operation, batch, at, event, data, commit_id: commitId }: TextRow,
  before: string,
): string {
  return hash("sha256", JSON.stringify([before, operation, batch, at, event, data, commitId]));
}

/**
 * The event of an account, a key or a batch plan. They do not change later, and the event has the whole row, so
 * that `ledger check` detects a change of any column.
 *
 * @param rows the digest of a plan's rows, by `rowsDigest`
 */
export function rowEvent(
  event: "account" | "key" | "plan",
  row: Row,
  at: string,
  rows?: string,
): Event {
  const batch = event === "plan" ? numberIn(row.number) : null;
  const data = JSON.stringify({ row: immutableColumns(row), rows });
  return { operation: null, batch, at, event, data };
}

/** All columns of a row as text, but for the process that works on it, and the login of who added it. */
export function immutableColumns({
  holder: _,
  process: _process,
  held_since: _since,
  login: _login,
  ...columns
}: Row): TextRow {
  return textRow(columns);
}

/** A digest of rows that are added one by one. */
interface RowsDigest {
  add(row: Row): void;
  value(): string;
}

/** The columns of a plan's row that `planDigest` covers. */
export const sentColumns = [
  ...["row", "reference", "amount_paisa", "recipient", "method_id", "name", "description"],
  "accepted",
];

/** Covers what is sent of every row of a plan, in its order. */
export function planDigest(): RowsDigest {
  const hash = createHash("sha256");
  return {
    add: (row) => {
      hash.update(JSON.stringify(sentColumns.map((name) => textOrNull(row[name]))));
    },
    value: () => hash.digest("hex"),
  };
}

/** The columns of a plan's row: all but its batch. A new column of the table needs a new kind of event. */
export const planColumns = [
  ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method", "name"],
  ...["description", "cells", "accepted", "recipient_key"],
];

/** Covers every column of every row of a plan. */
export function rowsDigest(): RowsDigest {
  const hash = createHash("sha256");
  return {
    add: (row) => hash.update(JSON.stringify(planColumns.map((name) => textOrNull(row[name])))),
    value: () => hash.digest("hex"),
  };
}

/** A user accepted the ledger as it is, although an earlier one knew more. The event is a record, and decides nothing. */
export interface Acceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** The problem: "missing", "empty", "truncated", "replaced" or "modified". */
  state: string;
  /** The digest of the findings in a modified ledger. */
  findings?: string;
  /** The event that it did not contain, if one was stored. */
  stored?: Head;
}

export function acceptanceEvent({ at, user, state, findings, stored }: Acceptance): Event {
  const head = stored && { number: String(stored.number), hash: stored.hash };
  const data = JSON.stringify({ user, state, findings, stored: head });
  return { operation: null, at, event: "accepted", data };
}

/** A user accepted that a ledger on a server does not know the operations of this ledger file. */
export interface FileAcceptance {
  /** ISO 8601. */
  at: string;
  user: string;
  /** The URL without a password. */
  server: string;
  environment: string;
}

export function fileAcceptanceEvent({ at, ...data }: FileAcceptance): Event {
  return { operation: null, at, event: "file-accepted", data: JSON.stringify(data) };
}

/** The acceptance that an event records, without the event that was not contained; null if it cannot be read. */
export function acceptanceOf(row: Row): Acceptance | null {
  const data = jsonIn(String(row.data))?.value;
  if (!isObject(data)) return null;
  const { user, state, findings } = data;
  if (typeof user !== "string" || typeof state !== "string") return null;
  return { at: String(row.at), user, state, ...(typeof findings === "string" && { findings }) };
}
