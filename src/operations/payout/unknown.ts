import { Failure } from "../../domain/failure.ts";
import { formatTime } from "../../domain/local-time.ts";
import { isUnsettled } from "../../domain/state.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Operation } from "../../ledger/operation.ts";
import type { ApiGuarantees, OperationDeps } from "../deps.ts";
import { resolveHint } from "../response-failure.ts";
import { atWorkMs } from "./retry-policy.ts";

const longestUnknownMs = 24 * 60 * 60_000;

/**
 * Why an earlier run may have created a payout; undefined if it cannot have. The API may still process that
 * run's request, so this waits until ten seconds have passed (I3).
 *
 * @param deadSinceMs since when the earlier run is known to have ended, if it held the operation
 * @throws Failure `uncertain` if it must not be sent again, as `assertResendable` does
 */
export async function earlierAttempt(
  operation: Operation,
  deps: OperationDeps,
  deadSinceMs = deps.now(),
): Promise<string | undefined> {
  if (!isUnsettled(operation)) return undefined;
  await assertResendable(operation, deps);
  const why = "an earlier run ended without a result";
  const leftMs = await restMs(operation, deps, deadSinceMs);
  if (leftMs > 0) {
    const seconds = Math.ceil(leftMs / 1000);
    deps.notice(`${operation.reference}: ${why}. Retrying in ${seconds} s.`);
    await deps.sleep(leftMs);
    await assertResendable(operation, deps);
  }
  return why;
}

/**
 * Called before each retry of a payout of unknown outcome, also after each pause: the machine may have slept.
 *
 * @throws Failure `uncertain` after 24 hours (P25), and if the API does not keep references (P25c)
 */
export async function assertResendable(
  operation: Operation,
  deps: Pick<OperationDeps, "now" | "guarantees">,
): Promise<void> {
  const { reference, openedAt } = operation;
  const name = reference ?? operation.id;
  const hint = resolveHint(name, "payout", operation);
  const details = { hint, operation: name, untried: true };
  const cannot = `Cannot retry payout ${name} automatically:`;
  if (isForgotten(openedAt, deps))
    throw new Failure(
      "payout.unknown-over-24-hours",
      `${cannot} its outcome has been unknown since ${formatTime(openedAt)}, for over 24 hours.`,
      details,
    );
  if (!(await deps.guarantees()).references)
    throw new Failure(
      "payout.reference-unreliable",
      `${cannot} 'lenden verify-api' found that the API may pay the same reference twice.`,
      details,
    );
}

/** True for a payout of unknown outcome that is not sent again (P25, P25c). */
export function isUnresendable(
  openedAt: string,
  { references }: ApiGuarantees,
  deps: Pick<OperationDeps, "now">,
): boolean {
  return !references || isForgotten(openedAt, deps);
}

/** P25: after 24 hours the API may no longer remember the reference. */
export function isForgotten(openedAt: string, { now }: Pick<OperationDeps, "now">): boolean {
  return now() - Date.parse(openedAt) > longestUnknownMs;
}

/**
 * Since when no process works on each of these operations, by their IDs; one that a process works on is not
 * among them. What dead processes left rests together from then on, and not one after the other (I3).
 */
export async function restStarts(
  operations: Operation[],
  ledger: Pick<Ledger, "holderOf">,
  { now }: Pick<OperationDeps, "now">,
): Promise<Map<string, number>> {
  const starts = new Map<string, number>();
  for (const operation of operations) {
    const nowMs = now();
    if (!(await ledger.holderOf(operation))) starts.set(operation.id, nowMs);
  }
  return starts;
}

/**
 * Milliseconds until an operation of unknown outcome may be sent again: ten seconds after a request of it may
 * last have been sent (I3). A process that ended without a record may have sent one until its end.
 *
 * @param deadSinceMs since when that process is known to have ended
 */
export async function restMs(
  operation: Operation,
  deps: Pick<OperationDeps, "ledger" | "now">,
  deadSinceMs = deps.now(),
): Promise<number> {
  const { holder } = operation;
  const nowMs = deps.now();
  // A process that took it after that moment ended even later.
  const endedMs = holder && (Date.parse(holder.since) < deadSinceMs ? deadSinceMs : nowMs);
  const lastMs = endedMs ?? Date.parse(await (await deps.ledger()).lastSentAt(operation));
  return Math.max(0, atWorkMs - Math.max(0, nowMs - lastMs));
}
