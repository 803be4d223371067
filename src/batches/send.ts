import { errorCode } from "../domain/error-code.ts";
import {
  Failure,
  type FailureKind,
  isOfLedger,
  type Reason,
  whatHappened,
} from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Batch, PlannedPayout, ReadPlan } from "../ledger/batch.ts";
import type { ClaimAnswer } from "../ledger/change.ts";
import { withCommitQueue } from "../ledger/commit-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { FoundOperation } from "../ledger/operation.ts";
import {
  clockFailure,
  clockSet,
  createClockWatch,
  type OperationDeps,
} from "../operations/deps.ts";
import { allowRepeats } from "../operations/limits.ts";
import { payoutIntent } from "../operations/payout/claim.ts";
import type { PayoutOrder } from "../operations/payout/order.ts";
import { sendPlannedPayout } from "../operations/payout/send.ts";
import { isUnresendable, restStarts } from "../operations/payout/unknown.ts";
import { accessHint } from "../operations/response-failure.ts";
import { sentences } from "./texts.ts";
import { createThrottle, type RowDeps, type Slot } from "./throttle.ts";
import { createWorkers } from "./workers.ts";

/** How a row ended; `existing`: the API had its payout before this run. */
export type RowEnd = "accepted" | "existing" | FailureKind;

export interface Sending {
  plan: ReadPlan;
  /** True if the outcome of some rows is unknown. */
  hasUnknown: boolean;
  ledger: Ledger;
  /** So many rows are sent at once. Some more are claimed; after a kill at most `mostClaimed` are unknown. */
  concurrency: number;
  /** Requests a second; unlimited if undefined. */
  perSecond: number | undefined;
  /** Called for a row that is sent although it may repeat what another login resolved. */
  onDeclared(row: PlannedPayout, declared: FoundOperation): void;
  /** Called once for each row that this run ended. */
  onRow(row: PlannedPayout, end: RowEnd, failure?: Failure): void;
}

interface ClaimedRow {
  row: PlannedPayout;
  order: PayoutOrder;
  claim: ClaimAnswer;
}

/** How long one row may take with all its attempts, without its wait for a slot. */
const rowMs = 60_000;

/**
 * Sends the rows of a batch that were not sent yet: first those whose outcome is unknown, then the
 * others in the order of the file. Each worker claims a row, waits for a slot, and sends the row in the
 * same way as a single payout. There are more workers than slots, so that a slot does not wait for a claim.
 *
 * @returns why it stopped before the end, if it did
 */
export async function sendBatch(
  sending: Sending,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  const { ledger, concurrency, onRow } = sending;
  const rules = createStopRules(deps);
  const { isOver } = rules;
  const throttle = createThrottle({ ...sending, isOver }, deps);
  const queue = withCommitQueue(ledger, deps.soon);
  const sealer = await deps.sealer();
  const starts = await restStarts(await ledger.unsettled(), ledger, deps);
  const rows = rowsToSend(sending, deps);
  let isAllClaimed = false;

  const claimNext = async (): Promise<ClaimedRow | undefined> => {
    if (isOver() || workers.isOneTooMany()) return undefined;
    const { value: row, done } = await rows.next();
    if (done) isAllClaimed = true;
    if (done || isOver()) return undefined;
    const order = orderOfRow(row);
    const { id, number, createdAt: plannedAt } = sending.plan.batch;
    const intent = payoutIntent(order, number);
    const onDuplicate = row.isAccepted ? "send" : "reject";
    const request = { intent, onDuplicate, sealer, batchId: id, plannedAt } as const;
    const claim = await queue.claim(request);
    if ("declared" in claim && claim.declared) sending.onDeclared(row, claim.declared);
    return { row, order, claim };
  };

  const sendRow = async ({ row, order, claim }: ClaimedRow, worker: RowDeps): Promise<void> => {
    const operation = "operation" in claim ? claim.operation : undefined;
    const mayExist = claim.kind === "resumed" && isUnsettled(claim.operation);
    worker.unknownSince = mayExist ? claim.operation.openedAt : undefined;
    worker.deadlineMs = Math.min(deps.deadlineMs, deps.now() + rowMs);
    const restsSinceMs = operation && starts.get(operation.id);
    try {
      const { existing } = await sendPlannedPayout({ order, claim, restsSinceMs }, worker);
      throttle.accepted();
      rules.saw("accepted");
      onRow(row, existing ? "existing" : "accepted");
    } catch (cause) {
      const error = failureOfRow(cause, claim, sending.plan);
      // A row that a stop cut short, or that was not tried, shows nothing about the API.
      const isSilence = error.kind === "unreachable" || error.kind === "uncertain";
      const isCut = deps.isStopping() || error.details.untried === true;
      rules.saw(isCut && isSilence ? "interrupted" : error.kind, error);
      onRow(row, error.kind, error);
    }
  };

  const work = async (): Promise<void> => {
    let next: Promise<ClaimedRow | undefined> | undefined;
    const worker: RowDeps = { ...deps, unknownSince: undefined, notice: () => {} };
    const slot = throttle.slotOf(worker);
    worker.client = slot.client;
    const shared = withJudgment(queue, slot, (heldMs, recorded) => {
      workers.accepted(heldMs, recorded);
      // The outcome of an accepted row and the claim of the next row share a commit. After any other
      // outcome, the stop rules decide first whether there is a next row.
      next = claimNext();
      next.catch(() => {}); // The loop below awaits it later.
    });
    worker.ledger = async () => shared;
    try {
      for (;;) {
        const claimed = await (next ?? claimNext());
        next = undefined;
        // After an error of the ledger, no outcome could be recorded (I4).
        if (!claimed || rules.reason()?.kind === "internal") return;
        await sendRow(claimed, worker);
        slot.free();
      }
    } catch (error) {
      rules.ledgerFailed(error);
    } finally {
      slot.free();
    }
  };
  const isMore = () => !isAllClaimed && !isOver();
  const workers = createWorkers({ concurrency, now: deps.now, isMore, work });
  await workers.run();
  return rules.reason();
}

