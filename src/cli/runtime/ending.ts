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
  ending: Failure | FailureKind | undefined,
  operation: string | undefined,
): Failure {
  if (ending instanceof Failure) return ending;
  const kind = ending ?? "internal";
  const { means } = exits[kind];
  const message = endings[kind] ?? `${means.slice(0, 1).toUpperCase()}${means.slice(1)}.`;
  return new Failure(kind, message, operation ? { operation } : {});
}

const endings: Partial<Record<FailureKind, string>> = {
  internal: "A check failed. The result shows which one.",
  pending: "The wait ended before the status was Completed or Cancelled.",
  cancelled: "The status is Cancelled.",
  unverified: "The verification failed. The result shows why.",
};

/**
 * The error of a run that a signal stopped, if nothing is unknown.
 *
 * @param found what the result or the thrown error says of it
 */
export function failureOfStop(signal: Signal, found?: unknown): Failure {
  if (!(found instanceof Failure)) return new Failure("interrupted", `Stopped by ${signal}.`);
  return found.kind === "interrupted"
    ? found
    : new Failure("interrupted", `Stopped by ${signal}. ${found.message}`, found.details);
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
export function isHarmless(error: unknown): boolean {
  return isOf(["unreachable", "interrupted", "pending"], error);
}

function isOf(kinds: FailureKind[], error: unknown): boolean {
  return error instanceof Failure && kinds.includes(error.kind);
}

/** What a person has to know more urgently than that they stopped it. */
function isGrave(code: number): boolean {
  return code === exits.uncertain.code || code === exits.conflict.code;
}

function codeOfSignal(signal: Signal): number {
  return { SIGINT: exits.interrupted.code, SIGTERM: 143, SIGHUP: 129 }[signal];
}
