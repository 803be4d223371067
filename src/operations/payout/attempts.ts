import type { Data } from "../../api/contract/endpoint.ts";
import type { ServiceContract } from "../../api/contract/index.ts";
import type { Answer } from "../../api/response.ts";
import { Failure } from "../../domain/failure.ts";
import { isGeneratedReference } from "../../domain/reference.ts";
import { inCommand } from "../../domain/text.ts";
import type { Operation } from "../../ledger/operation.ts";
import {
  type ApiGuarantees,
  checkStop,
  clockSet,
  clockTrouble,
  type OperationDeps,
  stopCause,
} from "../deps.ts";
import {
  accessHint,
  attempted,
  describe,
  evidenceOf,
  isFromApi,
  isWaiting,
  provesNothingDone,
  rejectedCreation,
  rejectedLater,
  resolveHint,
  unsent,
} from "../response-failure.ts";
import { type PayoutOrder, payoutBody, uncertain } from "./order.ts";
import { isUnreadable, pauseBeforeRetry } from "./retry-policy.ts";
import { assertResendable } from "./unknown.ts";

export interface CreatedPayout {
  created: Data<ServiceContract["createPayout"]>;
  /** When the first request that may have created it was sent, which may be long after the claim. */
  firstMs: number;
  /** True if a response named another reference: then the record itself must be compared (P15b). */
  wasMixedUp: boolean;
}

interface Attempts {
  operation: Operation;
  /** Why an earlier attempt may have created it. */
  whyUnknown: string | undefined;
}

/**
 * Sends a payout until a response decides it, or no attempt is left. Once the outcome of an attempt is
 * unknown, only a response with the payout resolves it (P17b).
 *
 * @param wasClockSet since the claim, as `createClockWatch` has it
 */
export async function createPayout(
  order: PayoutOrder,
  { operation, whyUnknown: before, wasClockSet }: Attempts & { wasClockSet: () => boolean },
  deps: OperationDeps,
): Promise<CreatedPayout> {
  let whyUnknown = before;
  let unreadable = 0;
  let firstMs: number | undefined;
  let wasMixedUp = false;
  for (let attempt = 1; ; attempt += 1) {
    if (whyUnknown === undefined) checkStop(deps);
    else {
      await assertResendable(operation, deps);
      if (deps.isStopping())
        throw uncertain(order, `${whyUnknown}, and ${stopCause(deps)} before a retry`, {
          untried: true,
        });
    }
    if (wasClockSet()) {
      const failure = clockSet("clock.differs");
      throw whyUnknown === undefined ? failure : rethrown(failure, order, whyUnknown);
    }
    const received = await attempted(() => deps.client.createPayout(payoutBody(order))).catch(
      (error) => rethrow(error, order, whyUnknown),
    );
    const answer = ofReference(order.reference, received);
    // A batch also sends nothing if the machine slept while the row waited for its slot.
    if (answer.kind === "unsent" && whyUnknown !== undefined)
      await assertResendable(operation, deps);
    if (answer.kind !== "unsent") firstMs ??= answer.times.startedMs ?? deps.now();
    if (answer.kind === "data")
      return { created: answer.data, firstMs: firstMs ?? deps.now(), wasMixedUp };
    if (answer.kind === "unclear") whyUnknown = describe(answer);
    if (answer.kind === "unclear" && answer.why === "another record") wasMixedUp = true;
    const guarantees = await deps.guarantees();
    if (answer.kind === "refused" && !provesNothingDone("payout", answer, guarantees))
      whyUnknown ??= describe(answer);
    if (isUnreadable(answer)) unreadable += 1;
    const trouble = clockTrouble(deps.clockAheadMs() ?? 0);
    if (whyUnknown !== undefined && trouble && !isRejection(answer))
      throw uncertain(order, `${whyUnknown}. ${trouble}`);
    // P25c: only what was proved not to have been sent is sent again.
    const isFinal = whyUnknown !== undefined && !guarantees.references;
    const retry = { attempt, unreadable, random: deps.random() };
    const pauseMs = isFinal ? undefined : pauseBeforeRetry(answer, retry);
    const isLate = pauseMs !== undefined && deps.now() + pauseMs >= deps.deadlineMs;
    if (pauseMs === undefined || isLate || deps.isStopping())
      throw lastFailure(order, answer, { operation, whyUnknown, guarantees }, deps);
    await noteAttempt(operation, answer, whyUnknown, deps);
    const why = (whyUnknown ?? "no connection").replace(/\.$/, "");
    deps.notice(
      `Attempt ${attempt}: ${why}. Retrying with the same reference in ${Math.ceil(pauseMs / 1000)} s.`,
    );
    await deps.sleep(pauseMs);
    if (deps.now() >= deps.deadlineMs)
      throw lastFailure(order, answer, { operation, whyUnknown, guarantees }, deps);
  }
}

