import { Failure, type FailureKind, isOfLedger, whatHappened } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { workerText } from "../domain/person.ts";
import type { State } from "../domain/state.ts";
import type { OutcomeAnswer } from "../ledger/change.ts";
import type { Holder, Operation, Outcome } from "../ledger/operation.ts";
import { idTaken } from "./compare.ts";
import type { OperationDeps } from "./deps.ts";
import { resolveHint } from "./response-failure.ts";

/** The result that the API confirmed, and what the ledger stores of it. A cancel or a trigger creates no record. */
interface Confirmed<Result>
  extends Pick<Outcome, "remoteId" | "recordUpdatedAt" | "paymentUrl" | "code" | "message"> {
  result: Result;
  status: string;
}

/**
 * Does the work of an intent and records its outcome, whatever is thrown. The kind of a failure decides the
 * state, if the failure is about the request. Any other exception leaves the outcome unknown (I4).
 */
export async function recorded<Result>(
  operation: Operation,
  deps: OperationDeps,
  work: () => Promise<Confirmed<Result>>,
): Promise<Result> {
  let done: Confirmed<Result>;
  try {
    done = await work();
  } catch (error) {
    const failure = decidingFailure(operation, error);
    const outcome = outcomeOf(failure);
    const { untried, neverLeft } = failure.details;
    const tried = untried ? {} : { sent: outcome.state !== "NOT_SENT" && !neverLeft };
    await write(operation, { ...outcome, ...tried }, deps);
    throw failure;
  }
  const { result, ...confirmed } = done;
  const answer = await write(operation, { state: "CONFIRMED", ...confirmed, sent: true }, deps);
  if (answer.kind === "id-taken") throw idTaken(operation, confirmed.remoteId ?? "", answer.by);
  return result;
}

/** What a retrieved record shows. */
export function statusIn({
  status,
  updatedAt,
}: {
  status: string;
  updatedAt?: unknown;
}): Required<Pick<Outcome, "status">> & Pick<Outcome, "recordUpdatedAt"> {
  const at = timeIn(updatedAt);
  return at === undefined ? { status } : { status, recordUpdatedAt: at };
}

/** A time of a record, ISO 8601: UTC if it names no zone (docs/api.md). */
export function timeIn(text: unknown): string | undefined {
  const [, time, zone = "Z"] = isoTime.exec(String(text)) ?? [];
  const ms = Date.parse(`${time}${zone}`);
  // A server's empty time may be in the year 1, and the ledger sorts years of four digits.
  return ms > 0 && ms < Date.UTC(10_000, 0) ? new Date(ms).toISOString() : undefined;
}

const isoTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/i;

/** The outcome that the ledger stores for a failure, with the differences of a conflict. */
function outcomeOf(failure: Failure): Outcome {
  const { kind, details } = failure;
  const message = whatHappened(failure);
  // Nothing left this machine: the kind says only why.
  const isUnsent = details.neverLeft && kind !== "uncertain";
  const state = isUnsent ? "NOT_SENT" : endStates[kind];
  return { state, code: kind, message, ...details.evidence };
}

/** The failures of requests, by the beginning of their reasons: they may prove that nothing was done. */
const ofRequest = /^(?:api|run|transition)\./;

function decidingFailure(operation: Operation, error: unknown): Failure {
  if (!(error instanceof Failure)) return internalError(operation, error);
  if (error.details.neverLeft) return error;
  const provesNothingDone = ["NOT_SENT", "REFUSED"].includes(endStates[error.kind]);
  const isAboutRequest = !provesNothingDone || ofRequest.test(error.reason);
  if (isAboutRequest && !isOfLedger(error)) return error;
  const name = operation.reference ?? operation.id;
  return new Failure(
    "ledger.not-recorded",
    `An error interrupted ${name} while it was sent: ${error.message}`,
    {
      hint: `${error.details.hint ?? "Run 'lenden ledger check'."} Then run 'lenden ledger resolve'.`,
      operation: name,
      unrecorded: "UNCERTAIN",
      cause: error,
    },
  );
}

/** A kind that shows nothing about the request leaves the outcome unknown. */
const endStates: Record<FailureKind, State> = {
  conflict: "CONFLICT",
  refused: "REFUSED",
  access: "REFUSED",
  "not-found": "REFUSED",
  unreachable: "NOT_SENT",
  interrupted: "NOT_SENT",
  usage: "NOT_SENT",
  locked: "NOT_SENT",
  uncertain: "UNCERTAIN",
  internal: "UNCERTAIN",
  partial: "UNCERTAIN",
  pending: "UNCERTAIN",
  cancelled: "UNCERTAIN",
  unverified: "UNCERTAIN",
};

/** P21: an outcome that cannot be recorded is reported, and the next run finds the intent. */
async function write(
  operation: Operation,
  outcome: Outcome,
  deps: OperationDeps,
): Promise<OutcomeAnswer> {
  try {
    const ledger = await deps.ledger();
    const answer = await ledger.record({ operation: operation.number, outcome, release: true });
    if (answer.kind !== "moved") return answer;
    throw movedError(answer.operation);
  } catch (cause) {
    const name = operation.reference ?? operation.id;
    const id = outcome.remoteId ? `, ${outcome.remoteId}` : "";
    // The ledger's own failure, such as a lost lock; anything else is attributed to the disk.
    const own = cause instanceof Failure && cause.details.hint ? cause : undefined;
    const why = own ? `: ${own.message}` : ".";
    const message = `The ledger could not store the outcome of ${name} (${outcome.state}${id})${why}`;
    const room = "Make room on the disk, then run 'lenden ledger resolve'.";
    const hint = own?.details.hint ?? room;
    const details = { hint, operation: name, unrecorded: outcome.state, cause };
    throw new Failure("ledger.not-recorded", message, details);
  }
}

/** Another process took the operation, or recorded an outcome first: this one is only evidence. */
function movedError({ id, kind, state, holder, ...account }: Operation): Failure {
  if (holder)
    return new Failure(
      "ledger.not-recorded",
      `another process took it over and works on it: ${workerText(holder)}.`,
      {
        hint: `When that process has ended, run the same command again. To see what it recorded, run 'lenden ledger show ${id}'.`,
      },
    );
  return new Failure(
    "ledger.not-recorded",
    `another process recorded a different outcome first: ${state}`,
    {
      hint: `To see the recorded outcome, run 'lenden ledger show ${id}'. ${resolveHint(id, kind, account)}`,
    },
  );
}

function internalError(operation: Operation, cause: unknown): Failure {
  const name = operation.reference ?? operation.id;
  return new Failure("operation.interrupted-by-error", `An internal error interrupted ${name}.`, {
    hint: "Run 'lenden ledger resolve', and report it with LENDEN_DEBUG=1.",
    operation: name,
    cause,
  });
}

/**
 * P4: another process works on it. A lock is never taken over because of its age.
 *
 * @param what before its name in a sentence: `Reference` or `Batch`
 */
export function lockedError(name: string, by: Holder, what = ""): Failure {
  return new Failure(
    "operation.locked",
    `${what && `${what} `}${name} is in use by another lenden process: ${workerText(by)}, since ${formatTime(by.since)}.`,
    {
      hint:
        by.user === undefined
          ? `Wait until process ${by.pid} ends, then run the same command again.`
          : "Wait until that process ends, then run the same command again. If it crashed, the lock ends after 90 seconds: 'lenden ledger processes' shows it.",
      operation: name,
    },
  );
}
