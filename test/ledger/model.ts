import { payeeOf } from "../../src/domain/mobile.ts";
import { replacedReferences } from "../../src/domain/new-reference.ts";
import { isTest, isUnresolved, isUnsettled, phaseOf, testCommand } from "../../src/domain/state.ts";
import { isLocalSandbox } from "../../src/domain/url.ts";
import {
  type ChangeAnswer,
  type ChangeRequest,
  type ClaimAnswer,
  createSingleChanges,
  type OutcomeAnswer,
  type SingleChanges,
} from "../../src/ledger/change.ts";
import { fieldsBy, recipientOf } from "../../src/ledger/columns.ts";
import {
  bookedAt,
  type ClaimFacts,
  type ClaimRequest,
  checkDuplicates,
  claimOfResumed,
  conflictOfLate,
  decideClaim,
  decideOrder,
  decideOutcome,
  hasValidSeal,
  isSameAmountAndRecipient,
  isUnchanged,
  judgeAgain,
  type Ordered,
  outcomeOfTaken,
  type PlannedRow,
  payoutOf,
  refundSumsOf,
  timeOfOutcome,
  wasChecked,
} from "../../src/ledger/decide.ts";
import { readEvent } from "../../src/ledger/events.ts";
import { storableOutcome } from "../../src/ledger/intent.ts";
import type { BatchReads, Ledger } from "../../src/ledger/ledger.ts";
import type {
  Filter,
  FoundOperation,
  Intent,
  Kind,
  Operation,
} from "../../src/ledger/operation.ts";
import { type Sealer, sealOf } from "../../src/ledger/seal.ts";
import { canFollow } from "../../src/ledger/transitions.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { modelBatches, modelBatchReads, type OpenRow, openRowsOf } from "./model-batches.ts";
import { modelCallbacks } from "./model-callbacks.ts";
import { modelLimits } from "./model-limits.ts";
import { type ModelState, modelRun } from "./model-state.ts";

export type Modeled = Pick<
  Ledger,
  | ("change" | "preview" | "find" | "findElsewhere" | "ofRecord" | "ofNames" | "refundsOf")
  | ("unsettled" | "account" | "list" | "count" | "batches" | "callbacks" | "limits")
  | keyof (SingleChanges & BatchReads)
>;

/**
 * The ledger of one process, in the plainest form: every question walks through all operations. It shares
 * the decisions with every store, and nothing else.
 */