/**
 * P15b: a response that names another reference is not about this payout. The payout may have been
 * created all the same, so the outcome is unknown.
 */
function ofReference(
  reference: string,
  answer: Answer<CreatedPayout["created"]>,
): Answer<CreatedPayout["created"]> {
  if (answer.kind !== "data" || answer.data.merchantRef === reference) return answer;
  const { status, data, times } = answer;
  const apiError = { message: `reference ${data.merchantRef}` };
  const text = JSON.stringify(data);
  return { kind: "unclear", why: "another record", status, text, apiError, times };
}

/** An attempt that was not sent, for example without a secret or a lock, proves nothing about earlier ones. */
function rethrow(error: unknown, order: PayoutOrder, whyUnknown: string | undefined): never {
  if (whyUnknown === undefined || !(error instanceof Failure)) throw error;
  throw rethrown(error, order, whyUnknown);
}

function rethrown(cause: Failure, order: PayoutOrder, whyUnknown: string): Failure {
  const why = `${whyUnknown}, and the retry could not be sent: ${cause.message}`;
  return uncertain(order, why, { neverLeft: true, cause });
}

/** I4: a ledger that fails here stops the sending. */
async function noteAttempt(
  operation: Operation,
  answer: Answer,
  whyUnknown: string | undefined,
  deps: OperationDeps,
): Promise<void> {
  const state = whyUnknown === undefined ? "INTENT" : "UNCERTAIN";
  const ledger = await deps.ledger();
  const outcome = {
    state,
    sent: answer.kind !== "unsent",
    ...(whyUnknown ? { message: whyUnknown } : {}),
    ...evidenceOf(answer),
  } as const;
  const recorded = await ledger.record({ operation: operation.number, outcome, release: false });
  if (recorded.kind === "moved") throw new Error("another process took the operation over");
}

/** The failure of a payout for which there is no further attempt. */
function lastFailure(
  order: PayoutOrder,
  answer: Exclude<Answer, { kind: "data" }>,
  { operation, whyUnknown, guarantees }: Attempts & { guarantees: ApiGuarantees },
  deps: OperationDeps,
): Failure {
  const { reference } = order;
  const clockAheadMs = deps.clockAheadMs();
  if (whyUnknown !== undefined) {
    if (isRejection(answer) && whyUnknown !== describe(answer))
      return rejectedLater(answer, reference, whyUnknown, deps);
    // P18: no further attempt tells more before access is granted, and a batch stops.
    const isDenied = answer.kind === "refused" && answer.why === "access";
    const isOwnRejection = isRejection(answer) && !isDenied;
    const isLast = isOwnRejection || !guarantees.references;
    const next = isLast
      ? resolveHint(reference, "payout", deps.account)
      : `Then run 'lenden ledger resolve ${inCommand(reference)}'.`;
    const why = isOwnRejection
      ? `${whyUnknown}, and 'lenden verify-api' found that such a request may still create a payout`
      : whyUnknown;
    return uncertain(order, why, {
      evidence: evidenceOf(answer),
      neverLeft: answer.kind === "unsent",
      ...(isLast ? { hint: next } : {}),
      ...(isDenied ? { status: answer.status, hint: `${accessHint(answer.status)} ${next}` } : {}),
    });
  }
  if (answer.kind === "unsent") return unsent(answer);
  if (answer.kind === "refused") {
    // P17: its own reference is sent again.
    const isOwn = operation.batch === null && isGeneratedReference(reference);
    const next = isOwn
      ? "Then run the same command again: it uses the same reference for 24 hours."
      : "Then send the payout with a new reference (--ref).";
    return rejectedCreation(answer, { next, about: reference, clockAheadMs });
  }
  return uncertain(order, describe(answer), { evidence: evidenceOf(answer) });
}

/** True for the API's own rejection (P17), and for 401 and 403 in any shape (P18). */
function isRejection(answer: Answer): answer is Extract<Answer, { kind: "refused" }> {
  if (answer.kind !== "refused") return false;
  return answer.why === "access" || (isFromApi("payout", answer) && !isWaiting(answer));
}
