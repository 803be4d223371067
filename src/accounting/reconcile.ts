import { amountText, type Paisa } from "../domain/amount.ts";
import { sameMobile } from "../domain/mobile.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";
import { type Line, magnitude, recipientOf } from "./statement.ts";

/*
 * Compares the lines of a statement with operations. Pure: nothing is read, retrieved or recorded here.
 */

/** What is compared of an operation: a statement of a year may name a million of them. */
export type Known = Pick<
  Operation,
  | ("number" | "id" | "kind" | "state" | "status" | "remoteId" | "reference" | "amountPaisa")
  | ("asked" | "createdAt" | "acceptedAt" | "completedAt")
>;

interface Difference {
  field: "state" | "id" | "reference" | "date" | "type" | "amount" | "status" | "recipient";
  statement: string;
  ledger: string;
}

export interface Entry {
  line: Line;
  /** Each line has one result. A line without an amount has only a balance. */
  result:
    | "matched"
    | "differs"
    | "twice"
    | "unknown-here"
    | "only-in-statement"
    | "fee"
    | "balance";
  operation: Known | undefined;
  differences: Difference[];
  /** Why a line that did not match is explained all the same. */
  explained?: "resolved" | "imported" | "accepted";
  /** Why a person accepted the operation. */
  reason?: string;
  /** Operations that the line may be. A person decides. */
  proposals: Operation[];
  /** For a line that is there twice, the first one. */
  firstLine?: number;
}

/** True if a line is neither explained nor contradicts the ledger. */
export function isOpen({ result, explained }: { result: string; explained?: string | null }) {
  return !explained && (result === "unknown-here" || result === "only-in-statement");
}

/** The IDs and references that lines name. */
export function namesIn(lines: Line[]): string[] {
  return [...new Set(lines.flatMap(({ id, reference }) => [id, reference]))].filter(
    (name) => name !== null,
  );
}

/** Finds the operation of each line, by the API's ID or else by a payout's reference, and compares both. */
export function classify(lines: Line[], operations: Known[]): Entry[] {
  const byId = new Map<string, Known[]>();
  for (const one of operations) {
    const named = byId.get(one.remoteId ?? "");
    if (named) named.push(one);
    else byId.set(one.remoteId ?? "", [one]);
  }
  const byReference = new Map(operations.map((one) => [one.reference ?? "", one]));
  const first = new Map<bigint, Entry>();
  return lines.map((line): Entry => {
    const entry: Entry = {
      ...{ line, result: "only-in-statement", operation: undefined },
      ...{ differences: [], proposals: [] },
    };
    const named = byId.get(line.id ?? " ") ?? [];
    const operation =
      named.find(({ kind }) => kind === line.kind) ??
      named[0] ??
      byReference.get(line.id ?? " ") ??
      byReference.get(line.reference ?? " ");
    if (!operation && line.amountPaisa === null) return { ...entry, result: "balance" };
    if (!operation) return line.kind === "fee" ? { ...entry, result: "fee" } : entry;
    const earlier = first.get(operation.number);
    if (!earlier) {
      const differences = isUnsettled(operation) ? [] : differencesOf(line, operation);
      const differs = differences.length > 0 ? "differs" : "matched";
      const result = isUnsettled(operation) ? "unknown-here" : differs;
      const found = { ...entry, result, operation, differences } as const;
      first.set(operation.number, found);
      return found;
    }
    // Its fee has a line of its own.
    if (line.kind === "fee" && line.amountPaisa !== operation.amountPaisa)
      return { ...entry, result: "fee" };
    // The money of a cancelled payout is returned.
    const { movementPaisa } = earlier.line;
    const isReturned = movementPaisa !== null && line.movementPaisa === -movementPaisa;
    if (operation.status === "Cancelled" && isReturned && earlier.result !== "twice") {
      earlier.differences = earlier.differences.filter(({ field }) => field !== "status");
      if (earlier.differences.length === 0) earlier.result = "matched";
      return { ...entry, result: "matched", operation };
    }
    return { ...entry, result: "twice", operation, firstLine: earlier.line.line };
  });
}

