import type { Data, Input } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { formatTime } from "../domain/local-time.ts";
import { formatAmount, formatPaisa } from "../domain/money.ts";
import { isUnresolved, isUnsettled } from "../domain/state.ts";
import { type ClaimDecision, decideRefund, mayHavePaid } from "../ledger/decide.ts";
import type { Intent, Operation } from "../ledger/operation.ts";
import { anotherRecord, assertFree, compared } from "./compare.ts";
import { checkStop, type OperationDeps } from "./deps.ts";
import { recorded } from "./record-outcome.ts";
import {
  attempted,
  dataOf,
  describe,
  evidenceOf,
  provesNothingDone,
  rejectedCreation,
  unsent,
} from "./response-failure.ts";
import { remembered } from "./status.ts";

/**
 * Payments and refunds. The API does not make them idempotent: a request that may have been sent is never
 * retried; only failed connections are.
 */

const tries = 3;
const firstPauseMs = 400;

type PaymentInput = Omit<Input<ServiceContract["createPayment"]>, "amount">;
type RefundInput = Omit<Input<ServiceContract["createRefund"]>, "amount">;
export type Payment = Data<ServiceContract["createPayment"]>;
export type Refund = Data<ServiceContract["createRefund"]>;
type RetrievedPayment = Data<ServiceContract["retrievePayment"]>;

/** Lets the same payment or refund be sent although the ledger has one like it. */
export interface Repeat {
  again: boolean;
}

/** Creates a payment, at most once. `methodName`: the method as it was given. */
export async function createPayment(
  amountPaisa: Paisa,
  input: PaymentInput,
  { again, methodName }: Repeat & { methodName?: string | undefined },
  deps: OperationDeps,
): Promise<Payment> {
  const body = { ...input, amount: amountNumber(amountPaisa) };
  const intent = { ...paymentIntent, amountPaisa, asked: body, methodName: methodName ?? null };
  const operation = await claimIntent(intent, { again }, deps);
  return recorded(operation, deps, async () => {
    const payment = await once("payment", () => deps.client.createPayment(body), operation, deps);
    const { transactionId: remoteId, status, payment_url: paymentUrl } = payment;
    const { different } = compared({ amountPaisa }, payment);
    if (different.length > 0) throw anotherRecord(operation, remoteId, different);
    await assertFree(operation, remoteId, deps);
    return { result: payment, remoteId, status, paymentUrl };
  });
}

/** Creates a refund of a completed payment, at most once. */
export async function createRefund(
  amountPaisa: Paisa,
  input: RefundInput,
  { again }: Repeat,
  deps: OperationDeps,
): Promise<Refund> {
  const body = { ...input, amount: amountNumber(amountPaisa) };
  const { transactionId: payment } = input;
  const { paidPaisa } = await retrieveCompleted(payment, deps);
  const intent = { ...refundIntent, target: payment, amountPaisa, asked: body };
  const operation = await claimIntent(intent, { again, paidPaisa }, deps);
  return recorded(operation, deps, async () => {
    const refund = await once("refund", () => deps.client.createRefund(body), operation, deps);
    const { refundRequestId: remoteId, status, transactionId } = refund;
    const theirs = { amount: refund.amount, payment: transactionId };
    const { different } = compared({ amountPaisa, payment }, theirs);
    if (different.length > 0) throw anotherRecord(operation, remoteId, different);
    await assertFree(operation, remoteId, deps);
    return { result: refund, remoteId, status };
  });
}

async function once<Created>(
  what: "payment" | "refund",
  send: () => Promise<Answer<Created>>,
  operation: Operation,
  deps: OperationDeps,
): Promise<Created> {
  for (let attempt = 1; ; attempt += 1) {
    checkStop(deps);
    const answer = await attempted(send);
    if (answer.kind === "data") return answer.data;
    if (answer.kind === "refused" && provesNothingDone(what, answer))
      throw rejectedCreation(answer);
    if (answer.kind !== "unsent") throw uncertain(what, answer, operation);
    const isFinal = ["certificate", "stopped"].includes(answer.fault.reason);
    const pauseMs = firstPauseMs * 2 ** attempt * (0.5 + deps.random() / 2);
    const isOver = deps.now() + pauseMs >= deps.deadlineMs || deps.isStopping();
    if (isFinal || attempt >= tries || isOver) throw unsent(answer);
    await deps.sleep(pauseMs);
  }
}

