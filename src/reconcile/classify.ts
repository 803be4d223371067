import { amountText, magnitude, type Paisa, signedText } from "../domain/amount.ts";
import { sameMobile } from "../domain/mobile.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";
import { plainText } from "../tables/plain.ts";
import type { Line } from "./lines.ts";
import { recipientOf } from "./recognize.ts";

/*
 * Compares the lines of a statement with operations. Pure: nothing is read, retrieved or recorded here.
 */

/** What is compared of an operation. */
export type Known = Pick<
  Operation,
  | ("number" | "id" | "kind" | "state" | "status" | "remoteId" | "reference" | "amountPaisa")
  | ("asked" | "createdAt" | "acceptedAt" | "completedAt" | "login")
>;

/** What can differ between a line and its operation. */
export const differenceFields = [
  "state",
  "id",
  "reference",
  "date",
  "type",
  "amount",
  "status",
  "recipient",
  "currency",
] as const;

export interface Difference {
  field: (typeof differenceFields)[number];
  statement: string;
  ledger: string;
}

/** Each line has one result. A line without an amount has only a balance. */
export const results = [
  "matched",
  "differs",
  "twice",
  "unknown-here",
  "only-in-statement",
  "fee",
  "balance",
] as const;

/** A line that was compared, as far as a later line can change its result. */
export interface Compared {
  line: Pick<Line, "line" | "kind" | "amountPaisa" | "movementPaisa" | "feePaisa" | "currency">;
  result: (typeof results)[number];
  operation: Pick<Known, "number" | "id" | "kind" | "status" | "amountPaisa" | "login"> | undefined;
  differences: Difference[];
  /** The amount of the line is that of the operation with or without the fee; absent if the fee is zero or they differ. */
  isNet?: boolean | undefined;
  /** For a line that is there twice, the first one. */
  firstLine?: number | null;
}

export interface Entry extends Compared {
  line: Line;
  operation: Known | undefined;
  /** Why a line that did not match is explained all the same. */
  explained?: "resolved" | "imported";
  /** Why the API's record of the line is not recorded. */
  reason?: string;
}

/**
 * The first line of each operation, by the operation's number. What was compared if a later line may change its
 * result: of a cancelled payout until its money is returned, and of one that differs, because a later line may match.
 */
export interface FirstLines {
  get(number: number): number | Compared | undefined;
  /** @param line zero: none */
  set(number: number, line: number | Compared): void;
}

const numbersAtOnce = 1_024;
/** Marks a line whose result may change. No statement has as many lines. */
const changeable = 2 ** 31;

/**
 * First lines in four bytes each: a statement of a year may name a million operations.
 *
 * @param compared reads what was stored of a line
 */
export function createFirstLines(compared: (line: number) => Compared | undefined): FirstLines {
  const pages = new Map<number, Uint32Array>();
  const placeOf = (number: number) =>
    [Math.floor(number / numbersAtOnce), number % numbersAtOnce] as const;
  return {
    get(number) {
      const [page, place] = placeOf(number);
      const line = pages.get(page)?.[place] || undefined;
      return line === undefined || line < changeable ? line : compared(line - changeable);
    },
    set(number, line) {
      const [at, place] = placeOf(number);
      const page = pages.get(at) ?? new Uint32Array(numbersAtOnce);
      page[place] = typeof line === "number" ? line : changeable + line.line.line;
      pages.set(at, page);
    },
  };
}

/** True if a line is neither explained nor contradicts the ledger. */
export function isOpen({ result, explained }: { result: string; explained?: string | null }) {
  return !explained && (result === "unknown-here" || result === "only-in-statement");
}

/** The IDs and references that lines name. */
export function namesIn(lines: Line[]): string[] {
  return [
    ...new Set(lines.flatMap(({ id, reference, mentions }) => [id, reference, ...mentions])),
  ].filter((name) => name !== null);
}

/**
 * Finds the operation of each line, by the API's ID or else by a payout's reference, and compares both.
 *
 * @param earlier the first lines of operations on earlier pages
 * @returns also the first lines on this page, and those of earlier pages whose results changed
 */