function differencesOf(line: Line, operation: Known): Difference[] {
  const { kind, state, status, remoteId, reference, amountPaisa } = operation;
  const found: Difference[] = [];
  const add = (field: Difference["field"], statement: string, ledger: string | null) => {
    if (statement !== (ledger ?? "none"))
      found.push({ field, statement, ledger: ledger ?? "none" });
  };
  if (state !== "CONFIRMED") add("state", "present", state);
  if (line.id !== null && line.id !== reference && remoteId !== null) add("id", line.id, remoteId);
  if (line.reference !== null && kind === "payout") add("reference", line.reference, reference);
  const { fromMs, toMs } = spanOf(operation);
  if (line.span && (line.span.toMs < fromMs - marginMs || line.span.fromMs > toMs + marginMs))
    add("date", line.date ?? "", operation.completedAt ?? operation.createdAt);
  if (line.kind !== null && line.kind !== "fee") add("type", line.kind, kind);
  const shown = line.movementPaisa ?? directed(line.amountPaisa ?? 0n, kind);
  const ours = amountPaisa === null ? null : signedText(directed(amountPaisa, kind));
  add("amount", signedText(shown), ours);
  if (state === "CONFIRMED") add("status", line.status ?? "Completed", status);
  const recipient = recipientOf(operation);
  if (line.recipient !== null && recipient !== undefined)
    if (sameMobile(recipient, line.recipient) === "different")
      add("recipient", line.recipient, recipient);
  return found;
}

/** A statement may date an operation by a day in another zone, or by the next working day. */
const marginMs = 3 * 86_400_000;

/** From when an operation was sent to when it was completed. An imported one was sent before it was recorded here. */
function spanOf({ createdAt, acceptedAt, completedAt }: Known) {
  const times = [createdAt, acceptedAt, completedAt].flatMap((at) => (at ? Date.parse(at) : []));
  const toMs = completedAt === null ? Number.POSITIVE_INFINITY : Date.parse(completedAt);
  return { fromMs: Math.min(...times), toMs };
}

/** The sign that the amount of an operation has for the merchant's balance. */
function directed(paisa: Paisa, kind: string): Paisa {
  return kind === "payment" ? paisa : -paisa;
}

export function signedText(paisa: Paisa): string {
  return `${paisa < 0n ? "-" : ""}${amountText(magnitude(paisa))}`;
}

/** True if a line that no ID or reference matches may be an operation that the statement lacks. */
export function mayBe({ kind, amountPaisa, recipient }: Line, operation: Operation): boolean {
  const ours = recipientOf(operation);
  const isSameRecipient =
    recipient === null || ours === undefined
      ? recipient === null && ours === undefined
      : sameMobile(ours, recipient) === "same";
  const isSameKind = kind === null || kind === operation.kind;
  return isSameKind && amountPaisa === operation.amountPaisa && isSameRecipient;
}

/** A statement's own arithmetic: opening balance and movements are the closing balance. */
export interface Balance {
  opening: Paisa;
  /** Without fees that the balance has beside the amounts. */
  movements: Paisa;
  fees: Paisa;
  closing: Paisa;
  /** The first line whose balance does not follow from the line before. */
  brokenAt: { line: number; expected: Paisa | null; shown: Paisa } | null;
}

/**
 * Checks the balances to the paisa; undefined if the statement has none. Only what is Completed moves money, and a
 * fee beside an amount reduces the balance. The newest line may be the first one.
 */
export function checkBalance(entries: Entry[]): Balance | undefined {
  if (entries.every(({ line }) => line.balancePaisa === null)) return undefined;
  const times = entries.flatMap(({ line }) => line.span?.fromMs ?? []);
  const isNewestFirst = (times[0] ?? 0) > (times.at(-1) ?? 0);
  let running: Paisa | undefined;
  const balance: Balance = {
    ...{ opening: 0n, movements: 0n, fees: 0n, closing: 0n },
    brokenAt: null,
  };
  for (const entry of isNewestFirst ? entries.toReversed() : entries) {
    const { line } = entry;
    const { balancePaisa } = line;
    const isMoved = line.status === null || line.status === "Completed";
    const moved = isMoved ? movementOf(entry) : 0n;
    const feePaisa = isMoved ? magnitude(line.feePaisa ?? 0n) : 0n;
    const before = running ?? (balancePaisa ?? 0n) - (moved ?? 0n) + feePaisa;
    const expected = moved === undefined ? undefined : before + moved - feePaisa;
    if (running === undefined && balancePaisa === null) {
      // The opening balance is found at the first line that has one.
      balance.opening -= (moved ?? 0n) - feePaisa;
    } else if (running === undefined) balance.opening += before;
    balance.movements += moved ?? 0n;
    balance.fees += feePaisa;
    if (balancePaisa !== null && balancePaisa !== expected)
      balance.brokenAt ??= { line: line.line, expected: expected ?? null, shown: balancePaisa };
    if (running !== undefined || balancePaisa !== null)
      running = balancePaisa ?? expected ?? before;
  }
  return { ...balance, closing: running ?? 0n };
}

/** What a line adds to the balance; undefined if the statement does not show the direction. */
function movementOf({ line, operation }: Entry): Paisa | undefined {
  if (line.amountPaisa === null) return 0n;
  const kind = operation?.kind ?? line.kind;
  return line.movementPaisa ?? (kind === null ? undefined : directed(line.amountPaisa, kind));
}
