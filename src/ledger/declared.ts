import { stemOf } from "../domain/new-reference.ts";
import { isFree, isTest } from "../domain/state.ts";
import {
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRequest,
  checkDuplicates,
  mayHavePaid,
} from "./decide.ts";
import type { FoundOperation } from "./operation.ts";

/*
 * What another person recorded of an operation is believed, because people resolve operations for each other. But a
 * writer of a shared ledger can record anything in his own login, so whoever sends the same again is told.
 */

/** Adds to a claim that goes through what would stop it without the events of another login. */
export function withDeclared(
  decision: ClaimDecision,
  request: ClaimRequest,
  facts: ClaimFacts,
): ClaimDecision {
  if (decision.kind !== "new" && decision.kind !== "resumed") return decision;
  const isToSend = !request.found && (decision.kind === "new" || decision.isReopened);
  const declared = isToSend ? declaredIn(request, facts) : undefined;
  return declared ? { ...decision, declared } : decision;
}

function declaredIn(request: ClaimRequest, facts: ClaimFacts): FoundOperation | undefined {
  const { same, similar } = facts;
  const { kind } = request.intent;
  if (kind === "cancel" || kind === "trigger") return undefined;
  const all = same ? [same, ...similar] : similar;
  if (all.every(({ others }) => others === null)) return undefined;
  const stops = (one: FoundOperation) => {
    if (kind === "refund") return one.target === request.intent.target && mayHavePaid(one);
    const checked = checkDuplicates(request, { ...facts, similar: [one], planned: undefined });
    return "kind" in checked || checked.earlier !== undefined;
  };
  // A row that is sent again has a new reference: it is the same order at any age.
  const stem = stemOf(request.intent.reference);
  const isSameOrder = ({ number, reference }: FoundOperation) =>
    number === same?.number || (stem !== null && stemOf(reference) === stem);
  const isDeclared = (one: FoundOperation) => {
    if (one.others === null || isTest(one)) return false;
    const before = { ...one, ...one.others.without };
    return isSameOrder(one) ? mayHavePaid(before) : stops(before) && !stops(one);
  };
  // This person was told with an order that came after it. The chain has the order: whoever adds an event writes its time.
  const isKnown = ({ others }: FoundOperation) =>
    kind !== "refund" &&
    others !== null &&
    all.some(
      (later) => later.orderedAt !== undefined && later.orderedAt > others.place && !isFree(later),
    );
  // Other orders say nothing about one that is sent again.
  const isReplaced = (one: FoundOperation) => one.number !== same?.number && isSameOrder(one);
  return all
    .filter((one) => isDeclared(one) && (!isKnown(one) || isReplaced(one)))
    .sort((one, other) => (one.number < other.number ? 1 : -1))[0];
}