export function classify(
  lines: Line[],
  operations: Known[],
  earlier: FirstLines = new Map(),
): { entries: Entry[]; first: Map<number, number | Compared>; changed: Set<Compared> } {
  const byId = new Map<string, Known[]>();
  for (const one of operations) {
    const named = byId.get(one.remoteId ?? "");
    if (named) named.push(one);
    else byId.set(one.remoteId ?? "", [one]);
  }
  const byReference = new Map(operations.map((one) => [one.reference ?? "", one]));
  /** The only operation that the texts of a line name. */
  const mentioned = ({ mentions }: Line): Known | undefined => {
    const found = mentions.flatMap((name) => byId.get(name) ?? byReference.get(name) ?? []);
    return new Set(found).size === 1 ? found[0] : undefined;
  };
  const first = new Map<number, number | Compared>();
  const changed = new Set<Compared>();
  const entries = lines.map((line): Entry => {
    const entry: Entry = {
      ...{ line, result: "only-in-statement", operation: undefined, differences: [] },
    };
    const named = byId.get(line.id ?? " ") ?? [];
    const exact =
      named.find(({ kind }) => kind === line.kind) ??
      named[0] ??
      byReference.get(line.id ?? " ") ??
      byReference.get(line.reference ?? " ");
    const operation = exact ?? mentioned(line);
    // Money in another currency is neither a fee nor a balance of this account.
    if (!operation && line.currency !== null) return entry;
    if (!operation && line.amountPaisa === null) return { ...entry, result: "balance" };
    if (!operation) return line.kind === "fee" ? { ...entry, result: "fee" } : entry;
    const number = Number(operation.number);
    const before = first.get(number) ?? earlier.get(number);
    const found = comparedEntry({ ...entry, line: asFee(line, operation) }, operation, !exact);
    const shown = withDirection(line, operation);
    // Without signs, a reversal is what the operation is not.
    if (operation.status === "Cancelled") found.line = shown;
    const isFee = isFeeOf(found, operation);
    const isFeeAbove = typeof before === "object" && isFeeOf(before, operation) && !isFee;
    if (isFeeAbove) {
      Object.assign(before, {
        result: "fee",
        operation: undefined,
        differences: [],
        isNet: undefined,
      });
      changed.add(before);
    }
    // What the line is may change with a later one.
    const isCancelled = operation.status === "Cancelled";
    const mayChange = isCancelled || isFee || found.result === "differs";
    if (before === undefined || isFeeAbove) {
      first.set(number, mayChange ? found : line.line);
      return found;
    }
    if (isFee) return { ...entry, line: found.line, result: "fee" };
    if (isCancelled && typeof before === "object" && isReturn(shown, before, operation)) {
      const isSent = isSentBy(shown.movementPaisa ?? 0n, operation.kind);
      const [sent, returned] = isSent ? [found, before] : [before, found];
      Object.assign(returned, { result: "matched", differences: [] });
      Object.assign(sent, withoutReturnedFee(sent, returned.line));
      sent.differences = sent.differences.filter(({ field }) => field !== "status");
      if (sent.differences.length === 0) sent.result = "matched";
      changed.add(before);
      // The money is returned only once.
      first.set(number, sent.line.line);
      return found;
    }
    if (typeof before === "object" && before.result === "differs" && found.result === "matched") {
      // The line that matches is the operation's own, also below one that does not.
      const second = { result: "twice", differences: [], isNet: undefined, firstLine: line.line };
      changed.add(Object.assign(before, second));
      first.set(number, mayChange ? found : line.line);
      return found;
    }
    return { ...entry, line: shown, result: "twice", operation, firstLine: lineOf(before) };
  });
  // Those of this page are in the entries.
  for (const entry of entries) changed.delete(entry);
  return { entries, first, changed };
}

/** In a file without signs, a line moves money as its operation does; a reversal moves it back. */
function withDirection(line: Line, { kind }: Known): Line {
  const { movementPaisa, amountPaisa, words } = line;
  if (movementPaisa !== null || amountPaisa === null) return line;
  const moved = directed(amountPaisa, kind);
  return { ...line, movementPaisa: words?.isBack ? -moved : moved };
}

/** The number of a first line. */
function lineOf(first: number | Compared): number {
  return typeof first === "number" ? first : first.line.line;
}

/** @param isMentioned among other words, which are not compared */
function comparedEntry(entry: Entry, operation: Known, isMentioned: boolean): Entry {
  if (isUnsettled(operation)) return { ...entry, result: "unknown-here", operation };
  const { line } = entry;
  const compared = compare(isMentioned ? { ...line, id: null, reference: null } : line, operation);
  const result = compared.differences.length > 0 ? "differs" : "matched";
  return { ...entry, result, operation, ...compared };
}

