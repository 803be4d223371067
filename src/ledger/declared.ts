import { isOfSameOrder } from "../domain/new-reference.ts";
import { isDiffering, isFree, isTest } from "../domain/state.ts";
import {
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRequest,
  checkDuplicates,
  freeBefore,
  mayHavePaid,
  wasChecked,
  withoutOthers,
} from "./decide.ts";
import type { FoundOperation } from "./operation.ts";

/*
 * What another person recorded of an operation is believed, because people resolve operations for each other. But a
 * writer of a shared ledger can record anything in his own login, so whoever sends the same again is told.
 */

type Sending = Extract<ClaimDecision, { kind: "new" | "resumed" }>;

/** Adds to a claim that goes through what would stop it without the events of another login. */
export function withDeclared(
  decision: ClaimDecision,
  request: ClaimRequest,
  facts: ClaimFacts,
): ClaimDecision {
  if (decision.kind !== "new" && decision.kind !== "resumed") return decision;
  const declared = declaredBeside(decision, request, facts);
  return declared ? { ...decision, declared } : decision;
}

/** What would stop an order without the events of another login. */
export function declaredBeside(
  decision: Sending,
  request: ClaimRequest,
  facts: ClaimFacts,
): FoundOperation | undefined {
  const isNew = decision.kind === "new" || decision.isReopened;
  const isToSend =
    !request.found &&
    (isNew || !wasChecked(decision.operation, { ...request, nowMs: facts.nowMs }));
  const same = decision.kind === "resumed" ? decision.operation : undefined;
  return isToSend ? declaredIn(request, { ...facts, same }) : undefined;
}

function declaredIn(request: ClaimRequest, facts: ClaimFacts): FoundOperation | undefined {
  const { same, similar, replaced } = facts;
  const { kind, reference, target } = request.intent;
  if (kind === "cancel" || kind === "trigger") return undefined;
  const all = [...new Set([...(same ? [same] : []), ...replaced, ...similar])];
  if (all.every(({ others }) => others === null)) return undefined;
  const alone = (one: FoundOperation) => {
    return { ...facts, similar: [one], replaced: [], planned: undefined };
  };
  const stops = (one: FoundOperation) => {
    if (kind === "refund") return one.target === target && mayHavePaid(one);
    const checked = checkDuplicates(request, alone(one));
    return "kind" in checked || checked.earlier !== undefined;
  };
  // A reference that is sent again pays no second time. But another one than that of this order may be the one that is.
  const givesReference = (one: FoundOperation) => freeBefore(request, alone(one)) !== undefined;
  // One that was corrected, or a row that is sent again, has a new reference: it is the same order at any age.
  const isSameOrder = (one: FoundOperation) =>
    one === same || replaced.includes(one) || isOfSameOrder(one.reference, reference);
  // A refund whose record differs leaves nothing of its payment.
  const endsConflict = (before: FoundOperation, one: FoundOperation) =>
    kind === "refund" && one.target === target && isDiffering(before) && !isDiffering(one);
  const isDeclared = (one: FoundOperation) => {
    if (one.others === null || isTest(one)) return false;
    const before = withoutOthers(one);
    if (isSameOrder(one) && !mayHavePaid(one))
      return mayHavePaid(before) || (isFree(before) && !isFree(one));
    if (endsConflict(before, one)) return true;
    if (stops(one)) return false;
    return stops(before) || (givesReference(before) && !givesReference(one));
  };
  // This person was told with an order that came after it. The chain has the order: whoever adds an event writes its time.
  const isKnown = (one: FoundOperation) => {
    if (kind === "refund" || one.others === null) return false;
    const { place } = one.others;
    // Other orders say nothing about one that is sent again.
    const orders = isSameOrder(one) ? [one].filter((own) => own === same) : all;
    return orders.some(
      (later) => later.orderedAt !== undefined && later.orderedAt > place && mayHavePaid(later),
    );
  };
  return all
    .filter((one) => isDeclared(one) && !isKnown(one))
    .sort((one, other) => (one.number < other.number ? 1 : -1))[0];
}
