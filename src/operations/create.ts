import type { Data, Input } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import { isDiffering, isUnresolved, isUnsettled } from "../domain/state.ts";
import { inCommand } from "../domain/text.ts";
import type { ClaimAnswer } from "../ledger/change.ts";
import { type ClaimDecision, refundableOf } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isDenial } from "../ledger/limits.ts";
import type { Intent, Operation } from "../ledger/operation.ts";
import { anotherRecord, assertFree, compared, type Theirs } from "./compare.ts";
import { declaredByOther } from "./declared-text.ts";
import { checkClock, checkStop, clockSet, createClockWatch, type OperationDeps } from "./deps.ts";
import { deniedFailure } from "./limits.ts";
import { recorded } from "./record-outcome.ts";
import {
  accessHint,
  attempted,
  describe,
  differingHint,
  evidenceOf,
  isHopeless,
  provesNothingDone,
  rejectedCreation,
  resolveHint,
  unread,
  unsent,
} from "./response-failure.ts";
import { remembered, unseenFailure } from "./status.ts";

/**
 * Payments and refunds. The API does not make them idempotent: a request that may have been sent is never
 * retried; only failed connections are.
 */

const attempts = 3;
const firstPauseMs = 400;

type PaymentInput = Omit<Input<ServiceContract["createPayment"]>, "amount">;
type RefundInput = Omit<Input<ServiceContract["createRefund"]>, "amount">;
type Payment = Data<ServiceContract["createPayment"]>;
export type Refund = Data<ServiceContract["createRefund"]>;
type RetrievedPayment = Data<ServiceContract["retrievePayment"]>;

/** Lets the same payment or refund be sent although the ledger has one like it. */
export interface Repeat {
  again: boolean;
}

/** A payment that was created. */
export interface CreatedPayment {
  payment: Payment;
  /** An equal payment that is worth a warning. */
  earlier: Operation | undefined;
}

/** Creates a payment, at most once. `methodName`: the method as it was given. */
export async function createPayment(
  amountPaisa: Paisa,
  input: PaymentInput,
  { again, methodName }: Repeat & { methodName?: string | undefined },
  deps: OperationDeps,
): Promise<CreatedPayment> {
  const asked = { ...input, amount: amountNumber(amountPaisa) };
  const intent = {
    ...({ kind: "payment", reference: null, target: null } as const),
    amountPaisa,
    asked,
    methodName: methodName ?? null,
  };
  const wasClockSet = createClockWatch(deps);
  const { operation, earlier } = await claimIntent(intent, { again }, deps);
  return recorded(operation, deps, async () => {
    const send = () => deps.client.createPayment(asked);
    const payment = await createOnce(operation, { send, wasClockSet }, deps);
    const { transactionId: remoteId, status, payment_url: paymentUrl, amount, currency } = payment;
    await assertSame(operation, remoteId, { amount, currency }, deps);
    return { result: { payment, earlier }, remoteId, status, paymentUrl };
  });
}

/** Creates a refund of a completed payment, at most once. */
export async function createRefund(
  amountPaisa: Paisa,
  input: RefundInput,
  { again }: Repeat,
  deps: OperationDeps,
): Promise<Refund> {
  const asked = { ...input, amount: amountNumber(amountPaisa) };
  const { transactionId: target } = input;
  const { paidPaisa } = await retrieveCompleted(target, deps);
  const intent = { kind: "refund", reference: null, target, amountPaisa, asked } as const;
  const wasClockSet = createClockWatch(deps);
  const { operation } = await claimIntent(intent, { again, paidPaisa }, deps);
  return recorded(operation, deps, async () => {
    const send = () => deps.client.createRefund(asked);
    const refund = await createOnce(operation, { send, wasClockSet }, deps);
    const { refundRequestId: remoteId, status, transactionId: payment, amount, currency } = refund;
    await assertSame(operation, remoteId, { amount, payment, currency }, deps);
    return { result: refund, remoteId, status };
  });
}

/** @throws Failure `conflict` if the response is about something else; `uncertain` as `assertFree` does */
async function assertSame(
  operation: Operation,
  remoteId: string,
  theirs: Pick<Theirs, "amount" | "payment" | "currency">,
  deps: OperationDeps,
): Promise<void> {
  const { amountPaisa, target: payment } = operation;
  const { different } = compared({ amountPaisa, payment }, theirs);
  if (different.length > 0) throw anotherRecord(operation, remoteId, different);
  await assertFree(operation, remoteId, deps);
}

const afterRejectedRefund =
  "Then retry. Within ten minutes, the same refund needs --again: check the merchant dashboard first.";

