import type { Answer } from "../api/response.ts";
import { Failure } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import { checkStop, type OperationDeps } from "./deps.ts";
import { recorded } from "./record-outcome.ts";
import {
  attempted,
  describe,
  isFromApi,
  isWaiting,
  rejection,
  unsent,
} from "./response-failure.ts";
import { type RecordOf, remembered, requestRecord } from "./status.ts";

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

export function triggerPayment(transactionId: string, deps: OperationDeps) {
  const what = { resource: "payment", kind: "trigger", target: "Completed" } as const;
  const send = () => deps.client.triggerPayment({ transactionId });
  return changeStatus({ ...what, id: transactionId }, send, deps);
}

export function triggerPayout(payoutId: string, deps: OperationDeps) {
  const what = { resource: "payout", kind: "trigger", target: "Completed" } as const;
  const send = () => deps.client.triggerPayout({ payoutId });
  return changeStatus({ ...what, id: payoutId }, send, deps);
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
    return { result, status: result.status };
  });
  return remembered({ kind: resource, id }, changed, deps);
}

/**
 * Sends the request, then retrieves the record. Only the record shows whether it worked: if it has the
 * status, that is success, whatever the response was. Once the outcome of an attempt is unknown, a later
 * rejection proves nothing, because the first attempt may be its cause.
 *
 * @param wasDone true if the ledger has the same change of the record already: a 409 is then about that one
 */
async function untilDone<Kind extends Resource>(
  { resource, id, kind, target }: Transition<Kind>,
  send: () => Promise<Answer>,
  wasDone: boolean,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  /** Why the change may have been made. */
  let reached: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    if (reached === undefined) checkStop(deps);
    const answer = await attempted(send);
    // 409, 423, 425 and 429 do not prove that nothing was done, unless an earlier change explains a 409.
    const isFinal =
      answer.kind === "refused" && (!isWaiting(answer) || (answer.why === "clash" && wasDone));
    const isProof = answer.kind === "unsent" || (isFinal && isFromApi(kind, answer));
    if (answer.kind === "data") reached ??= "the API confirmed it";
    else if (answer.kind === "unclear") reached = describe(answer);
    else if (!isProof) reached ??= describe(answer);
    const plain = isFinal && reached === undefined ? rejection(answer, id) : undefined;
    if (plain && plain.kind !== "refused") throw plain;
    const record = await requestRecord(resource, id, deps);
    if (record.kind === "data") {
      const { status } = record.data;
      if (status === target && reached !== undefined) return record.data;
      if (status !== "Processing" && (status !== target || plain)) {
        const { hint: _, ...details } = plain?.details ?? {};
        const why = plain ? ` ${plain.message}` : "";
        const message = `The ${resource} ${id} is already ${status}.${why}`;
        throw new Failure("transition.already-ended", message, { ...details, operation: id });
      }
    }
    if (plain) throw plain;
    const undecided = (): Failure => {
      if (reached === undefined && answer.kind === "unsent") return unsent(answer);
      if (reached === undefined && answer.kind === "refused") return rejection(answer, id);
      const now = record.kind === "data" ? `it is ${record.data.status}` : "it was not retrieved";
      return new Failure(
        "transition.outcome-unknown",
        `Cannot confirm the ${kind} of ${resource} ${id} (${reached}): ${now}.`,
        { hint: "Run the same command again: a second run has no second effect.", operation: id },
      );
    };
    const isHopeless = answer.kind === "unsent" && answer.fault.reason === "certificate";
    const isOver = deps.now() + pauseMs * attempt >= deps.deadlineMs || deps.isStopping();
    if (attempt >= attempts || isFinal || isHopeless || isOver) throw undecided();
    await deps.sleep(pauseMs * attempt);
    if (deps.isStopping()) throw undecided();
  }
}
