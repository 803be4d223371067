import type { ServiceRecord } from "../api/contract/index.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { outOfBounds } from "../domain/record-bounds.ts";
import { declaredCode, isDiffering, isTest, isUnresolved, isUnsettled } from "../domain/state.ts";
import { type Resource, resources } from "../domain/statuses.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation, Outcome } from "../ledger/operation.ts";
import { comparedRecord } from "./compare.ts";
import type { OperationDeps } from "./deps.ts";
import { conflictIn } from "./known-record.ts";
import { resendPayout } from "./payout/send.ts";
import { restMs } from "./payout/unknown.ts";
import { lockedError, statusIn, timeIn } from "./record-outcome.ts";
import { resolveHint } from "./response-failure.ts";
import { conflictWith, getRecord, resourceOf, retrieveRecord } from "./status.ts";

/** A person's finding about an operation whose outcome is unknown. */
export type Finding = { created: string } | "not created" | undefined;

/** The outcome of an operation that a person found not to have been created. */
const declaredNotCreated: Outcome = {
  state: "NOT_SENT",
  code: declaredCode,
  message: "declared not created",
  isReported: true,
};

/** An operation as it is now, and whether the finding was recorded. */
export interface Learned {
  isWritten: boolean;
  operation: Operation;
}

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

/**
 * Resolves an operation whose outcome is unknown. A payout is sent again with the same reference, which
 * is safe for a day; the record of a cancel or a trigger is retrieved, and one that differed is compared again;
 * for a payment, a refund or another CONFLICT a person has to report what the dashboard shows.
 *
 * @param how `restsSinceMs`: since when no process works on it, if that is known, in milliseconds since 1970;
 * `confirmed`: the request of a payout that was shown to a person, so that nothing else is sent
 * @throws Failure that says what is still missing
 */
export async function resolve(
  operation: Operation,
  finding: Finding,
  deps: OperationDeps,
  how: { restsSinceMs?: number | undefined; confirmed?: Operation["asked"] | undefined } = {},
): Promise<Operation> {
  const ledger = await deps.ledger();
  const { restsSinceMs, confirmed } = how;
  const { kind, id, reference, state, message } = operation;
  const isTransition = kind === "cancel" || kind === "trigger";
  // Whoever declared it not created may have overlooked its record.
  const isCorrected =
    isDeclared(operation) && !isTransition && finding && finding !== "not created";
  if (!isUnresolved(operation) && !isCorrected) {
    if (finding) throw alreadyKnown(operation);
    return operation;
  }
  const by = await ledger.holderOf(operation);
  if (by) throw lockedError(reference ?? id, by);
  if (finding === "not created" && isDiffering(operation)) throw hasRecord(operation);
  if (finding === "not created") return learn(operation, declaredNotCreated, ledger);
  if (finding && !isTransition) return adopt(operation, finding.created, deps);
  if (isDiffering(operation) && operation.remoteId !== null) {
    await getRecord(resourceOf(operation), operation.remoteId, deps);
    return asItIsNow(operation, ledger);
  }
  const hint = resolveHint(reference ?? id, kind, operation);
  const details = { hint, operation: reference ?? id };
  // P15: sent again it would bring the same response, so only a person can end it.
  if (state === "CONFLICT") {
    const text = `Cannot resolve ${kind} ${reference ?? id} automatically. ${message}`;
    throw new Failure("record.differs", text, details);
  }
  // Its reference may be that of another test: sent again, it could create a payout.
  if (kind === "payout" && isTest(operation)) {
    const text = `Cannot resolve payout ${reference ?? id} automatically: lenden does not resend a payout of 'lenden verify-api'.`;
    throw new Failure("payout.outcome-unknown", text, details);
  }
  if (kind === "payout") {
    const moved = (now: Operation) => changedMeanwhile(now, ledger);
    await resendPayout(operation, { moved, restsSinceMs, confirmed }, deps);
    return asItIsNow(operation, ledger);
  }
  if (isTransition) return checkTransition(operation, deps, restsSinceMs);
  throw new Failure(
    kind === "payment" ? "payment.outcome-unknown" : "refund.outcome-unknown",
    `Cannot resolve ${kind} ${id} automatically: the API finds a ${kind} only by its ID.`,
    details,
  );
}

