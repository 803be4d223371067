import type { Ledger, Operation } from "../../cli/command/context.ts";
import { isUnresolved } from "../../domain/state.ts";
import { isForgotten } from "../../payouts/unknown.ts";
import { exported } from "./exported.ts";

interface Where {
  ledger: Pick<Ledger, "isOfThisKey">;
  now(): number;
}

/** An operation as scripts get it, with the commands of which one resolves it. */
export function withCommands(operation: Operation, where: Where) {
  return { ...exported(operation), resolveWith: commandsFor(operation, where) };
}

/**
 * The commands of which one resolves an operation; none if its outcome is known. Two if only the dashboard
 * can tell: a payment or a refund, a CONFLICT, a payout that was sent with another key or over a day ago.
 */
function commandsFor(operation: Operation, { ledger, now }: Where): string[] {
  if (!isUnresolved(operation)) return [];
  const { kind, state, openedAt } = operation;
  const resolve = `lenden ledger resolve ${nameOf(operation)}`;
  const isMove = kind === "cancel" || kind === "trigger";
  const isResent =
    kind === "payout" && ledger.isOfThisKey(operation) && !isForgotten(openedAt, { now });
  return state !== "CONFLICT" && (isMove || isResent)
    ? [resolve]
    : [`${resolve} --created <id>`, `${resolve} --not-created`];
}

/** What is left to do about an operation whose outcome is unknown. */
export function nextStep(operation: Operation, where: Where): string {
  const [first, second] = commandsFor(operation, where);
  return second === undefined
    ? `To resolve it, run '${first}'.`
    : `Check the dashboard, then run '${first}' or '${second}'.`;
}

/** A shell user can type the reference of a payout, unless it looks like a flag. */
function nameOf({ reference, id }: Operation): string {
  return reference === null || reference.startsWith("-") ? id : reference;
}
