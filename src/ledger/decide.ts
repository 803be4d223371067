import type { Paisa } from "../domain/amount.ts";
import { scalarText } from "../domain/json.ts";
import { isSameNumber, payeeOf, sameMobile } from "../domain/mobile.ts";
import { isGeneratedReference } from "../domain/reference.ts";
import {
  isCorrectable,
  isDiffering,
  isFree,
  isTest,
  isUnresolved,
  isUnsettled,
  type Phase,
  phaseOf,
  testCommand,
} from "../domain/state.ts";
import { hasEnded } from "../domain/statuses.ts";
import { type FieldFrom, payerOf, type Recorded, recipientOf } from "./columns.ts";
import {
  askedBy,
  type Denial,
  denialOf,
  excessOf,
  type LimitFacts,
  type Sender,
  type Use,
  withoutUses,
} from "./limits.ts";
import type {
  FoundOperation,
  Holder,
  Intent,
  Operation,
  Outcome,
  RefundSums,
} from "./operation.ts";
import { orderIn, type Sealer, sealOf } from "./seal.ts";

/**
 * Every decision of the ledger: who may send what, and what is recorded of it. Pure: a store reads the
 * facts under its write lock, asks here, and writes what the answer says. All stores share it.
 */

/** An accepted payout of the same amount to the same recipient counts as a duplicate for this long. */
const duplicateWindowMs = 24 * 60 * 60_000;
/** A rejected refund counts as a duplicate of one that is sent at a moment if it was rejected since then. ISO 8601. */
export function rejectionsSince(sentAtMs: number): string {
  return new Date(sentAtMs - rejectionWindowMs).toISOString();
}

/** A payment that is still Processing counts as a duplicate for this long. */
const paymentWindowMs = 10 * 60_000;
/** The API may have created what it rejected: the same refund needs a decision for this long. */
const rejectionWindowMs = 10 * 60_000;

/**
 * The effect of a duplicate: `reject` without a reference of the caller's choice; `reject-if-unknown` with
 * one, which is a decision; `send` if the caller accepted duplicates.
 */
type OnDuplicate = "reject" | "reject-if-unknown" | "send";

export interface ClaimRequest {
  kind: "claim";
  intent: Intent;
  onDuplicate: OnDuplicate;
  /** True if the reference was made for this payout, and not chosen: it may give way to another one. */
  isReferenceMade?: boolean;
  /** For a refund, the amount of its payment, as the API returned it. */
  paidPaisa?: Paisa;
  /**
   * The outcome of an operation that lenden did not send, by the record that was retrieved: both are recorded in
   * one transaction, and nothing is sent.
   */
  found?: Outcome;
  /** Seals the order. Every claim of a payout that may be sent has one, a preview does not. */
  sealer?: Sealer;
  /** The ID of the batch that a payout is a row of. */
  batchId?: string;
  /** When that batch was planned, ISO 8601: what was sent since a day before it is a duplicate. */
  plannedAt?: string;
}

/** A limit for everyone, or that agents repeat nothing. */
export type RejectsRepeats = "of-all" | "of-agents";

export function rejectsRepeatsOf({
  limits,
  isAgent,
}: Pick<LimitFacts, "limits"> & Pick<Sender, "isAgent">): RejectsRepeats | undefined {
  if (limits.rejectsRepeats) return "of-all";
  return isAgent ? "of-agents" : undefined;
}

/** A row of a batch that was not sent yet. */
export interface PlannedRow {
  /** The batch's ID. */
  batch: string;
  reference: string;
}

/** The facts about a claim that a store reads under its write lock. */
export interface ClaimFacts {
  nowMs: number;
  /** The account's name, and the hash of the key of this run. */
  account: string;
  keyHash: string;
  environment: string;
  /** True if the run only tests the API. */
  isTest: boolean;
  /** The account's operation with the reference. */
  same: FoundOperation | undefined;
  /** The process that works on it, if that still runs. */
  holder: Holder | undefined;
  /** The operation that created a record that was found; in production: of any account. */
  ofRecord?: FoundOperation | undefined;
  /**
   * Operations that the intent may repeat, in any order; more than necessary does no harm. In production:
   * of the whole environment; in a sandbox: of the account.
   */
  similar: FoundOperation[];
  /** The account's operations by the references that the reference replaces. */
  replaced: FoundOperation[];
  /** A row that an open batch is still to send: of this reference, or of this amount and recipient. */
  planned: PlannedRow | undefined;
  /** True if several batches have a row of this reference. */
  isShared?: boolean;
  /** Whose payouts repeat no other one, by a limit; undefined if they may. */
  rejectsRepeats?: RejectsRepeats | undefined;
  /** Undefined if no limit judges the claim: of the row of a batch, whose plan was judged, and of what is only recorded. */
  limits?: (LimitFacts & Sender) | undefined;
}