function isDeclared({ state, code }: Operation): boolean {
  return state === declaredNotCreated.state && code === declaredNotCreated.code;
}

/** The failure of a finding about a known outcome, or about an operation that was sent again. */
function alreadyKnown(operation: Operation): Failure {
  const { id, reference, state, updatedAt } = operation;
  const name = reference ?? id;
  const why = isUnsettled(operation)
    ? `Another process sent ${name} again on ${formatTime(updatedAt)}`
    : `The outcome of ${name} is already known: ${state}`;
  const hint = `To see its history, run 'lenden ledger show ${id}'.`;
  return new Failure("operation.known", `${why}.`, { hint, operation: id });
}

/** I14: its record proves that it was created, with other values; declared not created, it could be sent again. */
function hasRecord({ id, kind, remoteId }: Operation): Failure {
  return new Failure(
    "operation.known",
    `Cannot record ${kind} ${id} as not created: the API has its record ${remoteId}, with other values.`,
    { hint: `To compare the record again, run 'lenden ledger resolve ${id}'.`, operation: id },
  );
}

/** Records the ID that a person found, if its record is what the operation requested. */
async function adopt(
  operation: Operation,
  remoteId: string,
  deps: OperationDeps,
): Promise<Operation> {
  const ledger = await deps.ledger();
  const kind = resourceOf(operation);
  const record = await retrieveRecord(kind, remoteId, deps);
  const { different, unclear } = comparedRecord(operation, record);
  const problems = [...different, ...unclear, ...outOfBounds(kind, remoteId, record)];
  const holder = await ledger.recordHolder(operation.kind, remoteId);
  if (holder && holder !== operation.id) problems.push(`${remoteId} already belongs to ${holder}`);
  if (problems.length === 0)
    return learn(
      operation,
      { state: "CONFIRMED", remoteId, ...statusIn(record), isReported: true },
      ledger,
    );
  throw new Failure(
    "record.differs",
    `Record ${remoteId} differs from what operation ${operation.id} requested.`,
    {
      problems,
      hint: `Find the record with the requested values, and use its ID.${isUnresolved(operation) ? " If there is none, use --not-created." : ""}`,
      operation: operation.id,
    },
  );
}

/** Retrieves the record of a cancel or a trigger, once the API has had the time to finish it. */
async function checkTransition(
  operation: Operation,
  deps: OperationDeps,
  restsSinceMs: number | undefined,
): Promise<Operation> {
  const { id, asked, target } = operation;
  await deps.sleep(await restMs(operation, deps, restsSinceMs));
  if (deps.isStopping())
    throw new Failure("transition.outcome-unknown", `The API may still process ${id}.`, {
      hint: "Run the same command again, and let it wait for ten seconds.",
      operation: id,
    });
  const resource = resources.find((one) => one === asked.resource) ?? "payment";
  const record = await retrieveRecord(resource, target ?? "", deps);
  const conflict = await conflictWith({ kind: resource, id: target ?? "" }, record, deps);
  if (conflict) deps.notice(inOneLine(conflict), conflict.reason);
  const state = record.status === asked.target ? "CONFIRMED" : "NOT_SENT";
  return learn(operation, { state, ...statusIn(record) }, await deps.ledger());
}

/** @throws Failure if another process sent it or recorded its outcome in the meantime */
async function learn(read: Operation, outcome: Outcome, ledger: Ledger): Promise<Operation> {
  const answer = await ledger.learn({ seen: read, outcome });
  const now = await asItIsNow(read, ledger);
  if (answer.kind === "recorded") return now;
  throw await changedMeanwhile(now, ledger);
}

async function changedMeanwhile(operation: Operation, ledger: Ledger): Promise<Failure> {
  const by = await ledger.holderOf(operation);
  return by ? lockedError(operation.reference ?? operation.id, by) : alreadyKnown(operation);
}