async function createOnce<Created>(
  operation: Operation,
  { send, wasClockSet }: { send: () => Promise<Answer<Created>>; wasClockSet: () => boolean },
  deps: OperationDeps,
): Promise<Created> {
  const { kind, id } = operation;
  for (let attempt = 1; ; attempt += 1) {
    checkStop(deps);
    // P3: nothing left this machine until now.
    if (wasClockSet()) throw clockSet("clock.differs");
    const answer = await attempted(send);
    if (answer.kind === "data") return answer.data;
    if (answer.kind === "refused" && provesNothingDone(kind, answer, await deps.guarantees()))
      throw rejectedCreation(answer, {
        next: kind === "refund" ? afterRejectedRefund : "Then retry.",
      });
    if (answer.kind !== "unsent") {
      const isDenied = answer.kind === "refused" && answer.why === "access";
      const access = isDenied ? `${accessHint(answer.status)} ` : "";
      throw new Failure(
        kind === "payment" ? "payment.outcome-unknown" : "refund.outcome-unknown",
        `Cannot confirm the ${kind}: ${describe(answer)}.`,
        {
          hint: `${access}Do not retry: the API could create a second ${kind}. ${resolveHint(id, kind, operation)}`,
          operation: id,
          evidence: evidenceOf(answer),
        },
      );
    }
    const pauseMs = firstPauseMs * 2 ** attempt * (0.5 + deps.random() / 2);
    const isOver = deps.now() + pauseMs >= deps.deadlineMs || deps.isStopping();
    if (isHopeless(answer) || attempt >= attempts || isOver) throw unsent(answer);
    await deps.sleep(pauseMs);
  }
}

/**
 * Records an intent. The checks for duplicates and limits are part of the claim.
 *
 * @param paidPaisa of a refund: the amount of its payment
 * @returns the operation, and an earlier one that it may repeat
 * @throws Failure `refused`: nothing was sent
 */
async function claimIntent(
  intent: Intent,
  { again, paidPaisa = 0n }: Repeat & { paidPaisa?: Paisa },
  deps: OperationDeps,
): Promise<{ operation: Operation; earlier: Operation | undefined }> {
  // The day of its limit is that of this machine.
  if (intent.kind === "refund") checkClock(deps);
  const ledger = await deps.ledger();
  const claim = await ledger.claim({ intent, onDuplicate: onDuplicate(again), paidPaisa });
  if (claim.kind !== "new") throw whyNot(intent, paidPaisa, claim);
  if (claim.declared) deps.notice(...declaredByOther(claim.declared, null));
  return claim;
}

function onDuplicate(again: boolean) {
  return again ? "send" : "reject";
}

/** Why a payment or a refund is not sent. */
function whyNot(
  intent: Pick<Intent, "kind" | "target" | "amountPaisa">,
  paidPaisa: Paisa,
  claim: ClaimAnswer | ClaimDecision,
): Failure {
  if (claim.kind === "duplicate" || claim.kind === "over-limit")
    return rejectedClaim(intent, paidPaisa, claim);
  if (isDenial(claim)) return deniedFailure(claim);
  throw new Error(`a ${intent.kind} cannot be ${claim.kind}`);
}

/** The failure of a payment or a refund that the ledger has already, or that exceeds its payment. */
function rejectedClaim(
  { kind, target, amountPaisa }: Pick<Intent, "kind" | "target" | "amountPaisa">,
  paidPaisa: Paisa,
  claim: Extract<ClaimDecision, { kind: "duplicate" | "over-limit" }>,
): Failure {
  if (claim.kind === "over-limit") {
    const { live, refundablePaisa } = claim;
    const unproved = unprovedRefund(target, live);
    if (unproved) return unproved;
    const most =
      refundablePaisa > 0n
        ? `at most ${formatPaisa(refundablePaisa)} of its ${formatPaisa(paidPaisa)} can still be refunded`
        : `nothing is left to refund of its ${formatPaisa(paidPaisa)}`;
    return new Failure(
      "refund.amount-too-large",
      `Cannot refund ${formatPaisa(amountPaisa ?? 0n)} of payment ${target}: ${most}.`,
      { ...refundsHint(live), operation: target ?? "" },
    );
  }
  const { earlier } = claim;
  const { id, state, createdAt, updatedAt } = earlier;
  // Only of a refund: its rejection is recent.
  if (state === "REFUSED")
    return new Failure(
      "refund.duplicate",
      `Duplicate refund: the API rejected the same refund on ${formatTime(updatedAt)} (${id}), and may have created it.`,
      {
        hint: "Check the payment in the merchant dashboard. If the refund is not there, add --again, or wait ten minutes.",
        operation: id,
      },
    );
  const ended =
    state === "CONFLICT"
      ? ", and the API has a different record of it"
      : ", and its outcome is unknown";
  const inspect = isUnsettled(earlier)
    ? `If another lenden process is still sending it, wait until it ends. ${resolveHint(id, kind, earlier)}`
    : `To see it, run 'lenden ledger show ${id}'.`;
  const found =
    earlier.status === "Cancelled"
      ? ". Its cancelled record was found later, and may be that of another refund"
      : "";
  // The first one may have been created: no hint leads to a second one then.
  const hint = isUnresolved(earlier)
    ? inspect
    : `${inspect} To send a second ${kind}, add --again.`;
  return new Failure(
    kind === "payment" ? "payment.duplicate" : "refund.duplicate",
    `Duplicate ${kind}: the same ${kind} was ${kind === "payment" ? "created" : "sent"} on ${formatTime(createdAt)} (${id})${state === "CONFIRMED" ? found : ended}.`,
    { hint, operation: id },
  );
}