export type ClaimDecision =
  /** `earlier`: an operation that this one may repeat, worth a warning; `declared`: one that others resolved. */
  | {
      kind: "new";
      target: string | null;
      earlier: Operation | undefined;
      declared?: FoundOperation;
    }
  /**
   * `isReopened`: it was proved not sent, or was rejected and its reference may be sent again. A payout whose
   * reference was made for it may be resumed by another one.
   */
  | {
      kind: "resumed";
      operation: FoundOperation;
      isReopened: boolean;
      earlier: Operation | undefined;
      declared?: FoundOperation;
    }
  | { kind: "finished"; operation: Operation }
  /** The reference belongs to a different payout. */
  | { kind: "different"; operation: Operation }
  | { kind: "locked"; operation: Operation; holder: Holder }
  /** Its outcome is unknown, and another API key sent it (P25b). */
  | { kind: "other-key"; operation: Operation }
  /** Another login recorded it, and no holder of the payout secret ordered it: a writer may have planted it. */
  | { kind: "not-sealed"; operation: FoundOperation }
  | { kind: "duplicate"; earlier: Operation }
  /** A limit, or that for agents alone, does not let the same amount to the same recipient be sent again. */
  | { kind: "repeat"; earlier: FoundOperation; isOfAgents: boolean }
  /** `isFinal`: a limit does not let it be repeated either. */
  | { kind: "planned"; row: PlannedRow; isFinal: boolean }
  | Denial
  /** `live`: the refunds of the payment that count, oldest first. */
  | { kind: "over-limit"; live: Operation[]; refundablePaisa: Paisa };

/** Decides who may send an intent. */
export function decideClaim(request: ClaimRequest, facts: ClaimFacts): ClaimDecision {
  const { intent } = request;
  const { same, holder } = facts;
  if (request.found) return decideFound(request.found, intent, facts);
  if (same) {
    if (!isSameOrder(same, intent, facts)) return { kind: "different", operation: same };
    if (holder) return { kind: "locked", operation: same, holder };
    const isRow = (intent.batch ?? null) !== null;
    const mayBeSent =
      isUnsettled(same) || isFree(same) || (!isRow && isRepeatable(same, facts.nowMs));
    if (!mayBeSent) return { kind: "finished", operation: same };
    if (!wasOrdered(same, request)) return { kind: "not-sealed", operation: same };
    if (isUnsettled(same)) {
      if (!isOfKey(same, facts.keyHash)) return { kind: "other-key", operation: same };
      const asked = { ...request, nowMs: facts.nowMs };
      const checked = wasChecked(same, asked) ? noEarlier : checkDuplicates(request, facts);
      if ("kind" in checked) return checked;
      const denial = facts.limits && judgeAgain(same, asked, facts.limits);
      if (denial) return denial;
      return { kind: "resumed", operation: same, isReopened: false, ...checked };
    }
  }
  const checked = checkDuplicates(request, facts);
  if ("kind" in checked) return checked;
  const { earlier } = checked;
  const free = same ?? freeBefore(request, facts);
  const counted = free && isPaidAgain(free, facts.keyHash) ? undefined : free;
  const denial = facts.limits && judgeBeside(counted, intent, facts.limits);
  if (denial) return denial;
  if (free) return { kind: "resumed", operation: free, isReopened: true, earlier };
  return { kind: "new", target: intent.target ?? cancelledBefore(intent, facts), earlier };
}

/** A writer may add an operation with the reference of an order that counts neither for limits nor as a duplicate. */
function isSameOrder(same: FoundOperation, intent: Intent, facts: ClaimFacts): boolean {
  return (
    isSamePayout(payoutOf(same), payoutOf(intent)) &&
    same.kind === intent.kind &&
    same.environment === facts.environment &&
    isTest(same) === facts.isTest
  );
}

/**
 * True if the login of this run ordered an operation, or a holder of the payout secret did: what anyone else added to a
 * shared ledger is not sent again.
 */
function wasOrdered(one: FoundOperation, { sealer }: Pick<ClaimRequest, "sealer">): boolean {
  return one.orderedAt !== undefined || isSealedBy(sealer, one);
}

const noEarlier = { earlier: undefined };

/** What says whether an operation was checked. */
interface Asked extends Pick<ClaimRequest, "sealer"> {
  nowMs: number;
}

/**
 * True if limits and the checks for duplicates let an unsettled payout through when this login ordered it. A seal shows
 * that its orders are those of lenden. Others may have copied what they sealed, and what they add orders nothing.
 */
export function wasChecked(same: FoundOperation, { sealer, nowMs }: Asked): boolean {
  const isOrdered = same.orderedAt !== undefined && isSealedBy(sealer, same);
  return isOrdered && !isAhead(same.openedAt, nowMs) && isUnsettledWithoutOthers(same);
}

/** More than the API tolerates between its clock and that of a machine which sends payouts. */
const mostAheadMs = 5 * 60_000;

/** True for what was checked by a clock that was ahead: the last day was another one. */
export function isAhead(createdAt: string, nowMs: number): boolean {
  return Date.parse(createdAt) > nowMs + mostAheadMs;
}