/** Reads it for display. That must not fail: the money has moved by now. */
async function asItIsNow(operation: Operation, ledger: Ledger): Promise<Operation> {
  const found = await ledger.find(operation.id).catch(() => undefined);
  return found ?? operation;
}

/** A record that was just retrieved. */
interface Retrieved {
  kind: Resource;
  id: string;
  record: ServiceRecord;
}

/**
 * Records what a retrieved record shows: the status of the operation that created it, changes of status that
 * it proves, and the one operation of unknown outcome that it is the record of. If it could be the record
 * of two, it resolves neither.
 *
 * @returns the operations whose outcome is known now, and the failure of a record that is not what its operation
 * requested
 */
export async function resolveByRecord(
  found: Retrieved,
  deps: OperationDeps,
): Promise<{ resolved: Operation[]; conflict: Failure | undefined }> {
  const ledger = await deps.ledger();
  const { kind, id, record } = found;
  const outcome = { state: "CONFIRMED", ...statusIn(record) } as const;
  const unknown = await ledger.unsettled();
  const resolved: Operation[] = [];
  const known = { resolved, conflict: undefined };
  const confirm = async (seen: Operation, more: Partial<Outcome> = {}) => {
    const learned = await ledger.learn({ seen, outcome: { ...outcome, ...more } });
    if (learned.kind === "recorded") resolved.push(seen);
  };
  for (const one of unknown)
    if (isTransitionTo(one, found) && !(await ledger.holderOf(one))) await confirm(one);
  if (await ledger.recordHolder(kind, id)) {
    return { resolved, conflict: await conflictWith({ kind, id }, record, deps) };
  }
  if (outOfBounds(kind, id, record).length > 0) return known;
  const rejected = await rejectedHere(found, ledger);
  if (rejected) {
    const recordCreatedAt = timeIn(record.createdAt);
    await confirm(rejected, {
      remoteId: id,
      code: "existing",
      ...(recordCreatedAt ? { recordCreatedAt } : {}),
    });
    return known;
  }
  // The record may also belong to an operation that another process is sending.
  const [own, another] = unknown.filter((one) => one.kind === kind && hasCreated(one, record));
  if (own && !another && !(await ledger.find(id))) await confirm(own, { remoteId: id });
  return known;
}

/** The same payout, which was rejected or not sent here, and sent from another ledger under its reference. */
async function rejectedHere(
  { kind, id, record }: Retrieved,
  ledger: Ledger,
): Promise<Operation | undefined> {
  const reference = kind === "payout" ? record.merchantRef : undefined;
  const own = reference ? await ledger.find(reference) : undefined;
  const isRejected = own?.state === "REFUSED" || own?.state === "NOT_SENT";
  return isRejected && !conflictIn({ ...own, remoteId: id }, record) ? own : undefined;
}

/** True for a cancel or a trigger of this record, if the record has the requested status. */
function isTransitionTo({ kind, target, asked }: Operation, found: Retrieved): boolean {
  const isTransition = kind === "cancel" || kind === "trigger";
  const isOfIt = target === found.id && asked.resource === found.kind;
  return isTransition && isOfIt && asked.target === found.record.status;
}

/**
 * When the record of an operation may have been created, relative to its start and to its last attempt. Two
 * clocks may differ.
 */
const creation = { earliestMs: -5 * 60_000, latestMs: 10 * 60_000 };

/**
 * True if an operation must have created a record. No user confirms it here, so more must agree than in
 * `ledger resolve --created`: a payment's description, and the time of its creation.
 */
function hasCreated(operation: Operation, record: ServiceRecord): boolean {
  const { kind, asked, createdAt, updatedAt } = operation;
  const { different, unclear } = comparedRecord(operation, record);
  if (different.length + unclear.length > 0) return false;
  if (kind === "payment" && record.description !== asked.description) return false;
  const createdMs = Date.parse(record.createdAt ?? "");
  return (
    createdMs - Date.parse(createdAt) >= creation.earliestMs &&
    createdMs - Date.parse(updatedAt) <= creation.latestMs
  );
}
