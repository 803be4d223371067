import type { Data } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import type { ServiceRecord } from "../api/contract/record.ts";
import type { Answer } from "../api/response.ts";
import { Failure } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import type { World } from "./deps.ts";
import { attempted, describe, unsent } from "./outcome.ts";
import { recorded } from "./record-outcome.ts";
import { isOwnWord, refused } from "./rejection.ts";
import { isWaiting } from "./resend.ts";
import { checkStop } from "./stop.ts";
import { remembered } from "./wait.ts";

/** A change of status whose effect can be seen: where there is doubt, the record is retrieved. */
interface Move<Retrieved> {
  /** True if this ledger has such a move of the record already: then a 409 refers to that one. */
  wasMoved?: boolean;
  resource: Resource;
  id: string;
  kind: "cancel" | "trigger";
  target: "Completed" | "Cancelled";
  send: () => Promise<Answer>;
  retrieve: () => Promise<Answer<Retrieved>>;
}

const tries = 3;
const pauseMs = 1_000;

export function cancelRefund(refundRequestId: string, note: string | undefined, world: World) {
  return makeMove<Data<ServiceContract["retrieveRefund"]>>(
    {
      resource: "refund",
      id: refundRequestId,
      kind: "cancel",
      target: "Cancelled",
      send: () =>
        world.client.cancelRefund({ refundRequestId, ...(note === undefined ? {} : { note }) }),
      retrieve: () => world.client.retrieveRefund({ id: refundRequestId }),
    },
    world,
  );
}

export function triggerPayment(transactionId: string, world: World) {
  return makeMove<Data<ServiceContract["retrievePayment"]>>(
    {
      resource: "payment",
      id: transactionId,
      kind: "trigger",
      target: "Completed",
      send: () => world.client.triggerPayment({ transactionId }),
      retrieve: () => world.client.retrievePayment({ transactionId }),
    },
    world,
  );
}

export function triggerPayout(payoutId: string, world: World) {
  return makeMove<Data<ServiceContract["retrievePayout"]>>(
    {
      resource: "payout",
      id: payoutId,
      kind: "trigger",
      target: "Completed",
      send: () => world.client.triggerPayout({ payoutId }),
      retrieve: () => world.client.retrievePayout({ payoutId }),
    },
    world,
  );
}

/** Writes the move down, makes it, and keeps what was seen of the record. */
async function makeMove<Retrieved extends ServiceRecord>(
  move: Move<Retrieved>,
  world: World,
): Promise<Retrieved> {
  const intent = {
    kind: move.kind,
    reference: null,
    target: move.id,
    amountPaisa: null,
    asked: { resource: move.resource, target: move.target },
  };
  const claim = await (await world.ledger()).claim({ intent, onDuplicate: "send" });
  if (claim.kind !== "new") throw new Error(`a ${move.kind} cannot be ${claim.kind}`);
  const { operation, earlier } = claim;
  const wasMoved = earlier !== undefined;
  const moved = await recorded(operation, world, async () => {
    const result = await untilMoved({ ...move, wasMoved }, world);
    return { result, status: result.status };
  });
  return remembered({ kind: move.resource, id: move.id }, moved, world);
}

/**
 * Makes the move, then retrieves the record. Only the record tells: if it is where it should be, that
 * is success, whatever the answer was. Once a try is in doubt, a later refusal does not end the doubt:
 * our own first try may be the reason for it.
 */
async function untilMoved<Retrieved extends ServiceRecord>(
  move: Move<Retrieved>,
  world: World,
): Promise<Retrieved> {
  let doubt: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    if (doubt === undefined) checkStop(world);
    const answer = await attempted(move.send);
    if (answer.kind === "unclear") doubt = describe(answer);
    if (answer.kind === "data") doubt ??= "the API confirmed it";
    const isNo = answer.kind === "refused" && isFinal(answer, move);
    if (answer.kind === "refused" && !(isNo && isOwnWord(move.kind, answer)))
      doubt ??= describe(answer);
    if (isNo && doubt === undefined) throw await explained(move, answer);
    const record = await move.retrieve();
    if (record.kind === "data") {
      const { status } = record.data;
      if (status === move.target && doubt !== undefined) return record.data;
      if (status !== "Processing" && status !== move.target) throw ended(move, status);
    }
    const isHopeless = answer.kind === "unsent" && answer.fault.reason === "certificate";
    const isOver = world.now() + pauseMs * attempt >= world.deadlineMs || world.isStopping();
    if (attempt >= tries || isNo || isHopeless || isOver) {
      throw undecided(move, { answer, doubt, record });
    }
    await world.sleep(pauseMs * attempt);
    if (world.isStopping()) throw undecided(move, { answer, doubt, record });
  }
}

/** 409, 423, 425 and 429 do not prove that nothing was done, unless an earlier move explains a 409. */
function isFinal<Retrieved>(
  answer: Extract<Answer, { kind: "refused" }>,
  { wasMoved }: Move<Retrieved>,
): boolean {
  return !isWaiting(answer) || (answer.why === "clash" && wasMoved === true);
}

function ended<Retrieved>(move: Move<Retrieved>, status: string): Failure {
  return new Failure(
    "transition.already-ended",
    `The ${move.resource} ${move.id} is already ${status}.`,
    { operation: move.id },
  );
}

/** A refusal, with the state that is behind it where the record tells. */
async function explained<Retrieved extends ServiceRecord>(
  move: Move<Retrieved>,
  answer: Extract<Answer, { kind: "refused" }>,
): Promise<Failure> {
  const plain = refused(answer, move.id);
  const record = plain.kind === "refused" ? await move.retrieve() : undefined;
  if (record?.kind !== "data" || record.data.status === "Processing") return plain;
  const { hint: _, ...details } = plain.details;
  return new Failure(
    "transition.already-ended",
    `The ${move.resource} ${move.id} is already ${record.data.status}. ${plain.message}`,
    details,
  );
}

interface Undecided<Retrieved> {
  answer: Answer;
  doubt: string | undefined;
  record: Answer<Retrieved>;
}

function undecided<Retrieved extends ServiceRecord>(
  move: Move<Retrieved>,
  { answer, doubt, record }: Undecided<Retrieved>,
): Failure {
  if (doubt === undefined && answer.kind === "unsent") return unsent(answer);
  if (doubt === undefined && answer.kind === "refused") return refused(answer, move.id);
  const now = record.kind === "data" ? `it is ${record.data.status}` : "it could not be retrieved";
  return new Failure(
    "transition.outcome-unknown",
    `Cannot confirm the ${move.kind} of ${move.resource} ${move.id} (${doubt}): ${now}.`,
    {
      hint: "Run the same command again: a second run has no second effect.",
      operation: move.id,
    },
  );
}
