import { exits, Failure, type FailureKind } from "../../domain/failure.ts";
import type { Signal } from "../../platform/host.ts";
import type { Command, Ending } from "../command/define-command.ts";

/** The code of a result that is no success, or 0. */
export function codeOfEnding(ending: Ending): number {
  if (ending === undefined) return 0;
  if (typeof ending === "number") return ending;
  return exits[ending instanceof Failure ? ending.kind : ending].code;
}

/**
 * The error of a result that is not a success.
 *
 * @param operation what the result is about
 */
export function failureOfEnding(
  ending: Failure | FailureKind,
  operation: string | undefined,
): Failure {
  if (ending instanceof Failure) return ending;
  const { means } = exits[ending];
  const message = endings[ending] ?? `${means.slice(0, 1).toUpperCase()}${means.slice(1)}.`;
  return new Failure(ending, message, operation ? { operation } : {});
}

const endings: Partial<Record<FailureKind, string>> = {
  internal: "A check failed. The result shows which one.",
  pending: "The wait ended before the status was Completed or Cancelled.",
  cancelled: "The status is Cancelled.",
  unverified: "The verification failed. The result shows why.",
};

/** The error of a run that a signal stopped: with the effect of what the run had done by then. */
export function failureOfStop(signal: Signal, writes: boolean, found?: Failure): Failure {
  if (found?.kind === "interrupted") return found;
  if (!found) {
    // What was in flight ended well after the signal.
    const effect = writes ? "accepted" : "read-only";
    return new Failure("run.interrupted", `Stopped by ${signal}.`, { effect });
  }
  const details = { ...found.details, effect: found.effect(true) };
  return new Failure("run.interrupted", `Stopped by ${signal}. ${found.message}`.trim(), details);
}

/** The code of a command that was told to stop, and came to its end all the same. */
export function codeAfterStop(code: number, signal: Signal, { untilStopped }: Command): number {
  return untilStopped || isGrave(code) ? code : codeOfSignal(signal);
}

/** The code of a command that a stop broke off, where nothing is left in doubt. */
export function codeOfStop(error: unknown, signal: Signal, { untilStopped }: Command): number {
  // What was waited for, and did not come, is no good end of a command that goes on until it is stopped.
  return untilStopped && !isOf(["interrupted"], error) ? 0 : codeOfSignal(signal);
}

/** After a stop, only what may have moved money is still worth a word of its own. */
export function isHarmless(error: unknown): error is Failure {
  return isOf(["unreachable", "interrupted", "pending"], error);
}

function isOf(kinds: FailureKind[], error: unknown): error is Failure {
  return error instanceof Failure && kinds.includes(error.kind);
}

/** What a person has to know more urgently than that they stopped it. */
function isGrave(code: number): boolean {
  return code === exits.uncertain.code || code === exits.conflict.code;
}

function codeOfSignal(signal: Signal): number {
  return { SIGINT: exits.interrupted.code, SIGTERM: 143, SIGHUP: 129 }[signal];
}