/** True if only others say that it paid nothing: it is sent again like one of unknown outcome. */
export function isFreedByOthers(one: FoundOperation): boolean {
  return !mayHavePaid(one) && mayHavePaid(withoutOthers(one));
}

/** True if it may be paid twice when it is sent again: with another key, the API may not know its reference. */
export function isPaidAgain(one: FoundOperation, ownKeyHash: string): boolean {
  return isFreedByOthers(one) && !isOfKey(one, ownKeyHash);
}

/** A preview has no sealer. */
function isSealedBy(sealer: Sealer | undefined, one: FoundOperation): boolean {
  return sealer ? hasValidSeal(one, sealer) : one.seal !== null;
}

/** An operation without the events of others. */
export function withoutOthers(one: FoundOperation): FoundOperation {
  return { ...one, ...one.others?.without };
}

function isUnsettledWithoutOthers({ others, ...one }: FoundOperation): boolean {
  return others ? others.isUnsettled : isUnsettled(one);
}

/** The newest change of an operation, with and without the events of others: whoever adds one writes its time. */
function changedAt(one: FoundOperation): string {
  const { updatedAt } = withoutOthers(one);
  return updatedAt > one.updatedAt ? updatedAt : one.updatedAt;
}

/**
 * True if limits did not judge the row of a batch with its plan: it had a payout that was not free then. Whoever sealed
 * the plan again judged no other rows than were free.
 *
 * @param plans the places in the chain of the events that planned the batch, or sealed its plan again
 */
export function isUnjudgedRow(same: FoundOperation, request: Asked, plans: number[]): boolean {
  if (isUnsettled(same)) return !wasChecked(same, request);
  return isFree(same) && !plans.every((place) => wasFreeAt(place, same));
}

/** True if an operation was free, or not yet recorded, at a place in the chain. */
function wasFreeAt(place: number, { freeStates }: Pick<FoundOperation, "freeStates">): boolean {
  return freeStates.findLast((one) => one.place < place)?.isFree ?? true;
}

/** Why a payout of unknown outcome is not sent again. It counts already, if this is what counts. */
export function judgeAgain(
  same: FoundOperation,
  request: Asked & Pick<ClaimRequest, "intent">,
  facts: LimitFacts & Sender,
): Denial | undefined {
  if (wasChecked(same, request)) return denialOf(facts.limits, facts);
  return judgeBeside(same, request.intent, facts);
}

/** The claim that a payout of unknown outcome would be, which is sent again unchanged. */
export function claimOfResumed(one: FoundOperation, sealer: Sealer): ClaimRequest {
  const { batchId, reference } = one;
  return {
    kind: "claim",
    intent: { ...one, asked: one.lastAsked },
    // A row's reference was not chosen for a second payout.
    onDuplicate:
      batchId !== null || isGeneratedReference(reference ?? "") ? "reject" : "reject-if-unknown",
    sealer,
    ...(batchId !== null && { batchId }),
  };
}

/** The limits of a payout or a refund. What counts of the operation that it is sent as counts once. */
function judgeBeside(
  same: Operation | undefined,
  intent: Intent,
  facts: LimitFacts & Sender,
): Denial | undefined {
  const payee = recipientOf(intent);
  const isSame = ({ operation }: Use) => same !== undefined && operation === same.number;
  const excess = excessOf(askedBy(intent, facts.isAgent), withoutUses(facts, isSame, payee), payee);
  return denialOf(facts.limits, facts) ?? (excess && { kind: "above-limit", excess });
}

/** P25b: true if no other key may have sent it. */
export function isOfKey({ trusted }: Pick<FoundOperation, "trusted">, own: string): boolean {
  return trusted.keyHash === own;
}

/** The newest cancelled payout of the account with the same amount, recipient and method (P24). */
function cancelledBefore(intent: Intent, { account, similar }: ClaimFacts): string | null {
  if (intent.kind !== "payout") return null;
  const isFound = (one: Operation) =>
    one.account === account &&
    !isTest(one) &&
    one.state === "CONFIRMED" &&
    one.status === "Cancelled" &&
    isSamePayout(payoutOf(one), payoutOf(intent));
  return similar.filter(isFound).sort(rejectedThenNewest)[0]?.id ?? null;
}

/**
 * P17: an API may create the payout that it rejects. For a day, the same payout is sent again with the same reference,
 * if lenden generated it: then the API returns what it created. One that a user or a file gave is retired.
 */
function isRepeatable(one: FoundOperation, nowMs: number): boolean {
  return (
    one.state === "REFUSED" &&
    one.batch === null &&
    !isTest(one) &&
    isGeneratedReference(one.reference ?? "") &&
    changedAt(one) >= duplicatesSince(nowMs)
  );
}

