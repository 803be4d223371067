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
  /** How the callback differs from the payment. Without it, the callback is genuine. */
  change?: (payment: Payment, other: Payment) => Payment;
  /** How many are sent at once (default: 1). */
  copies?: number;
  /** How a second callback, sent later, differs from the payment. */
  later?: Payment;
}

const price = 500_00n;
const completed = { status: "Completed" };

const cases = {
  genuine: { sent: "the callback of a Completed payment." },
  forged: {
    sent: "Completed for a payment that is Processing.",
    paid: 0n,
    change: () => completed,
  },
  replayed: {
    sent: "a genuine callback, later with another time.",
    later: { updatedAt: "2099-12-31T23:59:59.000Z" },
  },
  "wrong-amount": {
    sent: "amount 500 for a payment of BDT 5.00.",
    paid: 5_00n,
    change: () => ({ amount: 500 }),
  },
  "wrong-status": { sent: "a genuine callback, later Cancelled.", later: { status: "Cancelled" } },
  "unknown-id": {
    sent: "Completed for an ID that the API does not know.",
    paid: 0n,
    change: ({ transactionId }) => ({ ...completed, transactionId: `${transactionId}X` }),
  },
  reordered: { sent: "a genuine callback, later Processing.", later: { status: "Processing" } },
  duplicated: { sent: "a genuine callback, five times at once.", copies: 5 },
  "other-account": {
    sent: "another customer's Completed payment in the name of an unpaid order.",
    paid: 0n,
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

/** The result of a case, as scripts get it. `undecided`: nothing that was seen proves it. */
export type TestResult = Awaited<ReturnType<typeof resultOf>>;

/** Sends all cases to a handler and decides what it did. */
export async function testHandler(options: TestOptions): Promise<TestResult[]> {
  const { names, signal, retrieved, settle } = options;
  const other = names.includes("other-account") ? await createOrder("other", price, options) : {};
  const all: Sent[] = [];
  for (const name of names) {
    const { paid = price, change, copies = 1, later }: Case = cases[name];
    const payment = await createOrder(name, paid, options);
    const first = new Array<Payment>(copies).fill({ ...payment, ...change?.(payment, other) });
    const second = later ? [{ ...payment, ...later }] : [];
    all.push({ name, payment, rounds: [first, second], responses: [] });
  }
  await retrieved();
  for (const round of [0, 1] as const) {
    if (all.every(({ rounds }) => rounds[round].length === 0)) break;
    for (const { rounds, responses } of all)
      responses.push(...(await Promise.all(rounds[round].map((body) => send(body, options)))));
    await settle();
    if (signal.aborted)
      throw new Failure("callback.stopped", "Stopped before the end of the test.");
  }
  const ids = await retrieved();
  const results: TestResult[] = [];
  for (const one of all) results.push(await resultOf(one, ids, results[0], options));
  return results;
}

/** Creates a payment, and registers it as an order of your store. */
async function createOrder(name: string, paid: Paisa, options: TestOptions): Promise<Payment> {
  const payment = await options.pay(name, paid === 0n ? price : paid, paid > 0n);
  if (options.orders === undefined) return payment;
  const { transactionId, description: order } = payment;
  const body = { transactionId, order, amount: amountNumber(price) };
  const { status, fault } = await request("PUT", orderUrl(transactionId, options), options, body);
  if (isOf(200, { status })) return payment;
  throw new Failure(
    "callback.order-rejected",
    `Your store did not accept a test order (${fault ?? `HTTP ${status}`}).`,
    { hint: "Your store must respond to a PUT request at the --orders URL with a 2xx status." },
  );
}

async function send(body: Payment, options: TestOptions): Promise<Response> {
  const url = options.url.replaceAll("{order}", encodeURIComponent(String(body.description)));
  const { status, fault, sent } = await request("POST", url, options, body);
  if (sent || options.signal.aborted) return { status, fault };
  throw new Failure(
    "callback.handler-unreachable",
    `Cannot connect to ${new URL(url).host}: ${fault}. Test payments may have been created in the sandbox.`,
    { hint: "Start your handler, then run the command again." },
  );
}

async function request(
  method: string,
  url: string,
  { transport, timeoutMs, signal }: TestOptions,
  body?: Payment,
) {
  const exchange = await transport.exchange({
    method,
    url: new URL(url),
    freshConnection: true,
    signal,
    timeoutMs,
    headers: { "user-agent": "lenden", ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const { status = null } = exchange;
  if (exchange.kind === "answer") return { status, fault: null, sent: true, text: exchange.text };
  const { fault, sent } = exchange;
  return { status, fault: `${fault.reason} (${fault.code})`, sent, text: "" };
}

function orderUrl(id: unknown, { orders = "" }: TestOptions): string {
  return orders.replaceAll("{id}", encodeURIComponent(String(id)));
}

const handlerHint =
  "Your handler must retrieve the payment from the API, and trust only that record. Example: docs/callbacks.md.";

/** @param genuine the result of the genuine callback; undefined if this is it */
async function resultOf(
  { name, payment, rounds, responses }: Sent,
  retrieved: string[],
  genuine: { verdict: string; retrievals: number } | undefined,
  options: TestOptions,
) {
  const { sent, paid = price }: Case = cases[name];
  const ids = [...new Set([payment, ...rounds.flat()].map(({ transactionId }) => transactionId))];
  const retrievals = retrieved.filter((id) => ids.includes(id)).length;
  // Another customer's payment may be booked for that customer.
  const booked = await bookedFor(name === "other-account" ? ids.slice(0, 1) : ids, options);
  const decided = (verdict: "passed" | "failed" | "undecided", explanation: string) => ({
    case: name,
    sent,
    transactionId: String(payment.transactionId),
    responses,
    retrievals,
    booked: typeof booked === "bigint" ? amountText(booked) : null,
    verdict,
    explanation,
    hint: verdict === "failed" ? handlerHint : null,
  });
  const isTrue = paid === price;
  const isAccepted = responses.some((one) => isOf(200, one));
  const broken = responses.find(({ status }) => status === null || status >= 500);
  if (broken)
    return decided("failed", `The handler failed: ${broken.fault ?? `HTTP ${broken.status}`}.`);
  if (isTrue && !isAccepted)
    return decided("failed", "The handler did not accept a genuine callback.");
  if (typeof booked === "bigint" && (booked > paid || (isTrue && booked < paid)))
    return decided(
      "failed",
      `Your store booked ${formatPaisa(booked)}, but the customer paid ${formatPaisa(paid)}.`,
    );
  const isTrusted = !isTrue && isAccepted && retrievals === 0 && typeof booked === "string";
  if (isTrusted && genuine && genuine.retrievals > 0)
    return decided("failed", "The handler accepted the callback without retrieving the payment.");
  if (genuine?.verdict === "failed")
    return decided(
      "undecided",
      "The handler failed with the genuine callback, so this proves nothing.",
    );
  if (typeof booked === "bigint")
    return decided("passed", `Your store booked ${formatPaisa(booked)}.`);
  if (!genuine && retrievals > 0)
    return decided("passed", "The handler retrieved the payment and accepted the callback.");
  const isRejected = !isTrue && responses.every((one) => isOf(400, one));
  return isRejected
    ? decided("passed", "The handler rejected the callback.")
    : decided("undecided", booked);
}

/** The amount that your store recorded, or why it cannot be seen. */
async function bookedFor(ids: unknown[], options: TestOptions): Promise<Paisa | string> {
  if (options.orders === undefined) return "To check what your store booked, add --orders.";
  let sum = 0n;
  for (const id of ids) {
    const { status, fault, text } = await request("GET", orderUrl(id, options), options);
    const value = status === 404 ? 0 : jsonIn(text)?.value;
    const amount = isObject(value) ? value.paid : value;
    const paisa = typeof amount === "number" ? paisaOf(amount) : undefined;
    if (paisa === undefined)
      return `A GET request to the --orders URL returned no amount (${fault ?? status}).`;
    sum += paisa;
  }
  return sum;
}

function isOf(hundred: number, { status }: { status: number | null }): boolean {
  return status !== null && status >= hundred && status < hundred + 100;
}
