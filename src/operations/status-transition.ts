import type { Answer } from "../api/response.ts";
import { Failure, type FailureDetails } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import { checkStop, type OperationDeps } from "./deps.ts";
import { recorded, statusIn } from "./record-outcome.ts";
import {
  attempted,
  describe,
  isFromApi,
  isWaiting,
  rejection,
  unsent,
} from "./response-failure.ts";
import { type RecordOf, remembered, requestRecord, sentBefore } from "./status.ts";

/** A change of status, whose effect the record shows. */
interface Transition<Kind extends Resource> {
  resource: Kind;
  id: string;
  kind: "cancel" | "trigger";
  target: "Completed" | "Cancelled";
}

const attempts = 3;
const pauseMs = 1_000;

export function cancelRefund(
  refundRequestId: string,
  note: string | undefined,
  deps: OperationDeps,
) {
  const body = { refundRequestId, ...(note === undefined ? {} : { note }) };
  const what = { resource: "refund", kind: "cancel", target: "Cancelled" } as const;
  const send = () => deps.client.cancelRefund(body);
  return changeStatus({ ...what, id: refundRequestId }, send, deps);
}

export function triggerPayment(id: string, deps: OperationDeps) {
  const send = () => deps.client.triggerPayment({ transactionId: id });
  return moveRecord({ resource: "payment", id, target: "Completed" }, send, deps);
}

export function triggerPayout(id: string, deps: OperationDeps) {
  const send = () => deps.client.triggerPayout({ payoutId: id });
  return moveRecord({ resource: "payout", id, target: "Completed" }, send, deps);
}

/** Moves a record of a sandbox out of Processing, by a request of its own. */
export function moveRecord<Kind extends Resource>(
  what: Omit<Transition<Kind>, "kind">,
  send: () => Promise<Answer>,
  deps: OperationDeps,
) {
  return changeStatus({ ...what, kind: "trigger" }, send, deps);
}

/** Records the intent, makes the change, and records the status of the record. */
async function changeStatus<Kind extends Resource>(
  transition: Transition<Kind>,
  send: () => Promise<Answer>,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  const { kind, resource, id, target } = transition;
  const asked = { resource, target };
  const intent = { kind, reference: null, target: id, amountPaisa: null, asked };
  const claim = await (await deps.ledger()).claim({ intent, onDuplicate: "send" });
  if (claim.kind !== "new") throw new Error(`a ${kind} cannot be ${claim.kind}`);
  const { operation, earlier } = claim;
  const changed = await recorded(operation, deps, async () => {
    const result = await untilDone(transition, send, earlier !== undefined, deps);
    return { result, ...statusIn(result) };
  });
  return remembered({ kind: resource, id }, changed, deps).catch(sentBefore);
}

/**
 * Sends the request, then retrieves the record. Only the record shows whether it worked: if it has the
 * status, that is success, whatever the response was. Once the outcome of an attempt is unknown, a later
 * rejection proves nothing, because the first attempt may be its cause.
 *
 * @param wasDone true if the ledger has the same change of the record already
 */
async function untilDone<Kind extends Resource>(
  { resource, id, kind, target }: Transition<Kind>,
  send: () => Promise<Answer>,
  wasDone: boolean,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  /** Why the change may have been made. */
  let possible: string | undefined;
  const unknown = (now: string, more: Pick<FailureDetails, "neverLeft" | "cause"> = {}): Failure =>
    new Failure(
      "transition.outcome-unknown",
      `Cannot confirm the ${kind === "cancel" ? "cancellation" : kind} of ${resource} ${id}: ${possible}. ${now}`,
      {
        hint: "Run the same command again. It is safe to repeat.",
        operation: id,
        ...more,
      },
    );
  for (let attempt = 1; ; attempt += 1) {
    if (possible === undefined) checkStop(deps);
    const shown = shownBy(
      await attempted(send).catch((error) => {
        if (possible === undefined || !(error instanceof Failure)) throw error;
        throw unknown(`The retry could not be sent: ${error.message}`, {
          neverLeft: true,
          cause: error,
        });
      }),
      { kind, id, wasDone },
    );
    if (shown.kind === "possible") possible ??= shown.why;
    const rejected =
      shown.kind === "rejected" && possible === undefined ? shown.failure : undefined;
    if (rejected && rejected.kind !== "refused") throw rejected;
    const record = await requestRecord(resource, id, deps);
    const status = record.kind === "data" ? record.data.status : undefined;
    if (record.kind === "data" && status === target && possible !== undefined) return record.data;
    const hasEnded = status !== undefined && status !== "Processing";
    if (hasEnded && (status !== target || rejected)) {
      const { hint: _, ...details } = rejected?.details ?? {};
      const message = `The ${resource} ${id} is already ${status}.`;
      throw new Failure("transition.already-ended", message, { ...details, operation: id });
    }
    if (rejected) throw rejected;
    const undecided = (): Failure => {
      if (possible === undefined && shown.kind === "unsent") return shown.failure;
      return unknown(
        status === undefined ? "Its status cannot be retrieved." : `Its status is ${status}.`,
      );
    };
    const isOver = deps.now() + pauseMs * attempt >= deps.deadlineMs || deps.isStopping();
    if (attempt >= attempts || shown.isLast || isOver) throw undecided();
    await deps.sleep(pauseMs * attempt);
    if (deps.isStopping()) throw undecided();
  }
}

/** What the response to a change shows of it. `isLast`: another attempt would show the same. */
type Shown = { isLast: boolean } & (
  | { kind: "possible"; why: string }
  | { kind: "rejected" | "unsent"; failure: Failure }
);

function shownBy(
  answer: Answer,
  { kind, id, wasDone }: { kind: "cancel" | "trigger"; id: string; wasDone: boolean },
): Shown {
  if (answer.kind === "data")
    return { kind: "possible", why: "the API accepted the request", isLast: false };
  if (answer.kind === "unclear") return { kind: "possible", why: describe(answer), isLast: false };
  if (answer.kind === "unsent")
    return {
      kind: "unsent",
      failure: unsent(answer),
      isLast: answer.fault.reason === "certificate",
    };
  // 409, 423, 425 and 429 do not prove that nothing was done, unless an earlier change explains a 409.
  const isLast = !isWaiting(answer) || (answer.why === "clash" && wasDone);
  return isLast && isFromApi(kind, answer)
    ? { kind: "rejected", failure: rejection(answer, id), isLast }
    : { kind: "possible", why: describe(answer), isLast };
}
