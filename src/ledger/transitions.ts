import { isGeneratedReference } from "../domain/reference.ts";
import {
  declaredCode,
  differingCode,
  isDiffering,
  isFree,
  isTest,
  isUnsettled,
  type State,
} from "../domain/state.ts";
import type { Recorded } from "./columns.ts";
import { type Changing, decideOutcome } from "./decide.ts";
import { type HistoryEvent, isTake } from "./events.ts";
import type { Operation } from "./operation.ts";

/*
 * Which event can follow which. A writer of a shared ledger can add any event to any operation, in his own login. What
 * lenden itself never writes is a modification, whatever the event says.
 */

/** What decides of an operation what its next event may be. */
type Before = Changing & Pick<Recorded, "kind" | "reference" | "batch" | "command" | "seal">;
type OutcomeEvent = Extract<HistoryEvent, { event: "attempt" | "look" | "final-status-changed" }>;
type OutcomeData = OutcomeEvent["data"];

/**
 * True if lenden may write an event after the earlier ones of its operation.
 *
 * @param before the columns by the earlier events
 */
export function canFollow(before: Before, one: HistoryEvent, earlier: HistoryEvent[]): boolean {
  switch (one.event) {
    case "intent":
    case "unreadable":
      return false;
    case "resumed":
      return before.kind === "payout" && isUnsettled(before);
    case "reopened":
      return before.kind === "payout" && (isFree(before) || isRepeatable(before));
    case "late":
      return takersIn(earlier).some((taker) => isOfLogin(one, taker));
    case "attempt":
      return hasOwnName(before, one) && canAttempt(before, one, earlier);
    case "look":
    case "final-status-changed":
      return hasOwnName(before, one) && canShow(before, one, earlier);
  }
}

/** P17: of a rejected payout, only a reference that lenden generated is sent again. */
function isRepeatable({ state, batch, reference }: Before): boolean {
  return state === "REFUSED" && batch === null && isGeneratedReference(reference ?? "");
}

function hasOwnName(before: Before, { event, data, at }: OutcomeEvent): boolean {
  return decideOutcome(before, data, at).event === event;
}

/** The events of processes that took the operation to send it. */
function takersIn(earlier: HistoryEvent[]): HistoryEvent[] {
  return earlier.filter(isTake);
}

/** True if one login wrote both. What the current transaction adds has no login yet. */
function isOfLogin({ login }: HistoryEvent, other: HistoryEvent | undefined): boolean {
  return login === undefined || other?.login === undefined || login === other.login;
}

/** Only the process that took the operation records an attempt; or its late response shows another record. */
function canAttempt(before: Before, one: OutcomeEvent, earlier: HistoryEvent[]): boolean {
  const { state, code, otherId, origin, matched, recordCreatedAt } = one.data;
  if (origin !== undefined || matched !== undefined || recordCreatedAt !== undefined) return false;
  if (isUnsettled(before) && !hasRecord(before, one.data)) return false;
  if (isUnsettled(before)) return isOfLogin(one, takersIn(earlier).at(-1));
  const late = earlier.at(-1);
  return (
    before.state !== "CONFLICT" &&
    late?.event === "late" &&
    isOfLogin(one, late) &&
    late.data.state === "CONFIRMED" &&
    late.data.remoteId === otherId &&
    otherId !== undefined &&
    otherId !== before.remoteId &&
    state === "CONFLICT" &&
    code === "conflict"
  );
}

/** What the API created has an ID. */
function hasRecord(before: Before, { state, remoteId }: OutcomeData): boolean {
  return state !== "CONFIRMED" || !isCreation(before) || (remoteId ?? before.remoteId) !== null;
}

/** What a status check or a person may show, by the state before. */
function canShow(before: Before, one: OutcomeEvent, earlier: HistoryEvent[]): boolean {
  const { data } = one;
  // A test of the API ends by what other tests show; none of them is an order that a guard protects.
  if (isTest(before)) return true;
  // Only the request that creates a payment returns its page.
  if (data.paymentUrl !== undefined) return false;
  if (data.matched !== undefined) return changesNothing(before, data);
  if (data.state === "CONFLICT") return canDiffer(before, data);
  if (data.state === "CONFIRMED") return canConfirm(before, one, earlier);
  if (data.state === "NOT_SENT") return canDeclare(before, data);
  // A run that could not send the request again records why.
  return data.state === "UNCERTAIN" && isUnsettled(before) && data.remoteId === undefined;
}

/** A person accepts a line of a statement for an operation that has a record. */
function changesNothing(before: Before, data: OutcomeData): boolean {
  const { status, code } = decideOutcome(before, data, "");
  const isSame = data.state === before.state && status === before.status && code === before.code;
  const { remoteId, recordCreatedAt } = data;
  return hasOwnRecord(before) && isSame && remoteId === undefined && recordCreatedAt === undefined;
}

/** True if the API confirmed it, whether or not its record still agrees. */
function hasOwnRecord(before: Before): boolean {
  return before.state === "CONFIRMED" || isDiffering(before);
}

/** Its record differs from what was requested, or still differs. */
function canDiffer(before: Before, { code, remoteId }: OutcomeData): boolean {
  return hasOwnRecord(before) && code === differingCode && remoteId === undefined;
}

/** A person reports that it was not created; the record of a cancel or a trigger shows it. */
function canDeclare(before: Before, { code, origin, remoteId }: OutcomeData): boolean {
  if (remoteId !== undefined) return false;
  if (!isCreation(before)) return isUnsettled(before);
  const isOpen = isUnsettled(before) || (before.state === "CONFLICT" && !isDiffering(before));
  return isOpen && code === declaredCode && origin !== undefined;
}

function canConfirm(before: Before, one: OutcomeEvent, earlier: HistoryEvent[]): boolean {
  const { remoteId, origin, recordCreatedAt, code } = one.data;
  if (!isCreation(before)) return isUnsettled(before) || before.state === "CONFIRMED";
  const hasNew = remoteId !== undefined;
  const isReported = origin !== undefined;
  // The time of its creation is known only of a record that lenden did not create.
  const isCreatedHere = recordCreatedAt === undefined;
  const by: Record<State, boolean> = {
    INTENT: hasNew && (isCreatedHere || isFound(before, one, earlier)),
    UNCERTAIN: hasNew && isCreatedHere,
    CONFLICT: isCreatedHere && (hasNew ? isReported : isDiffering(before)),
    // Whoever declared it not created may have overlooked its record.
    NOT_SENT: hasNew && (isReported ? isCreatedHere : before.kind === "payout"),
    // Another ledger sent the same payout under its reference.
    REFUSED: hasNew && !isReported && before.kind === "payout",
    CONFIRMED: !hasNew && !isReported && isCreatedHere && (code ?? before.code) === before.code,
  };
  return by[before.state];
}

/** True if the operation was recorded from its record, in one transaction. */
function isFound({ seal }: Before, one: OutcomeEvent, earlier: HistoryEvent[]): boolean {
  return earlier.length === 1 && isOfLogin(one, earlier[0]) && seal === null;
}

function isCreation({ kind }: Pick<Operation, "kind">): boolean {
  return kind === "payment" || kind === "payout" || kind === "refund";
}