/** A line that names a fee and has less than the amount of its operation, in the direction of fees. */
function asFee(line: Line, { kind, amountPaisa }: Known): Line {
  const isLess = (line.amountPaisa ?? 0n) < (amountPaisa ?? 0n);
  const { movementPaisa } = line;
  const isTaken = movementPaisa === null ? kind !== "payment" : movementPaisa < 0n;
  return line.hasFeeWord && isLess && isTaken ? { ...line, kind: "fee" } : line;
}

/** True if a line is the fee of an operation by its words and its amount. The operation has a line of its own. */
export function isFeeOf(
  { line, result }: Compared,
  { amountPaisa }: Pick<Known, "amountPaisa">,
): boolean {
  if (line.currency !== null) return false;
  return line.kind === "fee" && line.amountPaisa !== amountPaisa && result !== "matched";
}

/** True if a line has the money of a cancelled payout in the other direction. The newest line may be the first one. */
function isReturn(line: Line, before: Compared, operation: Known): boolean {
  const [one, other] = [line.movementPaisa, before.line.movementPaisa];
  if (before.line.currency !== null || line.currency !== null) return false;
  if (one === null || other === null) return false;
  const own = ownMovementOf({ ...line, movementPaisa: one }, operation);
  return (
    own === -ownMovementOf({ ...before.line, movementPaisa: other }, operation) || one === -other
  );
}

/** A fee in an amount that came back whole was not taken. */
export function withoutReturnedFee<Sent extends Pick<Compared, "line" | "isNet">>(
  sent: Sent,
  returned: Moved,
): Sent {
  const { movementPaisa } = sent.line;
  const isWhole = movementPaisa !== null && returned.movementPaisa === -movementPaisa;
  if (!sent.isNet || !isWhole || returned.feePaisa) return sent;
  return { ...sent, line: { ...sent.line, feePaisa: null } };
}

type Moved = Pick<Line, "amountPaisa" | "movementPaisa" | "feePaisa">;

/** What moved without the fee, if that is the amount of the operation. */
export function ownMovementOf(
  { movementPaisa, feePaisa }: Moved & { movementPaisa: Paisa },
  { amountPaisa }: Pick<Known, "amountPaisa">,
): Paisa {
  const own = movementPaisa + magnitude(feePaisa ?? 0n);
  return magnitude(own) === amountPaisa ? own : movementPaisa;
}

/** True for the amount of an operation, with or without the fee. */
export function movesAmountOf(
  line: Moved,
  operation: Pick<Known, "kind" | "amountPaisa">,
): boolean {
  const movementPaisa = line.movementPaisa ?? directed(line.amountPaisa ?? 0n, operation.kind);
  return magnitude(ownMovementOf({ ...line, movementPaisa }, operation)) === operation.amountPaisa;
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
  const { words } = line;
  const isOdd = words?.isOdd || (words?.isRefund && kind !== "refund");
  // A reversal is what a cancelled operation has. Its status is compared.
  if (isOdd && status !== "Cancelled") add("type", words?.text || "none", kind);
  else if (line.kind !== null && line.kind !== "fee") add("type", line.kind, kind);
  const shown = line.movementPaisa ?? directed(line.amountPaisa ?? 0n, kind);
  const ours = amountPaisa === null ? null : directed(amountPaisa, kind);
  const fee = magnitude(line.feePaisa ?? 0n);
  // The fee increases what leaves, and reduces what arrives.
  const isNet = fee !== 0n && shown + fee === ours;
  if (!isNet) add("amount", signedText(shown), ours === null ? null : signedText(ours));
  if (line.currency !== null) add("currency", line.currency, "BDT");
  if (state === "CONFIRMED") add("status", line.status ?? "Completed", status);
  const recipient = recipientOf(operation);
  if (line.recipient !== null && recipient !== undefined)
    if (sameMobile(recipient, line.recipient) === "different")
      add("recipient", line.recipient, recipient);
  const isCompared = fee !== 0n && (isNet || shown === ours);
  return { differences: found, ...(isCompared ? { isNet } : {}) };
}

/** A line that is net in a statement of gross amounts, or gross in one of net amounts: it is wrong by its own fee. */
export function differingByFee(entry: Compared, isNetStatement: boolean): Compared {
  const { line, operation, differences } = entry;
  const { kind = "payment", amountPaisa = null } = operation ?? {};
  const shown = signedText(line.movementPaisa ?? directed(line.amountPaisa ?? 0n, kind));
  const fee = amountText(magnitude(line.feePaisa ?? 0n));
  // Without its fee, the amount is that of the ledger.
  const statement = isNetStatement ? `${shown} without its fee of ${fee}` : shown;
  const ledger = signedText(directed(amountPaisa ?? 0n, kind));
  const amount = { field: "amount", statement, ledger } as const;
  return { ...entry, result: "differs", differences: [...differences, amount] };
}