/**
 * P17, P18: an API that rejected a payout may have created it, and a proxy that denied access may have let it through,
 * also if its next attempt was not sent. The same payout, if its reference was only made for it, takes that
 * reference, so that the API creates it once: of a payout that this login ordered, or that is sealed. One that a
 * colleague planted gives none.
 */
export function freeBefore(
  request: ClaimRequest,
  { account, similar, nowMs }: ClaimFacts,
): FoundOperation | undefined {
  const { intent, onDuplicate, isReferenceMade } = request;
  if (intent.kind !== "payout" || !isReferenceMade || onDuplicate === "send") return undefined;
  const isFound = (one: FoundOperation) =>
    one.account === account &&
    wasOrdered(one, request) &&
    (isRepeatable(one, nowMs) ||
      (isFree(one) && !isTest(one) && changedAt(one) >= duplicatesSince(nowMs))) &&
    isSamePayout(payoutOf(one), payoutOf(intent));
  return similar.filter(isFound).sort(rejectedThenNewest)[0];
}

function rejectedThenNewest(one: Operation, other: Operation): number {
  const weight = Number(other.state === "REFUSED") - Number(one.state === "REFUSED");
  return weight || (one.number < other.number ? 1 : -1);
}

/**
 * A record belongs to one operation, and so does a payout's reference: neither is recorded twice. A payment or a refund
 * that an operation of unknown outcome may have created is not recorded beside it.
 */
function decideFound(
  { remoteId }: Outcome,
  intent: Intent,
  { ofRecord, same, similar }: ClaimFacts,
): ClaimDecision {
  const known = ofRecord ?? same;
  if (known)
    return { kind: known.remoteId === remoteId ? "finished" : "different", operation: known };
  const earlier = similar.find(
    (one) =>
      isUnresolved(one) &&
      one.kind === intent.kind &&
      one.kind !== "payout" &&
      one.target === intent.target &&
      one.amountPaisa === intent.amountPaisa &&
      one.asked.description === intent.asked.description,
  );
  if (earlier) return { kind: "duplicate", earlier };
  return { kind: "new", target: intent.target, earlier: undefined };
}

/** The parts of a payout that are compared. */
export interface ComparedPayout {
  amountPaisa: Paisa | null;
  recipient: string | null;
  methodId: string | null;
}

/**
 * True if both are the same payout: amount, recipient as a number with all digits, and method. A payout that was recorded from the
 * API's record has no method, because the record does not name it.
 */
export function isSamePayout(one: ComparedPayout, other: ComparedPayout): boolean {
  const isSameMethod = !one.methodId || !other.methodId || one.methodId === other.methodId;
  return (
    one.amountPaisa === other.amountPaisa &&
    isSameNumber(one.recipient ?? "", other.recipient ?? "") &&
    isSameMethod
  );
}

/** True if the same recipient, as duplicates are compared, gets the same amount by whatever method. */
export function isSameAmountAndRecipient(
  one: Omit<ComparedPayout, "methodId">,
  other: Omit<ComparedPayout, "methodId">,
): boolean {
  return (
    one.amountPaisa === other.amountPaisa &&
    payeeOf(one.recipient ?? "") === payeeOf(other.recipient ?? "")
  );
}

/** The payout that an intent requests. */
export function payoutOf({ amountPaisa, asked }: Intent): ComparedPayout {
  const text = (value: unknown) => (value === undefined ? null : scalarText(value));
  return {
    amountPaisa,
    recipient: text(asked.recipientNumber),
    methodId: text(asked.paymentMethodId),
  };
}

/** An earlier payout of the same amount to the same recipient. */
interface EarlierPayout
  extends Pick<Operation, "reference" | "state" | "status" | "code" | "acceptedAt"> {
  isOwnAccount: boolean;
  command?: string;
  reportedAt?: string | undefined;
}

/** `reported`: it ended without a payout, as a person reported. A limit believes that only later. */
type Repetition = "outcome-unknown" | "paid-recently" | "used-in-other-account" | "reported";

/**
 * The rule for duplicate payouts (docs/money-safety.md), for claims and for batches: why a payout would repeat an
 * earlier one of the same amount to the same recipient. Undefined if it would not: a payout that only tested
 * the API is none that a user would repeat.
 *
 * @param reference of the payout that is to be sent
 * @param since accepted payouts and reports count since then, ISO 8601
 */
export function repetitionOf(
  earlier: EarlierPayout,
  { reference, since }: { reference: string | null; since: string },
): Repetition | undefined {
  if (earlier.command === testCommand) return undefined;
  const isSameReference = earlier.reference === reference;
  if (isSameReference && earlier.isOwnAccount) return undefined;
  if (!mayHavePaid(earlier)) {
    // A record that is Cancelled shows what became of the reference.
    const isReported = earlier.state !== "CONFIRMED" && (earlier.reportedAt ?? "") >= since;
    return isReported ? "reported" : undefined;
  }
  if (isSameReference) return "used-in-other-account";
  if (isUnresolved(earlier)) return "outcome-unknown";
  return (earlier.acceptedAt ?? since) >= since ? "paid-recently" : undefined;
}

