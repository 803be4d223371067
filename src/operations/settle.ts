import type { Data } from "../contract/endpoint.ts";
import type { ServiceContract } from "../contract/index.ts";
import { Failure } from "../failure.ts";
import type { Answer } from "../http/answer.ts";
import { attempted, dataOf, describe, refused, unsent } from "./outcome.ts";
import type { World } from "./world.ts";

/** A move whose effect can be looked at: doubt is settled by retrieving the record. */
interface Move<Record> {
  /** What is moved, for people: `refund RF77`. */
  about: string;
  id: string;
  target: "Completed" | "Cancelled";
  send: () => Promise<Answer>;
  retrieve: () => Promise<Answer<Record>>;
}

const tries = 3;
const pauseMs = 1_000;

export function cancelRefund(refundRequestId: string, note: string | undefined, world: World) {
  return settle<Data<ServiceContract["retrieveRefund"]>>(
    {
      about: `refund ${refundRequestId}`,
      id: refundRequestId,
      target: "Cancelled",
      send: () =>
        world.client.cancelRefund({ refundRequestId, ...(note === undefined ? {} : { note }) }),
      retrieve: () => world.client.retrieveRefund({ id: refundRequestId }),
    },
    world,
  );
}

export function triggerPayment(transactionId: string, world: World) {
  return settle<Data<ServiceContract["retrievePayment"]>>(
    {
      about: `payment ${transactionId}`,
      id: transactionId,
      target: "Completed",
      send: () => world.client.triggerPayment({ transactionId }),
      retrieve: () => world.client.retrievePayment({ transactionId }),
    },
    world,
  );
}

export function triggerPayout(payoutId: string, world: World) {
  return settle<Data<ServiceContract["retrievePayout"]>>(
    {
      about: `payout ${payoutId}`,
      id: payoutId,
      target: "Completed",
      send: () => world.client.triggerPayout({ payoutId }),
      retrieve: () => world.client.retrievePayout({ payoutId }),
    },
    world,
  );
}

/**
 * Makes the move, then shows the record as the service has it. On doubt it looks: a record that is
 * where it should be is success (money-safety.md §3). Once a try is in doubt, no refusal of a later
 * one ends the doubt: it may be our own first try that is in the way.
 */
async function settle<Record extends { status: string }>(
  move: Move<Record>,
  world: World,
): Promise<Record> {
  let doubt: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attempted(move.send);
    if (answer.kind === "refused" && answer.why !== "busy" && doubt === undefined) {
      throw await explained(move, answer);
    }
    if (answer.kind === "unclear") doubt = describe(answer);
    const record = await move.retrieve();
    const isThere = record.kind === "data" && record.data.status === move.target;
    if (record.kind === "data" && (isThere || answer.kind === "data")) return record.data;
    if (answer.kind === "data") return dataOf(record, move.id);
    const isOver = world.now() + pauseMs * attempt >= world.deadlineMs || world.isStopping();
    if (attempt >= tries || isOver) throw undecided(move, { answer, doubt, record });
    await world.sleep(pauseMs * attempt);
  }
}

/** A refusal, with the state that is behind it where the record tells. */
async function explained<Record extends { status: string }>(
  move: Move<Record>,
  answer: Extract<Answer, { kind: "refused" }>,
): Promise<Failure> {
  const plain = refused(answer, move.id);
  const record = plain.kind === "refused" ? await move.retrieve() : undefined;
  if (record?.kind !== "data" || record.data.status === "Processing") return plain;
  return new Failure(
    "refused",
    `The ${move.about} is already ${record.data.status}. ${plain.message}`,
    {
      ...plain.details,
      hint: "Nothing was changed.",
    },
  );
}

interface Undecided<Record> {
  answer: Exclude<Answer, { kind: "data" }>;
  doubt: string | undefined;
  record: Answer<Record>;
}

function undecided<Record extends { status: string }>(
  move: Move<Record>,
  { answer, doubt, record }: Undecided<Record>,
): Failure {
  if (doubt === undefined && answer.kind === "unsent") return unsent(answer);
  if (doubt === undefined && answer.kind === "refused") return refused(answer, move.id);
  const now = record.kind === "data" ? `it is ${record.data.status}` : "it could not be retrieved";
  return new Failure(
    "uncertain",
    `Whether the ${move.about} was moved is not known (${doubt}); ${now}.`,
    {
      hint: "Run the same command again: it looks before it does anything.",
      operation: move.id,
    },
  );
}
