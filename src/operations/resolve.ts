import { formatTime } from "../contract/local-time.ts";
import { resources } from "../contract/words.ts";
import { Failure } from "../failure.ts";
import type { Learned } from "../ledger/changes.ts";
import type { SharedLedger } from "../ledger/commit-queue.ts";
import type { Operation, Outcome } from "../ledger/operation.ts";
import { isUnresolved, isUnsettled } from "../state.ts";
import { comparedRecord, conflictHint } from "./compared.ts";
import { restMs } from "./doubt.ts";
import { resendPayout } from "./payout/send.ts";
import { held } from "./recorded.ts";
import { resourceOf, retrieveRecord } from "./service-record.ts";
import type { World } from "./world.ts";

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
export function declareNotCreated(
  read: Operation[],
  ledger: Pick<SharedLedger, "learnAll">,
): Learned[] {
  return ledger.learnAll(read, declaredNotCreated);
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
  const by = ledger.holderOf(operation);
  if (by) throw held(operation.reference ?? operation.id, by);
  if (finding === "not created") {
    return learnt(operation, declaredNotCreated, ledger);
  }
  const isMove = operation.kind === "cancel" || operation.kind === "trigger";
  if (finding && !isMove) return adopt(operation, finding.created, world);
  if (operation.state === "CONFLICT") throw stillConflict(operation);
  if (operation.kind === "payout") {
    if (!ledger.isOwn(operation)) throw ofAnotherKey(operation);
    await resendPayout(operation, (now) => moved(now, ledger), world);
    return asItIsNow(operation, ledger);
  }
  if (isMove) return look(operation, world);
  throw new Failure(
    "uncertain",
    `Cannot resolve ${operation.kind} ${operation.id}: the API cannot look it up. Outcome unknown: money may have moved.`,
    {
      hint: conflictHint(operation.id, operation.kind),
      operation: operation.id,
    },
  );
}

/** P15: sent again it would bring the same response, so only a person can end it. */
function stillConflict({ id, kind, reference, message }: Operation): Failure {
  const name = reference ?? id;
  return new Failure("conflict", `The ${kind} ${name} is in CONFLICT: ${message}`, {
    hint: conflictHint(name, kind),
    operation: name,
  });
}

/** Sent again with this key it would be another payout, if this is another merchant's. */
function ofAnotherKey({ id }: Operation): Failure {
  return new Failure(
    "refused",
    `Cannot send ${id} again: it was sent with another API key. Nothing was sent now.`,
    {
      hint: conflictHint(id),
      operation: id,
    },
  );
}

/** Where the outcome is known, or was sought anew meanwhile, nobody may say something else. */
function notUncertain(operation: Operation): Failure {
  const { id, state, updatedAt } = operation;
  const why = isUnsettled(operation)
    ? `${id} was sent again at ${formatTime(updatedAt)}`
    : `${id} is ${state}, and not uncertain`;
  return new Failure("usage", `${why}.`, {
    hint: `Nothing was changed. 'lenden ledger show ${id}' says how it came to that.`,
    operation: id,
  });
}

/** Takes an id for an operation, once the record behind it is the one that was asked for. */
async function adopt(operation: Operation, remoteId: string, world: World): Promise<Operation> {
  const ledger = await world.ledger();
  const record = await retrieveRecord(resourceOf(operation), remoteId, world);
  const { different, unclear } = comparedRecord(operation, record);
  const problems = [...different, ...unclear];
  const taken = ledger.ofRecord(operation.kind, remoteId);
  if (taken && taken.number !== operation.number)
    problems.push(`it already belongs to ${taken.id}`);
  if (problems.length === 0)
    return learnt(operation, { state: "CONFIRMED", remoteId, status: record.status }, ledger);
  throw new Failure("conflict", `${remoteId} is not what ${operation.id} asked for.`, {
    problems,
    hint: "Nothing was changed. Compare both with 'lenden ledger show'.",
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
  return new Failure(
    "uncertain",
    `The service may still be at work on ${id}; it was not looked at.`,
    {
      hint: "Run the same command again, and give it ten seconds.",
      operation: id,
    },
  );
}

/** @throws Failure where somebody else sent or settled it while it was looked at */
function learnt(read: Operation, outcome: Outcome, ledger: SharedLedger): Operation {
  const { isWritten, operation } = ledger.learn(read, outcome);
  if (isWritten) return operation;
  throw moved(operation, ledger);
}

/** What another process did to it meanwhile. */
function moved(operation: Operation, ledger: SharedLedger): Failure {
  const by = ledger.holderOf(operation);
  return by ? held(operation.reference ?? operation.id, by) : notUncertain(operation);
}

/** Reads it for display. That must not fail: the money has moved by now. */
function asItIsNow(operation: Operation, ledger: SharedLedger): Operation {
  try {
    return ledger.find(operation.id) ?? operation;
  } catch {
    return operation;
  }
}