/** True if an operation moved or will move money, or if that is unknown. */
export function mayHavePaid(operation: Pick<Operation, "state" | "status" | "code">): boolean {
  return ["unresolved", "live"].includes(phaseOf(operation));
}

/** Since when accepted payouts count as duplicates of one that is sent at a moment, ISO 8601. */
export function duplicatesSince(sentAtMs: number): string {
  return new Date(sentAtMs - duplicateWindowMs).toISOString();
}

/** Since when equal payouts count as duplicates of a claim, ISO 8601: for the row of a batch since a day before its plan. */
export function comparedSince(
  { plannedAt }: Pick<ClaimRequest, "plannedAt">,
  nowMs: number,
): string {
  const since = duplicatesSince(nowMs);
  const sincePlan = plannedAt === undefined ? since : duplicatesSince(Date.parse(plannedAt));
  return sincePlan < since ? sincePlan : since;
}

/** Why an operation is not sent, or an earlier one that is worth a warning. */
type Checked = Rejected | { earlier: Operation | undefined };
export type Rejected = Exclude<ClaimDecision, { kind: "new" | "resumed" }>;

/** The rules for repeated operations. */
export function checkDuplicates(request: ClaimRequest, facts: ClaimFacts): Checked {
  const { kind } = request.intent;
  if (kind === "payout") return checkPayout(request, facts);
  if (kind === "refund") {
    const { intent, onDuplicate, paidPaisa = 0n } = request;
    const { nowMs } = facts;
    const similar = facts.limits?.isAgent
      ? facts.similar.map((one) => believedByAgent(one, nowMs))
      : facts.similar;
    return decideRefund({ intent, onDuplicate, paidPaisa, nowMs }, similar);
  }
  if (kind === "payment") return checkPayment(request, facts);
  // A cancel or a trigger has no second effect; an earlier one explains a rejection.
  return { earlier: facts.similar.find(({ state }) => state === "CONFIRMED") };
}

/** What others recorded of an operation frees nothing for an agent, for a day, or if its outcome was unknown. */
function believedByAgent(one: FoundOperation, nowMs: number): FoundOperation {
  const before = withoutOthers(one);
  const isRecent = before.updatedAt >= duplicatesSince(nowMs);
  return mayHavePaid(before) && (isRecent || isUnresolved(before)) ? before : one;
}

/** Rejects the same amount to the same recipient, whatever the method. */
function checkPayout(request: ClaimRequest, facts: ClaimFacts): Checked {
  const { intent, onDuplicate } = request;
  const { planned, replaced, account, keyHash, nowMs } = facts;
  // Limits judged the plan whose duplicates were accepted.
  const isAccepted = request.batchId !== undefined && onDuplicate === "send";
  const isJudged = isAccepted && facts.limits === undefined;
  const rejectsRepeats = facts.rejectsRepeats !== undefined && !isJudged;
  const isOfAgents = facts.rejectsRepeats === "of-agents";
  // A batch that planned this very reference will send it, whatever the caller accepts.
  const isSent = planned?.reference === intent.reference;
  if (planned && (onDuplicate !== "send" || isSent || rejectsRepeats))
    return { kind: "planned", row: planned, isFinal: rejectsRepeats };
  const day = { reference: intent.reference, since: duplicatesSince(nowMs) };
  const scope = { ...day, since: comparedSince(request, nowMs) };
  const taken = freeBefore(request, facts);
  // With another key, the API may not know its reference.
  const isOwn = (one: FoundOperation) => one.account === account && isOfKey(one, keyHash);
  // The row of a batch is sent again with its own reference, perhaps with another key.
  const isRow = (intent.batch ?? null) !== null;
  const isExcused = (one: FoundOperation) =>
    (one === taken && isOwn(one)) ||
    (isRow && one === facts.same && !mayHavePaid(withoutOthers(one)));
  /** For a day, a limit believes neither a report of a person nor others that nothing was paid. */
  const ofDay = (one: FoundOperation, isOwnAccount: boolean, reference: string | null) => {
    const before = withoutOthers(one);
    const views = before.updatedAt >= day.since ? [one, before] : [one];
    return views
      .map((view) => repetitionOf({ ...view, isOwnAccount }, { ...day, reference }))
      .find((found) => found !== undefined);
  };
  const repetitionIn = (one: FoundOperation) => {
    const isOwnAccount = isOwn(one);
    const repetition = repetitionOf({ ...one, isOwnAccount }, scope);
    if (repetition !== undefined && repetition !== "reported") return repetition;
    return rejectsRepeats && !isExcused(one) ? ofDay(one, isOwnAccount, day.reference) : undefined;
  };
  const earlier = facts.similar
    .filter(
      (one) => one.kind === "payout" && isSameAmountAndRecipient(payoutOf(one), payoutOf(intent)),
    )
    .map((one) => ({ one, repetition: repetitionIn(one) }))
    .filter(({ repetition }) => repetition !== undefined)
    .sort(unresolvedThenNewest);
  const first = earlier[0]?.one;
  // A reference of another account counts at any age, but the same payout is repeated within a day.
  const isWithinDay = ({ one }: (typeof earlier)[number]) => ofDay(one, false, null) !== undefined;
  const repeated = rejectsRepeats ? earlier.filter(isWithinDay) : [];
  const [last] = repeated.map(({ one }) => one).sort(unresolvedThenLast);
  // One of unknown outcome has to be resolved first, unless the caller accepted duplicates.
  if (last && (onDuplicate === "send" || !isUnresolved(last)))
    return { kind: "repeat", earlier: last, isOfAgents };
  // A reference replaces one that is used up, whatever was corrected: else its payout would be paid twice.
  const used = replaced.find((one) => !isTest(one) && mayHavePaid(one));
  if (used)
    return onDuplicate === "send" ? { earlier: used } : { kind: "duplicate", earlier: used };
  const elsewhere = earlier.find(({ repetition }) => repetition === "used-in-other-account")?.one;
  if (!first || onDuplicate === "send") return { earlier: elsewhere ?? first };
  if (elsewhere) return { kind: "duplicate", earlier: elsewhere };
  return onDuplicate === "reject" || isUnresolved(first)
    ? { kind: "duplicate", earlier: first }
    : { earlier: first };
}

