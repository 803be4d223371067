import { hash } from "node:crypto";
import { isObject, jsonIn } from "../domain/json.ts";
import type { OperationEvent } from "./events.ts";
import type { Head } from "./position.ts";
import { type Row, type TextRow, textRow } from "./values.ts";

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

/** The event of an account or a key. They never change, and the event has the whole row. */
export function rowEvent(event: "account" | "key", row: Row, at: string): Event {
  return { operation: null, at, event, data: JSON.stringify({ row: immutableColumns(row) }) };
}

/** All columns of a row as text, but for those that other events or none record. A seal is never shown. */
export function immutableColumns({
  holder: _,
  process: _process,
  held_since: _since,
  login: _login,
  cancelled_at: _cancelledAt,
  seal: _seal,
  reserved_paisa: _reserved,
  ...columns
}: Row): TextRow {
  return textRow(columns);
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