/**
 * The ledger of a worker. A response was judged once its outcome is to be recorded, if the API accepted the row, or if
 * the row is tried again after a pause. After any other outcome, the stop rules decide first.
 */
function withJudgment(
  queue: Ledger,
  slot: Slot,
  accepted: (heldMs: number, recorded: Promise<unknown>) => void,
): Ledger {
  const record: Ledger["record"] = (request) => {
    const recorded = queue.record(request);
    if (!request.release) slot.pause();
    else if (request.outcome.state === "CONFIRMED") accepted(slot.free(), recorded);
    return recorded;
  };
  return { ...queue, record };
}

/** A row as the payout that it orders. */
export function orderOfRow(planned: Omit<PlannedPayout, "isAccepted">): PayoutOrder {
  const { amountPaisa, reference, recipient, methodId, method, name, description } = planned;
  return {
    amountPaisa,
    reference,
    recipientNumber: recipient,
    recipientName: name ?? undefined,
    description: description ?? undefined,
    paymentMethodId: methodId,
    methodName: method,
  };
}

/** Counts the rows of unknown outcome that are not sent again (P25, P25c). */
export async function countForgotten(
  batch: Batch,
  ledger: Ledger,
  deps: Pick<OperationDeps, "now" | "guarantees">,
): Promise<number> {
  const guarantees = await deps.guarantees();
  let count = 0;
  for await (const { sentAt } of ledger.batches.rows(batch, "unknown"))
    if (isUnresendable(sentAt ?? "", guarantees, deps)) count += 1;
  return count;
}

/** The ledger is read page by page, so that memory does not grow with the batch. */
async function* rowsToSend(
  { plan, hasUnknown, ledger: { batches }, onRow }: Sending,
  deps: OperationDeps,
): AsyncGenerator<PlannedPayout, void> {
  const guarantees = await deps.guarantees();
  if (hasUnknown)
    for await (const row of batches.rowsAsRead(plan, "unknown")) {
      if (isUnresendable(row.sentAt ?? "", guarantees, deps)) onRow(row, "uncertain");
      else yield row;
    }
  yield* batches.rowsAsRead(plan, "unsent");
}

/** True if a row is omitted: its reference belongs to something else, or a limit lets it not repeat a payout. */
export function isOmitted(reason: Reason | undefined): boolean {
  return ["payout.not-sealed", "payout.reference-used", "limits.repeat"].includes(reason ?? "");
}