/**
 * Since when a payout counts as sent where repeats are rejected, ISO 8601; undefined for one of unknown outcome, which
 * counts until it is resolved. For a day, a limit trusts neither a report of a person nor what others recorded.
 */
export function repeatedSince(one: FoundOperation): string | undefined {
  if (isUnresolved(one)) return undefined;
  if (mayHavePaid(one)) return one.acceptedAt ?? undefined;
  const before = withoutOthers(one);
  const ofOthers = one.others === null ? "" : (before.acceptedAt ?? before.updatedAt);
  const { reportedAt = "" } = one;
  return reportedAt > ofOthers ? reportedAt : ofOthers;
}

function unresolvedThenLast(one: FoundOperation, other: FoundOperation): number {
  const [own = lastYear, since = lastYear] = [repeatedSince(one), repeatedSince(other)];
  if (own === since) return one.number < other.number ? 1 : -1;
  return own < since ? 1 : -1;
}

function unresolvedThenNewest({ one }: { one: Operation }, { one: other }: { one: Operation }) {
  const weight = Number(isUnresolved(other)) - Number(isUnresolved(one));
  return weight || (one.number < other.number ? 1 : -1);
}

interface RefundRequest {
  intent: Pick<Intent, "amountPaisa" | "target">;
  onDuplicate: OnDuplicate;
  paidPaisa: Paisa;
  nowMs: number;
}

/**
 * The refunds of a payment never exceed its amount, and the same refund twice needs a decision
 * (docs/money-safety.md), also shortly after the API rejected it.
 */
function decideRefund(
  { intent, onDuplicate, paidPaisa, nowMs }: RefundRequest,
  similar: FoundOperation[],
):
  | Extract<ClaimDecision, { kind: "over-limit" | "duplicate" }>
  | { earlier: Operation | undefined } {
  const refunds = similar.filter((one) => one.kind === "refund" && one.target === intent.target);
  const { live, refundablePaisa } = refundableOf(refunds, paidPaisa);
  const isAlike = ({ amountPaisa }: Operation) => amountPaisa === intent.amountPaisa;
  const alike = live.filter(isAlike);
  const rejectedSince = rejectionsSince(nowMs);
  const rejected = refunds.find(
    (one) => isAlike(one) && one.state === "REFUSED" && one.updatedAt >= rejectedSince,
  );
  // Its record was found later, and may be that of an equal refund.
  const since = duplicatesSince(nowMs);
  const cancelled = refunds.find(
    (one) => isAlike(one) && one.status === "Cancelled" && (one.reportedAt ?? "") >= since,
  );
  const same = alike.find(isUnresolved) ?? alike[0] ?? rejected ?? cancelled;
  // One of unknown outcome has to be resolved first, whatever is left of the payment.
  const isFirst = same && isUnresolved(same) && onDuplicate !== "send";
  if ((intent.amountPaisa ?? 0n) > refundablePaisa && !isFirst)
    return { kind: "over-limit", live, refundablePaisa };
  if (same && onDuplicate !== "send") return { kind: "duplicate", earlier: same };
  return { earlier: same };
}

/**
 * The refunds of a payment that were created, or may have been, oldest first, and what they leave of it: nothing, if
 * the record of one differs, because its amount is not proved.
 */
