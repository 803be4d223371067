import { readReference } from "../domain/reference.ts";
import { isDiffering, isTest, isUnresolved } from "../domain/state.ts";
import { inCommand } from "../domain/text.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { isForgotten } from "./payout/unknown.ts";
import { differingHint, resolveHint } from "./response-failure.ts";

export interface Where {
  ledger: Pick<Ledger, "isOfThisKey">;
  now(): number;
}

/**
 * The commands of which one resolves an operation; none if its outcome is known. Two if only the dashboard
 * shows it: a payment or a refund, a CONFLICT, a payout that was sent with another key or over a day ago.
 */
export function commandsFor(operation: Operation, { ledger, now }: Where): string[] {
  if (!isUnresolved(operation)) return [];
  const { kind, state, openedAt } = operation;
  const resolve = `lenden ledger resolve ${inCommand(nameOf(operation))}`;
  const isMove = kind === "cancel" || kind === "trigger";
  const isResent =
    kind === "payout" &&
    !isTest(operation) &&
    ledger.isOfThisKey(operation) &&
    !isForgotten(openedAt, { now });
  // Its record is compared again.
  if (isDiffering(operation)) return [resolve];
  return state !== "CONFLICT" && (isMove || isResent)
    ? [resolve]
    : [`${resolve} --created <id>`, `${resolve} --not-created`];
}

/** A person can type the reference of a payout, unless it only looks like another one: others choose theirs. */
function nameOf({ id, reference }: Operation): string {
  return reference !== null && readReference(reference).ok ? reference : id;
}

/** The next step for an operation whose outcome is unknown. */
export function nextStep(operation: Operation, where: Where): string {
  if (isDiffering(operation)) return differingHint(operation);
  const [first, second] = commandsFor(operation, where);
  return second === undefined
    ? `To resolve it, run '${first}'.`
    : resolveHint(nameOf(operation), operation.kind, operation);
}
