import type { Transport } from "../api/transport.ts";
import { amountNumber, amountText, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { isObject, jsonIn } from "../domain/json.ts";
import { formatPaisa } from "../domain/money.ts";

type Payment = Record<string, unknown>;

/** One test of a handler, with a payment of its own. */
interface Case {
  /** What is sent, after "Sent". */
  sent: string;
  /** How much of the price is paid (default: all of it). If nothing is, the payment is Processing. */
  paid?: Paisa;
  /** How the callback differs from the payment; by default it is genuine. */
  change?: (payment: Payment, other: Payment) => Payment;
  /** How many are sent at once (default: 1). */
  copies?: number;
  /** How a second callback, sent later, differs from the payment. */
  later?: Payment;
}

const price = 500_00n;
const completed = { status: "Completed" };
const farFuture = "2099-12-31T23:59:59.000Z";

const cases = {
  genuine: { sent: "the callback of a Completed payment." },
  forged: {
    sent: "Completed for a payment that is Processing.",
    paid: 0n,
    change: () => completed,
  },
  replayed: {
    sent: "a genuine callback, later with another time.",
    later: { updatedAt: farFuture },
  },
  "wrong-amount": {
    ...{ sent: "amount 500 for a payment of BDT 5.00.", paid: 5_00n },
    change: () => ({ amount: 500 }),
  },
  "wrong-status": { sent: "a genuine callback, later Cancelled.", later: { status: "Cancelled" } },
  "unknown-id": {
    ...{ sent: "Completed for an ID that the API does not know.", paid: 0n },
    change: ({ transactionId }) => ({ ...completed, transactionId: `${transactionId}X` }),
  },
  reordered: { sent: "a genuine callback, later Processing.", later: { status: "Processing" } },
  duplicated: { sent: "a genuine callback, five times at once.", copies: 5 },
  "other-account": {
    ...{ sent: "another customer's Completed payment in the name of an unpaid order.", paid: 0n },
    change: ({ description }, other) => ({ ...other, description }),
  },
} satisfies Record<string, Case>;

export type CaseName = keyof typeof cases;
export const caseNames = Object.keys(cases).filter((name): name is CaseName => name in cases);

export interface TestOptions {
  names: CaseName[];
  url: string;
  /** Your store's order records; without them, only some results can be seen. */
  orders: string | undefined;
  transport: Pick<Transport, "exchange">;
  timeoutMs: number;
  signal: AbortSignal;
  /** Creates a payment in the local sandbox, and completes it if it is to be paid. */
  pay(name: string, amountPaisa: Paisa, isPaid: boolean): Promise<Payment>;
  /** The IDs of all payments that were retrieved since the last call. */
  retrieved(): Promise<string[]>;
  /** Waits until the handler has done what it does after its responses. */
  settle(): Promise<void>;
}

/** The handler's response; without a status, `fault` is the reason. */
type Response = { status: number | null; fault: string | null };

interface Sent {
  name: CaseName;
  payment: Payment;
  /** The callbacks that are sent at once, and later ones. */
  rounds: [Payment[], Payment[]];
  responses: Response[];
}

type Genuine = { verdict: string; retrievals: number } | undefined;
type Verdict = ["passed" | "failed" | "undecided", explanation: string];

/** The result of a case, as scripts get it. `undecided`: nothing that was seen proves it. */
export type TestResult = Awaited<ReturnType<typeof resultOf>>;

/** Sends all cases to a handler and judges what it did. */
export async function testHandler(options: TestOptions): Promise<TestResult[]> {
  const { names, signal } = options;
  const other = names.includes("other-account") ? await createOrder("other", price, options) : {};
  const all: Sent[] = [];
  for (const name of names) {
    const { paid = price, change, copies = 1, later }: Case = cases[name];
    const payment = await createOrder(name, paid, options);
    const first = Array.from({ length: copies }, () => ({
      ...payment,
      ...change?.(payment, other),
    }));
    all.push({
      name,
      payment,
      rounds: [first, later ? [{ ...payment, ...later }] : []],
      responses: [],
    });
  }
  await options.retrieved();
  for (const round of [0, 1] as const) {
    if (all.every(({ rounds }) => rounds[round].length === 0)) break;
    for (const { rounds, responses } of all)
      responses.push(...(await Promise.all(rounds[round].map((body) => send(body, options)))));
    await options.settle();
    if (signal.aborted)
      throw new Failure("callback.stopped", "Stopped before the end of the test.");
  }
  const retrieved = await options.retrieved();
  const results: TestResult[] = [];
  for (const one of all) results.push(await resultOf(one, retrieved, results[0], options));
  return results;
}

async function createOrder(name: string, paid: Paisa, options: TestOptions): Promise<Payment> {
  const payment = await options.pay(name, paid === 0n ? price : paid, paid > 0n);
  if (options.orders === undefined) return payment;
  const { transactionId, description: order } = payment;
  const body = { transactionId, order, amount: amountNumber(price) };
  const { status, fault } = await request("PUT", orderUrl(transactionId, options), options, body);
  if (isOf(200, { status })) return payment;
  const message = `Your store did not accept an order of the test (${fault ?? status}).`;
  const hint = "Respond to PUT at the URL of --orders with 2xx.";
  throw new Failure("callback.order-rejected", message, { hint });
}

async function send(body: Payment, options: TestOptions): Promise<Response> {
  const url = options.url.replaceAll("{order}", encodeURIComponent(String(body.description)));
  const { status, fault, sent } = await request("POST", url, options, body);
  if (sent || options.signal.aborted) return { status, fault };
  const message = `Cannot connect to ${new URL(url).host}: ${fault}.`;
  const hint = "Start your handler, then run the command again.";
  throw new Failure("callback.handler-unreachable", message, { hint });
}

async function request(
  method: string,
  url: string,
  { transport, timeoutMs, signal }: TestOptions,
  body?: Payment,
) {
  const exchange = await transport.exchange({
    ...{ method, url: new URL(url), freshConnection: true, signal, timeoutMs },
    headers: { "user-agent": "lenden", ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const { status = null } = exchange;
  if (exchange.kind === "answer")
    return { status, fault: null, sent: true, text: `${Buffer.from(exchange.bytes)}` };
  const { fault, sent } = exchange;
  return { status, fault: `${fault.reason} (${fault.code})`, sent, text: "" };
}

function orderUrl(id: unknown, { orders = "" }: TestOptions): string {
  return orders.replaceAll("{id}", encodeURIComponent(String(id)));
}

async function resultOf(
  { name, payment, rounds, responses }: Sent,
  retrieved: string[],
  genuine: Genuine,
  options: TestOptions,
) {
  const { sent, paid = price }: Case = cases[name];
  const ids = [...new Set([payment, ...rounds.flat()].map(({ transactionId }) => transactionId))];
  const retrievals = retrieved.filter((id) => ids.includes(id)).length;
  // Another customer's payment may be booked for that customer.
  const booked = await bookedFor(name === "other-account" ? ids.slice(0, 1) : ids, options);
  const [verdict, explanation] = judge({ paid, responses, retrievals, booked }, genuine);
  return {
    ...{ case: name, sent, transactionId: String(payment.transactionId), responses, retrievals },
    booked: typeof booked === "bigint" ? amountText(booked) : null,
    ...{ verdict, explanation },
    hint: verdict === "failed" ? "See 'Write a handler' in docs/callbacks.md." : null,
  };
}

/** The amount that your store recorded, or why it cannot be seen. */
async function bookedFor(ids: unknown[], options: TestOptions): Promise<Paisa | string> {
  if (options.orders === undefined) return "Only --orders shows what it booked.";
  let sum = 0n;
  for (const id of ids) {
    const { status, fault, text } = await request("GET", orderUrl(id, options), options);
    const value = status === 404 ? 0 : jsonIn(text)?.value;
    const amount = isObject(value) ? value.paid : value;
    const paisa = typeof amount === "number" ? paisaOf(amount) : undefined;
    if (paisa === undefined) return `GET at --orders returned no amount (${fault ?? status}).`;
    sum += paisa;
  }
  return sum;
}

interface Seen extends Pick<Sent, "responses"> {
  paid: Paisa;
  retrievals: number;
  booked: Paisa | string;
}

/** @param genuine the result of the genuine callback; undefined if this is it */
function judge({ paid, responses, retrievals, booked }: Seen, genuine: Genuine): Verdict {
  const isTrue = paid === price;
  const isAccepted = responses.some((one) => isOf(200, one));
  const broken = responses.find(({ status }) => status === null || status >= 500);
  if (broken) return ["failed", `The handler failed: ${broken.fault ?? `HTTP ${broken.status}`}.`];
  if (isTrue && !isAccepted) return ["failed", "It did not accept a genuine callback."];
  const isWrong = typeof booked === "bigint" && (booked > paid || (isTrue && booked < paid));
  if (isWrong)
    return ["failed", `It booked ${formatPaisa(booked)}, and ${formatPaisa(paid)} was paid.`];
  const isTrusted = !isTrue && isAccepted && retrievals === 0 && typeof booked === "string";
  if (isTrusted && genuine && genuine.retrievals > 0)
    return ["failed", "It accepted the callback without retrieving the payment."];
  if (genuine?.verdict === "failed") return ["undecided", "It does not accept the genuine one."];
  if (typeof booked === "bigint") return ["passed", `It booked ${formatPaisa(booked)}.`];
  if (!genuine && retrievals > 0) return ["passed", "It retrieved the payment and accepted it."];
  const isRejected = !isTrue && responses.every((one) => isOf(400, one));
  return isRejected ? ["passed", "It rejected the callback."] : ["undecided", booked];
}

function isOf(hundred: number, { status }: { status: number | null }): boolean {
  return status !== null && status >= hundred && status < hundred + 100;
}