export function refundableOf(refunds: Operation[], paidPaisa: Paisa) {
  const live = refunds
    .filter(mayHavePaid)
    .sort((one, other) => (one.number < other.number ? -1 : 1));
  // One that lenden would not have sent leaves nothing: a colleague may have added it to a shared ledger.
  const amountOf = ({ amountPaisa }: Operation) =>
    amountPaisa !== null && amountPaisa > 0n ? amountPaisa : paidPaisa;
  const refundedPaisa = live.reduce((sum, one) => sum + amountOf(one), 0n);
  const isUnproved = live.some(isDiffering);
  return { live, refundablePaisa: isUnproved ? 0n : paidPaisa - refundedPaisa };
}

/** What was refunded of a payment, of its refunds. */
export function refundSumsOf(refunds: Operation[]): RefundSums {
  const differing = refunds.filter(isDiffering).length;
  const sums = { completedPaisa: 0n, openPaisa: 0n, differing };
  const proved = refunds.filter((one) => mayHavePaid(one) && !isDiffering(one));
  for (const { amountPaisa, state, status } of proved) {
    const isCompleted = state === "CONFIRMED" && status === "Completed";
    sums[isCompleted ? "completedPaisa" : "openPaisa"] += amountPaisa ?? 0n;
  }
  return sums;
}

/** A payment that is still Processing counts as a duplicate if it was created since then. ISO 8601. */
export function processingSince(nowMs: number): string {
  return new Date(nowMs - paymentWindowMs).toISOString();
}

/** Rejects the same amount, description, method and payer. */
function checkPayment({ intent, onDuplicate }: ClaimRequest, facts: ClaimFacts): Checked {
  const { nowMs } = facts;
  const since = processingSince(nowMs);
  const same = facts.similar
    .filter((one) => isSamePayment(one, intent))
    .sort((one, other) => unresolvedThenNewest({ one }, { one: other }));
  const hasStatus = (status: string, one: Operation) =>
    one.state === "CONFIRMED" && one.status === status;
  const open = same.find(
    (one) => isUnresolved(one) || (hasStatus("Processing", one) && one.createdAt >= since),
  );
  const paid = same.find(
    (one) => hasStatus("Completed", one) && one.createdAt >= duplicatesSince(nowMs),
  );
  // Two customers may buy the same thing: without a payer, a completed payment is only worth a warning.
  const rejecting = open ?? (payerOf(intent) === "" ? undefined : paid);
  if (rejecting && onDuplicate !== "send") return { kind: "duplicate", earlier: rejecting };
  return { earlier: rejecting ?? paid };
}

function isSamePayment(one: Operation, intent: Intent): boolean {
  return (
    one.kind === "payment" &&
    one.amountPaisa === intent.amountPaisa &&
    (one.amountPaisa !== null || one.asked.amount === intent.asked.amount) &&
    one.asked.description === intent.asked.description &&
    one.asked.paymentMethodId === intent.asked.paymentMethodId &&
    sameMobile(payerOf(one), payerOf(intent)) === "same"
  );
}

/** When an operation was completed, or recorded if it was not. ISO 8601. */
export function bookedAt({ completedAt, createdAt }: Operation): string {
  return completedAt ?? createdAt;
}

/** The values of an operation that an outcome changes. */
export type Changing = Omit<Pick<Recorded, FieldFrom<"outcome">>, "phase">;

/** An operation after an outcome, and the event to record. */
export interface Changed extends Changing {
  phase: Phase;
  event: "attempt" | "look" | "final-status-changed";
}

/**
 * True if a record shows that a final status was not final: money came back, or moved all the same. What the request
 * itself shows does not count as a status check.
 */
export function changesFinalStatus(
  before: Pick<Operation, "state" | "code" | "status">,
  { state, status, sent }: Outcome,
): boolean {
  const isOfRecord = before.state === "CONFIRMED" || isDiffering(before);
  const isFinal = before.status !== null && hasEnded({ status: before.status });
  const isChanged = status !== undefined && status !== before.status;
  return isOfRecord && isFinal && state === "CONFIRMED" && isChanged && sent === undefined;
}

/** The last year with four digits, so that times are in the order of their texts. */
const lastYear = "9999";

/**
 * When an outcome of an operation is recorded: after its other events. A clock that is behind would make a payout look
 * older than a day, which then could be repeated.
 *
 * @param at by the clock of the run; all ISO 8601
 */
export function timeOfOutcome({ newestAt }: Pick<FoundOperation, "newestAt">, at: string): string {
  const isBehind = newestAt > at && newestAt < lastYear;
  return isBehind ? new Date(Date.parse(newestAt) + 1).toISOString() : at;
}

