import { amountText, type Paisa } from "../domain/amount.ts";
import { sameMobile } from "../domain/mobile.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";
import { type Line, magnitude, recipientOf } from "./statement.ts";

/*
 * Compares the lines of a statement with operations. Pure: nothing is read, retrieved or recorded here.
 */

/** What is compared of an operation. */
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
  /** The amount of the line is that of the operation with or without the fee; absent if the fee is zero or they differ. */
  isNet?: boolean;
  /** Of an open line: the same in another copy of the statement. */
  digest?: string;
}

/**
 * The first line of each operation, by the operation's number; of a cancelled one its entry, because its money may be
 * returned. Numbers, because a statement of a year may name a million operations.
 */
export type FirstLines = Map<number, number | Entry>;

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

/**
 * Finds the operation of each line, by the API's ID or else by a payout's reference, and compares both.
 *
 * @param earlier the first lines of operations on earlier pages
 * @returns also the first lines on this page
 */
export function classify(
  lines: Line[],
  operations: Known[],
  earlier: FirstLines = new Map(),
): { entries: Entry[]; first: FirstLines } {
  const byId = new Map<string, Known[]>();
  for (const one of operations) {
    const named = byId.get(one.remoteId ?? "");
    if (named) named.push(one);
    else byId.set(one.remoteId ?? "", [one]);
  }
  const byReference = new Map(operations.map((one) => [one.reference ?? "", one]));
  const first: FirstLines = new Map();
  const entries = lines.map((line): Entry => {
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
    const number = Number(operation.number);
    const before = first.get(number) ?? earlier.get(number);
    if (before === undefined) {
      const compared = isUnsettled(operation) ? { differences: [] } : compare(line, operation);
      const differs = compared.differences.length > 0 ? "differs" : "matched";
      const result = isUnsettled(operation) ? "unknown-here" : differs;
      const found = { ...entry, result, operation, ...compared } as const;
      first.set(number, operation.status === "Cancelled" ? found : line.line);
      return found;
    }
    // Its fee has a line of its own.
    if (line.kind === "fee" && line.amountPaisa !== operation.amountPaisa)
      return { ...entry, result: "fee" };
    const firstLine = typeof before === "number" ? before : before.line.line;
    // The money of a cancelled payout is returned.
    if (typeof before !== "number" && isReturn(line, before)) {
      before.differences = before.differences.filter(({ field }) => field !== "status");
      if (before.differences.length === 0) before.result = "matched";
      return { ...entry, result: "matched", operation };
    }
    return { ...entry, result: "twice", operation, firstLine };
  });
  return { entries, first };
}

function isReturn(line: Line, sent: Entry): boolean {
  const { movementPaisa } = sent.line;
  return movementPaisa !== null && line.movementPaisa === -movementPaisa;
}

function compare(line: Line, operation: Known): Pick<Entry, "differences" | "isNet"> {
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
  const ours = amountPaisa === null ? null : directed(amountPaisa, kind);
  const fee = magnitude(line.feePaisa ?? 0n);
  const isNet = fee !== 0n && (shown + fee === ours || shown - fee === ours);
  if (!isNet) add("amount", signedText(shown), ours === null ? null : signedText(ours));
  if (state === "CONFIRMED") add("status", line.status ?? "Completed", status);
  const recipient = recipientOf(operation);
  if (line.recipient !== null && recipient !== undefined)
    if (sameMobile(recipient, line.recipient) === "different")
      add("recipient", line.recipient, recipient);
  const isCompared = fee !== 0n && (isNet || shown === ours);
  return { differences: found, ...(isCompared ? { isNet } : {}) };
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

/** What a line does to the balance. */
interface Step {
  line: number;
  balancePaisa: Paisa | null;
  /** Undefined if the statement does not show the direction. */
  movedPaisa: Paisa | undefined;
  feePaisa: Paisa;
  /** As that of the entry. */
  isNet: boolean | undefined;
}

/** Checks balances. A step is five numbers: a statement may have a million. */
export function createBalanceCheck() {
  const pages: BigInt64Array[] = [];
  let [hasBalance, hasNet, hasGross] = [false, false, false];

  const stepAt = (page: BigInt64Array, at: number): Step => {
    const [line = 0n, balance = 0n, moved = 0n, feePaisa = 0n, flags = 0n] = page.subarray(at);
    return {
      line: Number(line),
      balancePaisa: flags & 1n ? balance : null,
      movedPaisa: flags & 2n ? moved : undefined,
      feePaisa,
      isNet: flags & 4n ? true : flags & 8n ? false : undefined,
    };
  };

  function* steps(isNewestFirst: boolean): Iterable<Step> {
    for (const page of isNewestFirst ? pages.toReversed() : pages)
      for (let at = 0; at < page.length; at += 5)
        yield stepAt(page, isNewestFirst ? page.length - 5 - at : at);
  }

  return {
    add(entries: Entry[]): void {
      const page = new BigInt64Array(entries.length * 5);
      for (const [place, { line, isNet, operation }] of entries.entries()) {
        // Only what is Completed moves money.
        const isMoved = line.status === null || line.status === "Completed";
        const moved = isMoved ? movementOf(line, operation) : 0n;
        const flags =
          (line.balancePaisa === null ? 0n : 1n) +
          (moved === undefined ? 0n : 2n) +
          (isNet === undefined ? 0n : isNet ? 4n : 8n);
        const fee = isMoved ? magnitude(line.feePaisa ?? 0n) : 0n;
        page.set([BigInt(line.line), line.balancePaisa ?? 0n, moved ?? 0n, fee, flags], place * 5);
        hasBalance ||= line.balancePaisa !== null;
        hasNet ||= isNet === true;
        hasGross ||= isNet === false;
      }
      pages.push(page);
    },

    /**
     * Checks the balances to the paisa; undefined if the statement has none. A fee beside an amount reduces the
     * balance, and one that is in the amount does not.
     *
     * @param isNewestFirst the newest line is the first one
     */
    result(isNewestFirst: boolean): Balance | undefined {
      if (!hasBalance) return undefined;
      let running: Paisa | undefined;
      const balance: Balance = {
        ...{ opening: 0n, movements: 0n, fees: 0n, closing: 0n },
        brokenAt: null,
      };
      for (const step of steps(isNewestFirst)) {
        const { line, balancePaisa, movedPaisa, isNet = hasNet && !hasGross } = step;
        const feePaisa = isNet ? 0n : step.feePaisa;
        const before = running ?? (balancePaisa ?? 0n) - (movedPaisa ?? 0n) + feePaisa;
        const expected = movedPaisa === undefined ? undefined : before + movedPaisa - feePaisa;
        if (running === undefined && balancePaisa === null) {
          // The opening balance is found at the first line that has one.
          balance.opening -= (movedPaisa ?? 0n) - feePaisa;
        } else if (running === undefined) balance.opening += before;
        balance.movements += movedPaisa ?? 0n;
        balance.fees += feePaisa;
        if (balancePaisa !== null && balancePaisa !== expected)
          balance.brokenAt ??= { line, expected: expected ?? null, shown: balancePaisa };
        if (running !== undefined || balancePaisa !== null)
          running = balancePaisa ?? expected ?? before;
      }
      return { ...balance, closing: running ?? 0n };
    },
  };
}

/** What a line adds to the balance; undefined if the statement does not show the direction. */
function movementOf(line: Line, operation: Known | undefined): Paisa | undefined {
  if (line.amountPaisa === null) return 0n;
  const kind = operation?.kind ?? line.kind;
  return line.movementPaisa ?? (kind === null ? undefined : directed(line.amountPaisa, kind));
}