function uncertain(
  what: "payment" | "refund",
  answer: Extract<Answer, { kind: "unclear" | "refused" }>,
  { id }: Operation,
): Failure {
  const reason = what === "payment" ? "payment.outcome-unknown" : "refund.outcome-unknown";
  return new Failure(reason, `Cannot confirm the ${what}: ${describe(answer)}.`, {
    hint: `Do not retry: the API would create a second ${what}. Check the merchant dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`,
    operation: id,
    evidence: evidenceOf(answer),
  });
}

const paymentIntent = { kind: "payment", reference: null, target: null } as const;
const refundIntent = { kind: "refund", reference: null } as const;

/**
 * Records an intent. The checks for duplicates and limits are part of the claim.
 *
 * @param paidPaisa of a refund: the amount of its payment
 * @throws Failure `refused`: nothing was sent
 */
async function claimIntent(
  intent: Intent & { kind: "payment" | "refund" },
  { again, paidPaisa = 0n }: Repeat & { paidPaisa?: Paisa },
  deps: OperationDeps,
): Promise<Operation> {
  const ledger = await deps.ledger();
  const claim = await ledger.claim({ intent, onDuplicate: again ? "send" : "reject", paidPaisa });
  if (claim.kind === "new") return claim.operation;
  if (claim.kind === "duplicate" || claim.kind === "over-limit")
    throw rejectedClaim(intent, paidPaisa, claim);
  throw new Error(`a ${intent.kind} cannot be ${claim.kind}`);
}

function rejectedClaim(
  {
    kind,
    target,
    amountPaisa,
  }: Pick<Intent, "target" | "amountPaisa"> & {
    kind: "payment" | "refund";
  },
  paidPaisa: Paisa,
  claim: Extract<ClaimDecision, { kind: "duplicate" | "over-limit" }>,
): Failure {
  if (claim.kind === "duplicate") return duplicate(kind, claim.earlier);
  const { live, refundablePaisa } = claim;
  return overLimit(
    target ?? "",
    { paidPaisa, amountPaisa: amountPaisa ?? 0n, refundablePaisa },
    live,
  );
}

/** The failure of a payment or a refund that the ledger has already: the API would create a second one. */
function duplicate(what: "payment" | "refund", earlier: Operation): Failure {
  const { id, state, createdAt } = earlier;
  const hint = isUnsettled(earlier)
    ? `If another process is still sending it, wait until that ends. Otherwise check the dashboard, then run 'lenden ledger resolve ${id}' with --created <id> or --not-created.`
    : `To inspect it, run 'lenden ledger show ${id}'.`;
  return new Failure(
    what === "payment" ? "payment.duplicate" : "refund.duplicate",
    `Duplicate ${what}: the ledger has the same ${what}, ${state}, of ${formatTime(createdAt)} (${id}).`,
    // The first one may have been created: no hint leads to a second one then.
    {
      hint: isUnresolved(earlier) ? hint : `${hint} To send a second ${what}, add --again.`,
      operation: id,
    },
  );
}

/** A payment that can be refunded, and the amount that can still be refunded. */
export interface Refundable {
  payment: RetrievedPayment;
  paidPaisa: Paisa;
  leftPaisa: Paisa;
  /** Its refunds that were created, or may have been. */
  live: Operation[];
}

/**
 * Retrieves a payment before a dialog asks for the amount of its refund.
 *
 * @throws Failure `refused` if it is not Completed, or if nothing is left of it
 */