export function modelLedger(state: ModelState, worker: Worker): Modeled {
  const { owner } = worker;
  const run = modelRun(state, worker);
  const { account, isOwn, isGuarded, now, take } = run;
  const batchIdOf = ({ batch }: Operation) =>
    state.batches.find((one) => one.batch.number === batch)?.batch.id ?? null;
  const found = (one: Operation): FoundOperation => ({
    ...one,
    lastAsked: state.asked.get(one.number) ?? one.asked,
    batchId: batchIdOf(one),
    wasPlanned: state.planned.has(one.number),
    isArriving: false,
    taker: state.taken.has(one.number) ? { lock: "", login: undefined } : undefined,
    seal: state.seals.get(one.number) ?? null,
    // All processes of a model have one login.
    trusted: { openedAt: one.openedAt, keyHash: one.keyHash },
    orderedAt: state.adopted.has(one.number) ? undefined : 0,
    newestAt: newestAt(one),
    reportedAt: state.reported.get(one.number),
    freeStates: [],
    others: null,
  });
  const newestAt = ({ number }: Operation) => state.newest.get(number) ?? "";
  const saw = (one: Operation, at: string) => {
    if (at > newestAt(one)) state.newest.set(one.number, at);
  };
  const limits = modelLimits(run, found);
  const newest = (found: Operation[]) => found.at(-1);
  const holderOf = ({ holder }: Operation) => run.running(holder);
  const replace = (number: bigint, changed: Partial<Operation>): void => {
    state.changes.push({ operation: number });
    state.operations = state.operations.map((one) =>
      one.number === number ? { ...one, ...changed } : one,
    );
  };
  const withNumber = (number: bigint): Operation => {
    const found = state.operations.find((one) => one.number === number);
    if (!found) throw new Error("unknown operation");
    return found;
  };

  const foundIn = (one: Operation | undefined) => one && found(one);

  function factsOf(request: ClaimRequest): ClaimFacts {
    const { intent, found: record } = request;
    const own = state.operations.filter(isOwn);
    const same = own.find(({ reference }) => reference !== null && reference === intent.reference);
    const isSimilar = (one: Operation) =>
      one.kind === intent.kind &&
      (intent.kind === "payout" || intent.kind === "payment" || one.target === intent.target);
    return {
      nowMs: worker.now(),
      account: account(),
      keyHash: owner.keyId,
      environment: owner.environment,
      isTest: isTest(worker),
      same: foundIn(same),
      replaced: own
        .filter(({ reference }) =>
          replacedReferences(intent.reference ?? "").includes(reference ?? ""),
        )
        .map(found),
      holder: same && holderOf(same),
      ofRecord: foundIn(
        newest(
          state.operations.filter(
            (one) =>
              isGuarded(one) &&
              one.kind === intent.kind &&
              one.remoteId === (record?.remoteId ?? ""),
          ),
        ),
      ),
      similar: state.operations.filter(isGuarded).filter(isSimilar).map(found),
      planned: plannedFor(intent),
      rejectsRepeats: limits.rejectsRepeats(),
      limits: limits.ofClaim(request, foundIn(same)),
    };
  }

  /** A row that an open batch is still to send; one with the reference comes first. */
  function plannedFor(intent: Intent): PlannedRow | undefined {
    if (intent.kind !== "payout" || (intent.batch ?? null) !== null) return undefined;
    const open = openRowsOf(run);
    const isOfReference = ({ row }: OpenRow) => row.reference === intent.reference;
    const isSimilar = (one: OpenRow) =>
      isGuarded(one) && isSameAmountAndRecipient(one.row, payoutOf(intent));
    const found =
      open.find((one) => isOfReference(one) && (isOwn(one) || isSimilar(one))) ??
      open.find(isSimilar);
    return found && { batch: found.batch.id, reference: found.row.reference };
  }

  function claim(request: ClaimRequest, at: string): ClaimAnswer {
    const { intent } = request;
    const decision = decideClaim(request, factsOf(request));
    const isSent = decision.kind === "resumed" || decision.kind === "new";
    const isAgentsRow = worker.actor === "agent" && (intent.batch ?? null) !== null;
    const stopped = isSent && isAgentsRow ? limits.denial() : undefined;
    if (stopped) return stopped;
    if (decision.kind === "resumed") {
      const { operation, isReopened, earlier } = decision;
      const ordered = decideOrder(operation, request, sealerOf(request));
      takeOver(operation, at, ordered);
      const { asked } = ordered;
      const reopened = { openedAt: at, keyHash: worker.owner.keyId };
      return {
        asked,
        kind: "resumed",
        operation: isReopened ? { ...operation, ...reopened } : operation,
        earlier,
      };
    }
    if (decision.kind !== "new") return decision;
    const own = run.storeAccount().account;
    const { profile, environment, baseUrl, keyId: keyHash } = owner;
    const times = [at, request.found?.recordCreatedAt ?? at];
    const createdAt = times.sort()[0] ?? at;
    const operation: Operation = {
      ...fieldsBy(({ first }) => first),
      ...intent,
      target: decision.target,
      methodName: null,
      batch: intent.batch ?? null,
      id: worker.newId(),
      number: BigInt(state.operations.length + 1),
      createdAt,
      openedAt: createdAt,
      updatedAt: at,
      holder: take(),
      user: worker.user,
      login: worker.user,
      command: worker.command,
      actor: worker.actor,
      profile,
      environment,
      baseUrl,
      account: own,
      keyHash,
    };
    state.operations = [...state.operations, operation];
    saw(operation, at);
    state.changes.push({ operation: operation.number });
    const { number } = operation;
    const ofBatch = state.batches.find((one) => one.batch.number === intent.batch)?.batch;
    if (ofBatch?.plan && ofBatch.cancelledAt === null) state.planned.add(number);
    if (intent.kind === "payout" && !request.found)
      state.seals.set(number, sealOf(intent.asked, request.batchId ?? null, sealerOf(request)));
    if (request.found?.recordCreatedAt !== undefined) state.adopted.add(number);
    if (request.found)
      outcome({ kind: "record", operation: number, outcome: request.found, release: true }, at);
    return { kind: "new", operation, earlier: decision.earlier };
  }

  function takeOver(operation: Operation, at: string, { asked, seal }: Ordered): void {
    saw(operation, at);
    const { keyId: keyHash } = worker.owner;
    const reopened = isUnsettled(operation)
      ? {}
      : { state: "INTENT" as const, openedAt: at, keyHash };
    state.taken.set(operation.number, at);
    if (!isUnsettled(operation)) state.adopted.delete(operation.number);
    const isOrdered = !isUnsettled(operation) || seal !== undefined;
    if (isOrdered && worker.actor === "agent") state.agents.set(operation.number, at);
    if (seal !== undefined) {
      state.asked.set(operation.number, asked);
      state.seals.set(operation.number, seal);
    }
    replace(operation.number, { ...reopened, holder: take(), updatedAt: at });
  }

  function outcome(request: Exclude<ChangeRequest, ClaimRequest>, now: string): OutcomeAnswer {
    const number = request.kind === "record" ? request.operation : request.seen.number;
    const read = withNumber(number);
    const at = timeOfOutcome({ newestAt: newestAt(read) }, now);
    const moved = () => ({ kind: "moved", operation: found(withNumber(number)) }) as const;
    if (request.kind === "record" && read.holder?.lock !== worker.holder.lock) {
      // What was reported is kept as evidence, also if it changes nothing.
      state.changes.push({ operation: number });
      saw(read, at);
      const conflict = conflictOfLate(read, request.outcome);
      if (!conflict) return moved();
      const { phase: _, event: __, ...change } = decideOutcome(read, conflict, at);
      replace(number, { ...change, updatedAt: at });
      return moved();
    }
    if (request.kind !== "record" && !isUnchanged(request.seen, read, holderOf(read)))
      return moved();
    if (request.kind === "resume") {
      if (!isUnsettled(read)) return moved();
      const operation = found(read);
      if (read.keyHash !== owner.keyId) return { kind: "other-key", operation };
      const intent = { ...operation, asked: operation.lastAsked };
      const { sealer } = request;
      const judged = limits.factsOf(intent);
      const denial = judgeAgain(operation, { intent, sealer, nowMs: worker.now() }, judged);
      if (denial) return { kind: "denied", denial };
      if (!hasValidSeal(operation, request.sealer)) return { kind: "not-sealed", operation };
      const again = claimOfResumed(operation, sealer);
      const isChecked = wasChecked(operation, { sealer, nowMs: worker.now() });
      const checked = !isChecked && checkDuplicates(again, { ...factsOf(again), limits: judged });
      const asked = operation.lastAsked;
      if (checked && "kind" in checked) return { kind: "repeats", decision: checked, asked };
      takeOver(read, now, { asked });
      return { kind: "taken", operation, asked, ...checked };
    }
    const { remoteId, state: next } = request.outcome;
    const other =
      next === "CONFIRMED" && remoteId !== undefined && !isLocalSandbox(owner)
        ? state.operations.find(
            (one) =>
              one.number !== number &&
              one.account === read.account &&
              one.kind === read.kind &&
              one.remoteId === remoteId,
          )
        : undefined;
    if (other && request.kind === "learn") return moved();
    const shown = other ? outcomeOfTaken(request.outcome, other.id) : request.outcome;
    const { phase: _, event, ...change } = decideOutcome(read, shown, at);
    if (request.kind === "learn") {
      const learned = readEvent(at, event, storableOutcome(shown, worker).data);
      if (!canFollow(found(read), learned, [])) return moved();
    }
    saw(read, at);
    // Without a reference, a record is only like the request.
    const isInferred = event === "look" && shown.remoteId !== undefined && read.reference === null;
    if (shown.isReported || isInferred) state.reported.set(number, at);
    const isReleased = request.kind === "learn" || request.release;
    const holder = isReleased ? null : read.holder;
    replace(number, { ...change, updatedAt: at, holder });
    return other ? { kind: "id-taken", by: other.id } : { kind: "recorded" };
  }

  const change = async (requests: ChangeRequest[]): Promise<ChangeAnswer[]> => {
    const at = now();
    const answers = new Map<ChangeRequest, ChangeAnswer>();
    for (const one of requests) if (one.kind !== "claim") answers.set(one, outcome(one, at));
    for (const one of requests) if (one.kind === "claim") answers.set(one, claim(one, at));
    return requests.flatMap((one) => answers.get(one) ?? []);
  };

  const refundsOf = (payment: string | null) =>
    state.operations.filter(
      (one) => isGuarded(one) && one.kind === "refund" && one.target === payment,
    );

  function selected(kind: Kind | undefined, filter: Filter): Operation[] {
    const { status, states, since, until, openedUntil, bookedSince, bookedUntil } = filter;
    const { minPaisa, maxPaisa, reference, recipient, method, batch } = filter;
    const fits = <Value>(given: Value | undefined, fit: (given: Value) => boolean) =>
      given === undefined || fit(given);
    return state.operations.filter(
      (one) =>
        isOwn(one) &&
        fits(kind, (given) => one.kind === given) &&
        fits(status, (given) => one.status === given) &&
        fits(states, (given) => given.includes(one.state)) &&
        fits(since, (given) => one.createdAt >= given) &&
        fits(until, (given) => one.createdAt <= given) &&
        fits(openedUntil, (given) => one.openedAt <= given) &&
        fits(bookedSince, (given) => bookedAt(one) >= given || mayComplete(one)) &&
        fits(bookedUntil, (given) => bookedAt(one) <= given) &&
        fits(minPaisa, (given) => one.amountPaisa !== null && one.amountPaisa >= given) &&
        fits(maxPaisa, (given) => one.amountPaisa !== null && one.amountPaisa <= given) &&
        fits(reference, (given) => one.reference === given) &&
        fits(recipient, (given) => recipientIn(one) === given) &&
        fits(
          method,
          ({ name, ids }) =>
            one.methodName?.toLowerCase() === name.toLowerCase() ||
            ids.some((id) => id === one.asked.paymentMethodId),
        ) &&
        fits(batch, (given) => one.batch === given),
    );
  }

  return {
    async *list(kind, filter = {}) {
      const found = selected(kind, filter);
      const inOrder = filter.oldestFirst ? found : found.toReversed();
      for (const one of inOrder.slice(0, filter.limit))
        yield {
          ...one,
          batchId: batchIdOf(one),
          refunds: one.kind === "payment" ? refundSumsOf(refundsOf(one.remoteId ?? "")) : null,
        };
    },
    count: async (kind, filter, most) => Math.min(selected(kind, filter).length, most),
    change,
    ...createSingleChanges(change),
    preview: async (request) => {
      const claim = { kind: "claim", ...request } as const;
      return decideClaim(claim, factsOf(claim));
    },
    ...modelBatchReads(run),
    batches: modelBatches(run, limits),
    callbacks: modelCallbacks(run),
    limits: limits.store,
    find: async (name) =>
      state.operations.find(({ id }) => id === name) ??
      newest(state.operations.filter((one) => isOwn(one) && one.reference === name)) ??
      newest(state.operations.filter((one) => isOwn(one) && one.remoteId === name)),
    findElsewhere: async (name) =>
      newest(
        state.operations.filter(
          (one) =>
            one.environment === owner.environment &&
            !isOwn(one) &&
            (one.reference === name || one.remoteId === name),
        ),
      ),
    ofRecord: async (kind, remoteId) =>
      newest(
        state.operations.filter(
          (one) => isOwn(one) && one.kind === kind && one.remoteId === remoteId,
        ),
      ),
    ofNames: async (names) =>
      state.operations.filter(
        (one) =>
          isOwn(one) && names.some((name) => name === one.reference || name === one.remoteId),
      ),
    refundsOf: async (payment) => refundsOf(payment),
    unsettled: async () => state.operations.filter((one) => isOwn(one) && isUnsettled(one)),
    paidRecipients: async (payees) => {
      const paid = state.operations.filter(
        (one) =>
          isOwn(one) &&
          one.kind === "payout" &&
          one.command !== testCommand &&
          phaseOf(one) === "live",
      );
      return new Set(payees.filter((payee) => paid.some((one) => recipientOf(one) === payee)));
    },
    account: async () => account(),
  };
}

function mayComplete(one: Operation): boolean {
  return isUnresolved(one) || (phaseOf(one) === "live" && one.status !== "Completed");
}

/** The recipient of a payout, or the account of a refund. */
function recipientIn({ kind, asked }: Operation): string | undefined {
  if (kind === "payout") return payeeOf(String(asked.recipientNumber));
  return kind === "refund" ? payeeOf(String(asked.accountNumber ?? "")) : undefined;
}

function sealerOf({ sealer }: ClaimRequest): Sealer {
  if (!sealer) throw new Error("a payout is claimed without a sealer");
  return sealer;
}