/** @param at ISO 8601 */
export function decideOutcome(before: Changing, outcome: Outcome, at: string): Changed {
  const { state, sent } = outcome;
  const status = outcome.status ?? before.status;
  // A record that differed and agrees again was accepted when it was confirmed first.
  const isAccepted = state === "CONFIRMED" && before.state !== "CONFIRMED" && !isDiffering(before);
  const isCompleted = status === "Completed" && state === "CONFIRMED";
  // A status check without a message leaves the one that explains the state.
  const kept = state === before.state ? before.message : null;
  const isKept = state === before.state && (state === "CONFIRMED" || state === "CONFLICT");
  const keptCode = isKept ? before.code : null;
  const code = outcome.code ?? keptCode;
  return {
    state,
    remoteId: outcome.remoteId ?? before.remoteId,
    status,
    code,
    message: outcome.message ?? kept,
    attempts: before.attempts + (sent === undefined ? 0 : 1),
    acceptedAt: isAccepted ? notAfter(at, outcome.recordCreatedAt) : before.acceptedAt,
    completedAt: before.completedAt ?? (isCompleted ? notAfter(at, outcome.recordUpdatedAt) : null),
    paymentUrl: outcome.paymentUrl ?? before.paymentUrl,
    phase: phaseOf({ state, status, code }),
    event: eventOf(before, outcome),
  };
}

function eventOf(before: Changing, outcome: Outcome): Changed["event"] {
  if (outcome.sent !== undefined) return "attempt";
  return changesFinalStatus(before, outcome) ? "final-status-changed" : "look";
}

/** A time of a record; the other one if there is none, or the API's clock is ahead. Both ISO 8601 in UTC. */
export function notAfter(at: string, recordTime = at): string {
  return recordTime < at ? recordTime : at;
}

/** What a run that takes over a payout sends. */
export interface Ordered {
  asked: Intent["asked"];
  /** If this run orders it: its seal, or null for what cannot be sealed. */
  seal?: string | null;
}

/**
 * I11: an order that may have been sent is sent again unchanged if its seal is valid, because the API may have created
 * it. Otherwise, and after a rejection, the person who orders it now decides what is sent.
 */
export function decideOrder(
  found: FoundOperation,
  { intent }: Pick<ClaimRequest, "intent">,
  sealer: Sealer,
): Ordered {
  if (!isCorrectable(found) && hasValidSeal(found, sealer)) return { asked: found.lastAsked };
  const asked = { ...intent.asked, merchantRef: found.reference };
  return { asked, seal: sealOf(asked, found.batchId, sealer) };
}

/** True if a holder of the payout secret ordered what an operation was last sent as, in its account (I11). */
export function hasValidSeal(found: FoundOperation, sealer: Sealer): boolean {
  if (!sealer.isOf(found)) return false;
  const { lastAsked, batch, batchId, wasPlanned, isArriving, seal } = found;
  if (batch !== null && (batchId === null || !wasPlanned || isArriving)) return false;
  // Whoever adds an operation may give it the sealed request of another one.
  const order = orderIn(lastAsked, batchId);
  if (order?.reference !== found.reference || order.amountPaisa !== found.amountPaisa) return false;
  return seal !== null && seal === sealOf(lastAsked, batchId, sealer);
}

/** The answer to a claim whose operation was taken over: as it was before, which decides how it is sent again. */
export function resumedAnswer(
  { operation, isReopened, earlier, declared }: Extract<ClaimDecision, { kind: "resumed" }>,
  { asked }: Ordered,
  { at, keyHash }: { at: string; keyHash: string },
) {
  const isUnknown = isReopened && isFreedByOthers(operation);
  const sendable = isReopened && !isUnknown ? { openedAt: at, keyHash } : operation.trusted;
  const unknown = isUnknown ? ({ state: "UNCERTAIN", code: null } as const) : {};
  const resumed = { ...operation, ...sendable, ...unknown };
  const repeated = { earlier, ...(declared && { declared }) };
  return { kind: "resumed", operation: resumed, asked, ...repeated } as const;
}

/** I10: an outcome that names another operation's record says nothing about this one. */
export function outcomeOfTaken({ remoteId = "", sent }: Outcome, by: string): Outcome {
  return {
    state: "UNCERTAIN",
    code: "uncertain",
    message: `The response names ${remoteId}, which belongs to ${by}.`,
    otherId: remoteId,
    ...(sent === undefined ? {} : { sent }),
  };
}

/**
 * What an outcome changes that arrives after another process took the operation over and ended it: the API
 * confirmed something else than what is recorded. Undefined if the outcome is only evidence.
 */
export function conflictOfLate(
  now: Pick<Operation, "state" | "remoteId" | "holder">,
  { state, remoteId }: Outcome,
): Outcome | undefined {
  const isConfirmed = state === "CONFIRMED" && remoteId !== undefined;
  // Only its holder changes an operation that a process works on.
  if (!isConfirmed || remoteId === now.remoteId || isUnresolved(now) || now.holder)
    return undefined;
  const message = `A late response names ${remoteId}.`;
  return { state: "CONFLICT", code: "conflict", message, otherId: remoteId, sent: true };
}

/** True if an operation is as it was when it was read, and no process works on it. */
export function isUnchanged(
  read: Pick<Operation, "state" | "updatedAt">,
  now: Pick<Operation, "state" | "updatedAt">,
  holder: Holder | undefined,
): boolean {
  return now.state === read.state && now.updatedAt === read.updatedAt && !holder;
}