export async function refundable(transactionId: string, deps: OperationDeps): Promise<Refundable> {
  const { payment, paidPaisa } = await retrieveCompleted(transactionId, deps);
  await remembered({ kind: "payment", id: transactionId }, payment, deps);
  const live = (await (await deps.ledger()).refundsOf(transactionId)).filter(mayHavePaid);
  const leftPaisa = paidPaisa - sumOf(live);
  if (leftPaisa > 0n) return { payment, paidPaisa, leftPaisa, live };
  throw new Failure(
    "refund.already-refunded",
    `Payment ${transactionId} (${formatPaisa(paidPaisa)}) was refunded completely, or may have been.`,
    { ...refundsHint(live), operation: transactionId },
  );
}

async function retrieveCompleted(
  transactionId: string,
  deps: OperationDeps,
): Promise<{ payment: RetrievedPayment; paidPaisa: Paisa }> {
  const payment = dataOf(await deps.client.retrievePayment({ transactionId }), transactionId);
  const paidPaisa = paisaOf(payment.amount);
  if (paidPaisa === undefined || payment.transactionId !== transactionId) {
    const told = `${payment.transactionId}, ${formatAmount(payment.amount)}`;
    throw new Failure(
      "refund.invalid-payment",
      `Cannot refund payment ${transactionId}: the API's record of it is invalid (${told}).`,
      { operation: transactionId },
    );
  }
  if (payment.status === "Completed") return { payment, paidPaisa };
  throw new Failure(
    "refund.payment-not-completed",
    `Cannot refund payment ${transactionId}: its status is ${payment.status}.`,
    {
      ...(payment.status === "Processing"
        ? { hint: `Wait for it with 'lenden pay wait ${transactionId}', then retry.` }
        : {}),
      operation: transactionId,
    },
  );
}

/**
 * Checks a refund before the user confirms it; its claim checks it again.
 *
 * @param live the refunds of the payment that were created, or may have been
 * @throws Failure `refused` if the refunds would exceed the payment, or if the same refund was created
 */
export function checkRefund(
  transactionId: string,
  { paidPaisa, amountPaisa, live }: { paidPaisa: Paisa; amountPaisa: Paisa; live: Operation[] },
  { again }: Repeat,
): void {
  const intent = { kind: "refund" as const, amountPaisa, target: transactionId };
  const onDuplicate = again ? "send" : "reject";
  const decision = decideRefund({ intent, paidPaisa, onDuplicate }, live);
  if ("kind" in decision) throw rejectedClaim(intent, paidPaisa, decision);
}

interface Amounts {
  paidPaisa: Paisa;
  amountPaisa: Paisa;
  refundablePaisa: Paisa;
}

/** The failure of a refund that exceeds what is left of its payment. */
function overLimit(
  transactionId: string,
  { paidPaisa, amountPaisa, refundablePaisa }: Amounts,
  live: Operation[],
): Failure {
  const refundedPaisa = paidPaisa - refundablePaisa;
  const before =
    refundedPaisa > 0n
      ? `, of which ${formatPaisa(refundedPaisa)} was refunded or may have been`
      : "";
  return new Failure(
    "refund.amount-too-large",
    `Cannot refund ${formatPaisa(amountPaisa)} of payment ${transactionId}: it was ${formatPaisa(paidPaisa)}${before}.`,
    { ...refundsHint(live), operation: transactionId },
  );
}

/** Names the newest refund by its ID, because lists do not have the refunds of other accounts. */
function refundsHint(live: Operation[]): { hint?: string } {
  const last = live.at(-1);
  if (!last) return {};
  const show = last.remoteId ? `refund wait ${last.remoteId}` : `ledger show ${last.id}`;
  return {
    hint: `To list its refunds, run 'lenden refund list --refresh'. To see the newest one, run 'lenden ${show}'.`,
  };
}

function sumOf(operations: Operation[]): Paisa {
  return operations.reduce((sum, one) => sum + (one.amountPaisa ?? 0n), 0n);
}