/** A statement may date an operation by a day in another zone, or by the next working day. */
const dayMs = 86_400_000;
const marginMs = 3 * dayMs;

/** From when an operation was sent to when it was completed. An imported one was sent before it was recorded here. */
function spanOf({ createdAt, acceptedAt, completedAt }: Known) {
  const times = [createdAt, acceptedAt, completedAt].flatMap((at) => (at ? Date.parse(at) : []));
  const toMs = completedAt === null ? Number.POSITIVE_INFINITY : Date.parse(completedAt);
  return { fromMs: Math.min(...times), toMs };
}

/** The sign that the amount of an operation has for the merchant's balance. */
export function directed(paisa: Paisa, kind: string): Paisa {
  return kind === "payment" ? paisa : -paisa;
}

/** What a line shows that no ID or reference matches, if it is of an operation. */
export interface Sought {
  movementPaisa: Paisa;
  /** Null for any. */
  kind: string | null;
  /** Null for a line that has no number. */
  recipients: (string | null)[];
  /** Stands for the number. */
  name?: string | undefined;
  /** ISO 8601, inclusive. */
  fromAt: string;
  toAt: string;
  /** True for money that came back. */
  isReturn: boolean;
}

/** The line of an operation that the statement lacks. */
export function soughtOf(operation: Operation): Sought {
  const { kind, amountPaisa, asked } = operation;
  const { fromMs, toMs } = spanOf(operation);
  const payer = kind === "payment" ? asked.suggestedPayerNumber : undefined;
  const payers = typeof payer === "string" ? [payer] : [];
  return {
    ...{ kind, isReturn: false, movementPaisa: directed(amountPaisa ?? 0n, kind) },
    recipients: [recipientOf(operation) ?? null, ...payers],
    // A line is dated by the beginning of its day.
    ...{ fromAt: isoOf(fromMs - marginMs - dayMs), toAt: isoOf(toMs + marginMs) },
  };
}

/** The line with the money of a cancelled operation in the other direction, as the line of one half shows it. */
export function otherHalfOf(
  { movementPaisa, at }: { movementPaisa: Paisa; at: string | null },
  operation: Operation,
): Sought {
  const { kind, asked } = operation;
  const isReturn = isSentBy(movementPaisa, kind);
  const { recipientName: name } = asked;
  return {
    ...{ kind: null, isReturn, movementPaisa: -movementPaisa },
    recipients: [null, recipientOf(operation) ?? null],
    name: typeof name === "string" ? name : undefined,
    fromAt: (isReturn && at) || isoOf(0),
    toAt: (!isReturn && at) || isoOf(Number.POSITIVE_INFINITY),
  };
}

/** True if money moves as an operation of a kind moves it, and does not come back. */
export function isSentBy(movementPaisa: Paisa, kind: string): boolean {
  return directed(movementPaisa, kind) > 0n;
}

export function fits(
  line: Pick<Line, "kind" | "amountPaisa" | "movementPaisa" | "recipient" | "numbers"> & {
    at: string | null;
    isBack: boolean;
  },
  { movementPaisa, kind, recipients, name, fromAt, toAt, isReturn }: Sought,
): boolean {
  const named = line.recipient === null ? line.numbers : [line.recipient];
  // A text may have the number of a payer whom lenden does not know.
  const isUnknown = line.recipient === null && recipients.every((one) => one === null);
  const isSame = (ours: string | null) =>
    ours === null
      ? named.length === 0 || isUnknown
      : named.some((one) => sameMobile(ours, one) === "same");
  return (
    (line.kind === null || kind === null || line.kind === kind) &&
    (line.movementPaisa === null
      ? line.isBack === isReturn
      : line.movementPaisa === movementPaisa) &&
    line.amountPaisa === magnitude(movementPaisa) &&
    (line.at === null || (line.at >= fromAt && line.at <= toAt)) &&
    (recipients.some(isSame) || (name !== undefined && isSameName(name, line.recipient)))
  );
}

function isSameName(name: string, other: string | null): boolean {
  const plain = (text: string) => plainText(text).normalize("NFC").toLowerCase();
  return other !== null && plain(name) === plain(other);
}

/** The last moment that has a text of the usual length is later than any statement. */
function isoOf(ms: number): string {
  return new Date(Math.min(ms, Date.UTC(9999, 0))).toISOString();
}
