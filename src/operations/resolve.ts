import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { isUnresolved, isUnsettled } from "../domain/state.ts";
import { resources } from "../domain/statuses.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation, Outcome } from "../ledger/operation.ts";
import { resendPayout } from "../payouts/send.ts";
import { restMs } from "../payouts/unknown.ts";
import { comparedRecord, conflictHint } from "./compare.ts";
import type { World } from "./deps.ts";
import { held } from "./record-outcome.ts";
import { resourceOf, retrieveRecord } from "./service-record.ts";

/** What a person found out about an operation whose outcome is unknown. */
export type Finding = { created: string } | "not created" | undefined;

/** What the ledger records of an operation that a person found not to have been created. */
const declaredNotCreated: Outcome = {
  state: "NOT_SENT",
  code: "declared",
  message: "declared not created",
};

/**
 * Records operations as not created, in one transaction: each only if it is unchanged since it was read and
 * no process works on it.
 */
export async function declareNotCreated(read: Operation[], ledger: Ledger): Promise<Learned[]> {
  const requests = read.map(
    (seen) => ({ kind: "learn", seen, outcome: declaredNotCreated }) as const,
  );
  const answers = await ledger.change(requests);
  return Promise.all(
    read.map(async (seen, index) => ({
      isWritten: answers[index]?.kind === "recorded",
      operation: await asItIsNow(seen, ledger),
    })),
  );
}

/** An operation as it is now, and whether the finding was recorded. */
export interface Learned {
  isWritten: boolean;
  operation: Operation;
}

/**
 * Resolves an operation whose outcome is unknown. A payout is sent again with the same reference, which
 * is safe for a day; a move is retrieved; for a payment, a refund or a CONFLICT a person has to report what
 * the dashboard shows.
 *
 * @throws Failure that says what is still missing
 */
export async function resolve(
  operation: Operation,
  finding: Finding,
  world: World,
): Promise<Operation> {
  const ledger = await world.ledger();
  if (!isUnresolved(operation)) {
    if (finding) throw notUncertain(operation);
    return operation;
  }
  const by = await ledger.holderOf(operation);
  if (by) throw held(operation.reference ?? operation.id, by);
  if (finding === "not created") {
    return learnt(operation, declaredNotCreated, ledger);
  }
  const isMove = operation.kind === "cancel" || operation.kind === "trigger";
  if (finding && !isMove) return adopt(operation, finding.created, world);
  if (operation.state === "CONFLICT") throw stillConflict(operation);
  if (operation.kind === "payout") {
    await resendPayout(operation, (now) => moved(now, ledger), world);
    return asItIsNow(operation, ledger);
  }
  if (isMove) return look(operation, world);
  throw new Failure(
    operation.kind === "payment" ? "payment.outcome-unknown" : "refund.outcome-unknown",
    `Cannot resolve ${operation.kind} ${operation.id}: the API cannot look it up.`,
    {
      hint: conflictHint(operation.id, operation.kind),
      operation: operation.id,
    },
  );
}

/** P15: sent again it would bring the same response, so only a person can end it. */
function stillConflict({ id, kind, reference, message }: Operation): Failure {
  const name = reference ?? id;
  return new Failure("record.differs", `The ${kind} ${name} is in CONFLICT: ${message}`, {
    hint: conflictHint(name, kind),
    operation: name,
  });
}

/** Where the outcome is known, or is looked for again now, it cannot be declared. */
function notUncertain(operation: Operation): Failure {
  const { id, state, updatedAt } = operation;
  const why = isUnsettled(operation)
    ? `${id} was sent again at ${formatTime(updatedAt)}`
    : `The outcome of ${id} is known: ${state}`;
  return new Failure("usage", `${why}. Nothing was sent.`, {
    hint: `To see its history, run 'lenden ledger show ${id}'.`,
    operation: id,
  });
}

/** Takes an id for an operation, once the record behind it is the one that was asked for. */
async function adopt(operation: Operation, remoteId: string, world: World): Promise<Operation> {
  const ledger = await world.ledger();
  const record = await retrieveRecord(resourceOf(operation), remoteId, world);
  const { different, unclear } = comparedRecord(operation, record);
  const problems = [...different, ...unclear];
  const taken = await ledger.ofRecord(operation.kind, remoteId);
  if (taken && taken.number !== operation.number)
    problems.push(`it already belongs to ${taken.id}`);
  if (problems.length === 0)
    return learnt(operation, { state: "CONFIRMED", remoteId, status: record.status }, ledger);
  throw new Failure("record.differs", `${remoteId} is not what ${operation.id} requested.`, {
    problems,
    hint: `Compare it with 'lenden ledger show ${operation.id}'.`,
    operation: operation.id,
  });
}

/** A cancel or a trigger: the record itself shows whether it happened, once the service is not at it any longer. */
async function look(operation: Operation, world: World): Promise<Operation> {
  const ledger = await world.ledger();
  const nowMs = world.now();
  await world.sleep(restMs(operation, { nowMs, deadSinceMs: nowMs }));
  if (world.isStopping()) throw atWork(operation);
  const { resource, target } = operation.asked;
  const id = operation.target ?? "";
  const moved = resources.find((one) => one === resource) ?? "payment";
  const { status } = await retrieveRecord(moved, id, world);
  const state = status === target ? "CONFIRMED" : "NOT_SENT";
  return learnt(operation, { state, status }, ledger);
}

function atWork({ id }: Operation): Failure {
  return new Failure("transition.outcome-unknown", `The API may still process ${id}.`, {
    hint: "Run the same command again, and wait at least ten seconds.",
    operation: id,
  });
}

/** @throws Failure if another process sent it or recorded its outcome in the meantime */
async function learnt(read: Operation, outcome: Outcome, ledger: Ledger): Promise<Operation> {
  const answer = await ledger.learn({ seen: read, outcome });
  const now = await asItIsNow(read, ledger);
  if (answer.kind === "recorded") return now;
  throw await moved(now, ledger);
}

/** What another process did to it meanwhile. */
async function moved(operation: Operation, ledger: Ledger): Promise<Failure> {
  const by = await ledger.holderOf(operation);
  return by ? held(operation.reference ?? operation.id, by) : notUncertain(operation);
}

/** Reads it for display. That must not fail: the money has moved by now. */
async function asItIsNow(operation: Operation, ledger: Ledger): Promise<Operation> {
  try {
    return (await ledger.find(operation.id)) ?? operation;
  } catch {
    return operation;
  }
}
