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
  send: () => Promise<Answer>;
  /** True if the ledger has the same change of the record already: a 409 is then about that one. */
  wasDone?: boolean;
}

const tries = 3;
const pauseMs = 1_000;

export function cancelRefund(
  refundRequestId: string,
  note: string | undefined,
  deps: OperationDeps,
): Promise<RecordOf["refund"]> {
  const body = { refundRequestId, ...(note === undefined ? {} : { note }) };
  const send = () => deps.client.cancelRefund(body);
  const what = { resource: "refund", kind: "cancel", target: "Cancelled" } as const;
  return makeTransition({ ...what, id: refundRequestId, send }, deps);
}

export function triggerPayment(
  transactionId: string,
  deps: OperationDeps,
): Promise<RecordOf["payment"]> {
  const send = () => deps.client.triggerPayment({ transactionId });
  const what = { resource: "payment", kind: "trigger", target: "Completed" } as const;
  return makeTransition({ ...what, id: transactionId, send }, deps);
}

export function triggerPayout(payoutId: string, deps: OperationDeps): Promise<RecordOf["payout"]> {
  const send = () => deps.client.triggerPayout({ payoutId });
  const what = { resource: "payout", kind: "trigger", target: "Completed" } as const;
  return makeTransition({ ...what, id: payoutId, send }, deps);
}

/** Records the intent, makes the change, and records the status of the record. */
async function makeTransition<Kind extends Resource>(
  transition: Transition<Kind>,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  const { kind, resource, id, target } = transition;
  const asked = { resource, target };
  const intent = { kind, reference: null, target: id, amountPaisa: null, asked };
  const claim = await (await deps.ledger()).claim({ intent, onDuplicate: "send" });
  if (claim.kind !== "new") throw new Error(`a ${kind} cannot be ${claim.kind}`);
  const { operation, earlier } = claim;
  const changed = await recorded(operation, deps, async () => {
    const result = await untilDone({ ...transition, wasDone: earlier !== undefined }, deps);
    return { result, status: result.status };
  });
  return remembered({ kind: resource, id }, changed, deps);
}

/**
 * Sends the request, then retrieves the record. Only the record shows whether it worked: if it has the
 * status, that is success, whatever the response was. Once the outcome of an attempt is unknown, a later
 * rejection proves nothing, because the first attempt may be its cause.
 */
async function untilDone<Kind extends Resource>(
  transition: Transition<Kind>,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  const { resource, id, kind, target } = transition;
  let doubt: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    if (doubt === undefined) checkStop(deps);
    const answer = await attempted(transition.send);
    if (answer.kind === "unclear") doubt = describe(answer);
    if (answer.kind === "data") doubt ??= "the API confirmed it";
    const isFinal = answer.kind === "refused" && isFinalRejection(answer, transition);
    if (answer.kind === "refused" && !(isFinal && isFromApi(kind, answer)))
      doubt ??= describe(answer);
    if (isFinal && doubt === undefined) throw await explained(transition, answer, deps);
    const record = await requestRecord(resource, id, deps);
    if (record.kind === "data") {
      const { status } = record.data;
      if (status === target && doubt !== undefined) return record.data;
      if (status !== "Processing" && status !== target) throw alreadyEnded(transition, status);
    }
    const isHopeless = answer.kind === "unsent" && answer.fault.reason === "certificate";
    const isOver = deps.now() + pauseMs * attempt >= deps.deadlineMs || deps.isStopping();
    if (attempt >= tries || isFinal || isHopeless || isOver)
      throw undecided(transition, { answer, doubt, record });
    await deps.sleep(pauseMs * attempt);
    if (deps.isStopping()) throw undecided(transition, { answer, doubt, record });
  }
}

/** 409, 423, 425 and 429 do not prove that nothing was done, unless an earlier change explains a 409. */
function isFinalRejection(
  answer: Extract<Answer, { kind: "refused" }>,
  { wasDone }: Pick<Transition<Resource>, "wasDone">,
): boolean {
  return !isWaiting(answer) || (answer.why === "clash" && wasDone === true);
}

type Failing = Pick<Transition<Resource>, "resource" | "id" | "kind">;

function alreadyEnded({ resource, id }: Failing, status: string): Failure {
  const message = `The ${resource} ${id} is already ${status}.`;
  return new Failure("transition.already-ended", message, { operation: id });
}

/** A rejection, with the status that explains it if the record has one. */
async function explained(
  transition: Failing,
  answer: Extract<Answer, { kind: "refused" }>,
  deps: OperationDeps,
): Promise<Failure> {
  const { resource, id } = transition;
  const plain = rejection(answer, id);
  if (plain.kind !== "refused") return plain;
  const record = await requestRecord(resource, id, deps);
  if (record.kind !== "data" || record.data.status === "Processing") return plain;
  const { hint: _, ...details } = plain.details;
  return new Failure(
    "transition.already-ended",
    `The ${resource} ${id} is already ${record.data.status}. ${plain.message}`,
    details,
  );
}

interface Undecided {
  answer: Answer;
  doubt: string | undefined;
  record: Answer<{ status: string }>;
}

function undecided({ resource, id, kind }: Failing, { answer, doubt, record }: Undecided): Failure {
  if (doubt === undefined && answer.kind === "unsent") return unsent(answer);
  if (doubt === undefined && answer.kind === "refused") return rejection(answer, id);
  const now = record.kind === "data" ? `it is ${record.data.status}` : "it could not be retrieved";
  return new Failure(
    "transition.outcome-unknown",
    `Cannot confirm the ${kind} of ${resource} ${id} (${doubt}): ${now}.`,
    { hint: "Run the same command again: a second run has no second effect.", operation: id },
  );
}
