import { amountNumber, amountText, type Paisa, paisaOf } from "../contract/amount.ts";
import type { Data, Input } from "../contract/endpoint.ts";
import type { ServiceContract } from "../contract/index.ts";
import { Failure } from "../failure.ts";
import type { Answer } from "../http/answer.ts";
import { attempted, dataOf, describe, refused, unsent } from "./outcome.ts";
import type { World } from "./world.ts";

/** Connections are tried this often; a request that may have left is never tried again. */
const tries = 3;
const firstPauseMs = 400;

type PaymentInput = Omit<Input<ServiceContract["createPayment"]>, "amount">;
type RefundInput = Omit<Input<ServiceContract["createRefund"]>, "amount">;
export type Payment = Data<ServiceContract["createPayment"]>;
export type Refund = Data<ServiceContract["createRefund"]>;

/** Creates a payment, at most once (money-safety.md §3). */
export async function createPayment(
  amountPaisa: Paisa,
  input: PaymentInput,
  world: World,
): Promise<Payment> {
  const amount = amountNumber(amountPaisa);
  const payment = await once(
    "payment",
    () => world.client.createPayment({ ...input, amount }),
    world,
  );
  compareAmount("payment", payment.transactionId, { asked: amountPaisa, got: payment.amount });
  return payment;
}

/** Creates a refund of a completed payment, at most once; what is not refundable is not sent. */
export async function createRefund(
  amountPaisa: Paisa,
  input: RefundInput,
  world: World,
): Promise<Refund> {
  await checkRefundable(input.transactionId, amountPaisa, world);
  const amount = amountNumber(amountPaisa);
  const refund = await once("refund", () => world.client.createRefund({ ...input, amount }), world);
  compareAmount("refund", refund.refundRequestId, { asked: amountPaisa, got: refund.amount });
  if (refund.transactionId === input.transactionId) return refund;
  throw new Failure(
    "conflict",
    `The service answered with a refund of another payment, ${refund.transactionId}.`,
    {
      hint: `Look at it with 'lenden refund get ${refund.refundRequestId}' before anything else is sent.`,
      operation: refund.refundRequestId,
    },
  );
}

/** Retrieves the payment: it must be Completed, and at least as large as what is paid back. */
async function checkRefundable(
  transactionId: string,
  amountPaisa: Paisa,
  world: World,
): Promise<void> {
  const payment = dataOf(await world.client.retrievePayment({ transactionId }), transactionId);
  const paidPaisa = paisaOf(payment.amount);
  if (payment.status !== "Completed") {
    throw new Failure(
      "refused",
      `Payment ${transactionId} is ${payment.status}; only a Completed payment can be paid back.`,
      {
        hint: "Nothing was sent.",
        operation: transactionId,
      },
    );
  }
  if (paidPaisa === undefined || amountPaisa <= paidPaisa) return;
  throw new Failure(
    "refused",
    `Payment ${transactionId} was ${amountText(paidPaisa)} taka, less than the ${amountText(amountPaisa)} to be paid back.`,
    {
      hint: "Nothing was sent.",
      operation: transactionId,
    },
  );
}

async function once<Created>(
  what: "payment" | "refund",
  send: () => Promise<Answer<Created>>,
  world: World,
): Promise<Created> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attempted(send);
    if (answer.kind === "data") return answer.data;
    if (answer.kind === "refused") throw refused(answer);
    if (answer.kind === "unclear") throw uncertain(what, describe(answer));
    const isFinal = ["certificate", "stopped"].includes(answer.fault.reason);
    const pauseMs = firstPauseMs * 2 ** attempt * (0.5 + world.random() / 2);
    if (
      isFinal ||
      attempt >= tries ||
      world.now() + pauseMs >= world.deadlineMs ||
      world.isStopping()
    )
      throw unsent(answer);
    await world.sleep(pauseMs);
  }
}

function uncertain(what: "payment" | "refund", why: string): Failure {
  return new Failure(
    "uncertain",
    `The ${what} was sent, but there is no trustworthy answer: ${why}.`,
    {
      hint: `Look in the merchant dashboard whether it is there before you send it again: the service would make a second ${what}.`,
    },
  );
}

function compareAmount(
  what: string,
  id: string,
  { asked, got }: { asked: Paisa; got: number },
): void {
  if (paisaOf(got) === asked) return;
  throw new Failure(
    "conflict",
    `The service made ${what} ${id} over ${got} taka, but ${amountText(asked)} was asked for.`,
    {
      hint: `Look at it with 'lenden ${what === "payment" ? "pay" : "refund"} get ${id}' before anything else is sent.`,
      operation: id,
    },
  );
}