/** A row keeps its reference, so its batch cannot send one that is taken. @throws what is no failure of a row */
function failureOfRow(cause: unknown, claim: ClaimAnswer, { batch: { id } }: ReadPlan): Failure {
  if (!(cause instanceof Failure)) throw cause;
  const { reason, message, details } = cause;
  if (claim.kind === "repeat") {
    const { freesAt } = details.reached ?? {};
    const later = freesAt ? `It can be sent from ${formatTime(freesAt)}.` : "";
    const hint = [later, "Then run the same command again.", claim.isOfAgents ? "" : allowRepeats];
    return new Failure(reason, message, { ...details, hint: sentences(hint) });
  }
  const isOfOther = claim.kind === "not-sealed";
  const isTaken = isOfOther || claim.kind === "different";
  if (!isTaken || isUnsettled(claim.operation)) return cause;
  const first = isOfOther ? "If that login ordered it, it sends the same file. If not, run" : "Run";
  const hint = `${first} 'lenden payout batch cancel ${id}', send the other unsent rows as a new file, and this payout with another reference.`;
  return new Failure(reason, message, { ...details, hint });
}

/** After so many rows in a row without a response, further rows would show nothing new. */
const mostUnknown = 5;
/** Each rejection retires a reference: the same cause must not retire all of them. */
const mostRejected = 10;

/** Decides when a batch stops before its end. */
function createStopRules(deps: OperationDeps) {
  const wasClockSet = createClockWatch(deps);
  let reason: Failure | undefined;
  let unknown = 0;
  let rejected = { text: "", count: 0 };
  const ledgerFailed = (cause: unknown): void => {
    reason ??= ledgerFailure(cause);
  };
  const saw = (end: RowEnd, failure?: Failure): void => {
    const { message = "", details = {}, reason: why } = failure ?? {};
    // A row that is omitted shows nothing about the API, and keeps no other row from being sent.
    if (isOmitted(why)) return;
    const { status, unrecorded, cause } = details;
    unknown = end === "uncertain" || end === "unreachable" ? unknown + 1 : 0;
    const text = end === "refused" && failure ? rejectionIn(failure) : "";
    rejected = { text, count: text !== "" && text === rejected.text ? rejected.count + 1 : 1 };
    if (end === "conflict" || end === "access") reason ??= failure;
    // P18: a proxy may have denied access, and the payout may have been created.
    if (end === "uncertain" && (status === 401 || status === 403))
      reason ??= new Failure(
        "batch.access-denied",
        `The batch stopped: the API denied access. ${message}`,
        { status, hint: `${accessHint(status)} Then run the same command again.` },
      );
    // P21: the response arrived, and its outcome could not be recorded.
    if (unrecorded !== undefined) ledgerFailed(cause);
    else if (end === "internal" || isOfLedger(failure)) ledgerFailed(failure);
    else if (isOfLedger(cause)) ledgerFailed(cause);
    if (unknown >= mostUnknown)
      reason ??= new Failure(
        end === "unreachable" ? "batch.incomplete" : "batch.outcome-unknown",
        `The batch stopped: ${mostUnknown} rows in a row have no confirmed result. The last one: ${message}`,
        { hint: "Wait until the API works again, then run the same command again." },
      );
    if (rejected.count >= mostRejected)
      reason ??= new Failure(
        "batch.same-rejections",
        `The batch stopped: the API rejected ${mostRejected} rows in a row with the same response: ${text}`,
        { hint: "Fix the problem that the API reports, then run the same command again." },
      );
  };
  /** Asked before each claim and each request, because any response may show a wrong clock (P3). */
  const isOver = (): boolean => {
    const differs = clockFailure(deps, "batch.clock-differs");
    const clock = differs ?? (wasClockSet() ? clockSet("batch.clock-differs") : undefined);
    if (clock) saw(clock.kind, clock);
    return reason !== undefined || deps.isStopping();
  };
  /** `reason`: why it stops, once it does. */
  return { saw, ledgerFailed, isOver, reason: () => reason };
}

/** The API's own response, with its code; empty if the row was rejected without a request. */
function rejectionIn(failure: Failure): string {
  const { status, code } = failure.details;
  if (status === undefined) return "";
  return `${code === undefined ? "" : `${code}: `}${whatHappened(failure)}`;
}

/** The ledger's own failure if it has one, because its hint is more exact. */
function ledgerFailure(cause: unknown): Failure {
  if (cause instanceof Failure && cause.kind === "internal") return cause;
  if (isOfLedger(cause))
    return new Failure("batch.incomplete", cause.message, { ...cause.details, cause });
  const code = errorCode(cause);
  const fix = /BUSY|LOCKED/.test(code ?? "")
    ? "Close the other program that locks the ledger file"
    : "Free disk space and check the file's permissions";
  const shown = code === undefined ? "" : ` (${code})`;
  const message = `The batch stopped: the ledger could not be read or written${shown}.`;
  const hint = `${fix}, then run the same command again.`;
  return new Failure("batch.ledger-failed", message, { hint, cause });
}
