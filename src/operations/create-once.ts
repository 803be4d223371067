import type { Data, Input } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { amountNumber, type Paisa } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import type { Operation } from "../ledger/operation.ts";
import type { Repeat } from "../refunds/refundable.ts";
import { beginPayment, beginRefund } from "./begin.ts";
import { anotherRecord, assertFree, compared } from "./compare.ts";
import type { World } from "./deps.ts";
import { attempted, describe, evidenceOf, unsent } from "./outcome.ts";
import { recorded } from "./record-outcome.ts";
import { provesNothingDone, refusedToMake } from "./rejection.ts";
import { checkStop } from "./stop.ts";

/** A request that may have been sent is never retried; only failed connections are. */
const tries = 3;
const firstPauseMs = 400;

type PaymentInput = Omit<Input<ServiceContract["createPayment"]>, "amount">;
type RefundInput = Omit<Input<ServiceContract["createRefund"]>, "amount">;
export type Payment = Data<ServiceContract["createPayment"]>;
export type Refund = Data<ServiceContract["createRefund"]>;

/** Creates a payment, at most once. `methodName`: the method as it was given. */
export async function createPayment(
  amountPaisa: Paisa,
  input: PaymentInput,
  { again, methodName }: Repeat & { methodName?: string | undefined },
  world: World,
): Promise<Payment> {
  const body = { ...input, amount: amountNumber(amountPaisa) };
  const operation = await beginPayment({ amountPaisa, asked: body, methodName }, { again }, world);
  return recorded(operation, world, async () => {
    const payment = await once("payment", () => world.client.createPayment(body), operation, world);
    const { transactionId: remoteId, status, payment_url: paymentUrl } = payment;
    const { different } = compared({ amountPaisa }, payment);
    if (different.length > 0) throw anotherRecord(operation, remoteId, different);
    await assertFree(operation, remoteId, world);
    return { result: payment, remoteId, status, paymentUrl };
  });
}

/** Creates a refund of a completed payment, at most once. */
export async function createRefund(
  amountPaisa: Paisa,
  input: RefundInput,
  how: Repeat,
  world: World,
): Promise<Refund> {
  const body = { ...input, amount: amountNumber(amountPaisa) };
  const { transactionId: payment } = input;
  const operation = await beginRefund({ amountPaisa, payment, asked: body }, how, world);
  return recorded(operation, world, async () => {
    const refund = await once("refund", () => world.client.createRefund(body), operation, world);
    const { refundRequestId: remoteId, status, transactionId } = refund;
    const theirs = { amount: refund.amount, payment: transactionId };
    const { different } = compared({ amountPaisa, payment }, theirs);
    if (different.length > 0) throw anotherRecord(operation, remoteId, different);
    await assertFree(operation, remoteId, world);
    return { result: refund, remoteId, status };
  });
}

async function once<Created>(
  what: "payment" | "refund",
  send: () => Promise<Answer<Created>>,
  operation: Operation,
  world: World,
): Promise<Created> {
  for (let attempt = 1; ; attempt += 1) {
    checkStop(world);
    const answer = await attempted(send);
    if (answer.kind === "data") return answer.data;
    if (answer.kind === "refused" && provesNothingDone(what, answer)) throw refusedToMake(answer);
    if (answer.kind !== "unsent") throw uncertain(what, answer, operation);
    const isFinal = ["certificate", "stopped"].includes(answer.fault.reason);
    const pauseMs = firstPauseMs * 2 ** attempt * (0.5 + world.random() / 2);
    const isOver = world.now() + pauseMs >= world.deadlineMs || world.isStopping();
    if (isFinal || attempt >= tries || isOver) throw unsent(answer);
    await world.sleep(pauseMs);
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