/** The warning about an equal payment, which another customer may have paid. */
export function possibleDuplicatePayment({
  id,
  remoteId,
  status,
  createdAt,
}: Operation): [message: string, reason: string] {
  const known = status === null ? "its outcome is unknown" : `it is ${status}`;
  const text = `Possible duplicate: the same payment was created on ${formatTime(createdAt)} (${remoteId ?? id}), and ${known}.`;
  return [text, "payment.possible-duplicate"];
}

/** A payment that can be refunded, and the amount that can still be refunded. */
export interface Refundable {
  payment: RetrievedPayment;
  paidPaisa: Paisa;
  leftPaisa: Paisa;
}

/**
 * Retrieves a payment before a dialog asks for the amount of its refund.
 *
 * @throws Failure `refused` if it is not Completed, or if nothing is left of it
 */
export async function refundable(transactionId: string, deps: OperationDeps): Promise<Refundable> {
  const { payment, paidPaisa } = await retrieveCompleted(transactionId, deps);
  const refunds = await (await deps.ledger()).refundsOf(transactionId);
  const { live, refundablePaisa: leftPaisa } = refundableOf(refunds, paidPaisa);
  if (leftPaisa > 0n) return { payment, paidPaisa, leftPaisa };
  const unproved = unprovedRefund(transactionId, live);
  if (unproved) throw unproved;
  throw new Failure(
    "refund.already-refunded",
    `Cannot refund payment ${transactionId}: nothing is left to refund of its ${formatPaisa(paidPaisa)}.`,
    { ...refundsHint(live), operation: transactionId },
  );
}

async function retrieveCompleted(
  transactionId: string,
  deps: OperationDeps,
): Promise<{ payment: RetrievedPayment; paidPaisa: Paisa }> {
  const answer = await deps.client.retrievePayment({ transactionId });
  if (answer.kind !== "data")
    throw await unseenFailure(
      { kind: "payment", id: transactionId },
      unread(answer, transactionId),
      deps,
    );
  const payment = answer.data;
  await remembered({ kind: "payment", id: transactionId }, payment, deps).catch(unsentRefund);
  const { status, amount } = payment;
  const paidPaisa = paisaOf(amount);
  const cannot = `Cannot refund payment ${transactionId}`;
  if (paidPaisa === undefined || payment.transactionId !== transactionId)
    throw new Failure(
      "refund.invalid-payment",
      `${cannot}: the API returned a record with an invalid ID or amount (${payment.transactionId}, ${formatAmount(amount)}).`,
      { operation: transactionId },
    );
  if (status === "Completed") return { payment, paidPaisa };
  const hint = `Wait for it with 'lenden pay wait ${inCommand(transactionId)}', then retry.`;
  throw new Failure("refund.payment-not-completed", `${cannot}: its status is ${status}.`, {
    ...(status === "Processing" ? { hint } : {}),
    operation: transactionId,
  });
}

/** The failure of a payment with a refund whose amount is not proved; undefined if it has none. */
function unprovedRefund(payment: string | null, live: Operation[]): Failure | undefined {
  const refund = live.find(isDiffering);
  if (!refund) return undefined;
  return new Failure(
    "record.differs",
    `Cannot refund payment ${payment}: it is unknown how much is left. ${refund.message}`,
    {
      hint: differingHint(refund),
      operation: refund.remoteId ?? refund.id,
      effect: "nothing-sent",
    },
  );
}

/** A payment whose record differs from what was requested is not refunded: what was paid is not proved. */
function unsentRefund(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  throw new Failure(error.reason, `Cannot create the refund: ${error.message}`, {
    ...error.details,
    effect: "nothing-sent",
  });
}

/**
 * Checks a refund before a person confirms it; its claim checks it again.
 *
 * @param paidPaisa the amount of its payment
 * @throws Failure `refused` if the refunds would exceed the payment, if the same refund was created, or above a limit
 */
export async function checkRefund(
  { target, amountPaisa }: { target: string; amountPaisa: Paisa },
  { again, paidPaisa }: Repeat & { paidPaisa: Paisa },
  ledger: Pick<Ledger, "preview">,
): Promise<void> {
  const intent = { kind: "refund", reference: null, target, amountPaisa, asked: {} } as const;
  const decision = await ledger.preview({ intent, onDuplicate: onDuplicate(again), paidPaisa });
  if (decision.kind !== "new") throw whyNot(intent, paidPaisa, decision);
}

/** Names the newest refund by its ID, because lists do not have the refunds of other accounts. */
function refundsHint(live: Operation[]): { hint?: string } {
  const last = live.at(-1);
  if (!last) return {};
  const show = last.remoteId ? `refund get ${inCommand(last.remoteId)}` : `ledger show ${last.id}`;
  return {
    hint: `To see its newest refund, run 'lenden ${show}'.`,
  };
}
