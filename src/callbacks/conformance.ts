import type { Transport } from "../api/transport.ts";
import { amountNumber, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { isObject, jsonIn } from "../domain/json.ts";
import { formatPaisa } from "../domain/money.ts";

type Payment = Record<string, unknown>;

interface Case {
  /** What is sent, after "Sent". */
  sent: string;
  /** What is paid of the price; the payment is Processing if nothing is. */
  paid: Paisa;
  /** The callbacks that are sent at once, and later ones. */
  rounds(payment: Payment, other: Payment): [Payment[], Payment[]];
}

const price = 500_00n;

/** A genuine callback, and later a changed one. Its payment must be booked once. */
const genuineThen = (sent: string, later?: Payment, copies = 1): Case => ({
  ...{ sent, paid: price },
  rounds: (genuine) => [Array(copies).fill(genuine), later ? [{ ...genuine, ...later }] : []],
});

/** A false callback. No more than what is paid must be booked. */
const falsely = (sent: string, paid: Paisa, change: Case["rounds"] | Payment): Case => ({
  ...{ sent, paid },
  rounds: typeof change === "function" ? change : (payment) => [[{ ...payment, ...change }], []],
});

const cases = {
  genuine: genuineThen("the callback of a Completed payment."),
  forged: falsely("Completed for a payment that is Processing.", 0n, { status: "Completed" }),
  replayed: genuineThen("a genuine callback, and later the same with another time.", {
    updatedAt: "2099-12-31T23:59:59.000Z",
  }),
  "wrong-amount": falsely("amount 500 for a payment of BDT 5.00.", 5_00n, { amount: 500 }),
  "wrong-status": genuineThen("a genuine callback, and later one with status Cancelled.", {
    status: "Cancelled",
  }),
  "unknown-id": falsely("Completed for an ID that the API does not know.", 0n, (payment) => [
    [{ ...payment, transactionId: `${payment.transactionId}X`, status: "Completed" }],
    [],
  ]),
  reordered: genuineThen("a genuine callback, and later one with status Processing.", {
    status: "Processing",
  }),
  duplicated: genuineThen("a genuine callback, five times at once.", undefined, 5),
  "other-account": falsely(
    "another customer's Completed payment in the name of an unpaid order.",
    0n,
    ({ description }, other) => [[{ ...other, description }], []],
  ),
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

interface Sent {
  name: CaseName;
  payment: Payment;
  rounds: [Payment[], Payment[]];
  answers: { status: number | null; fault: string | null }[];
}

/** The result of a case, as scripts get it. `undecided`: nothing that was seen proves it. */
export type TestResult = Awaited<ReturnType<typeof resultOf>>;
type Result = { verdict: "passed" | "failed" | "undecided"; because: string };

/** Sends all cases to a handler, each with a payment of its own, and judges what it did. */
export async function testHandler(options: TestOptions): Promise<TestResult[]> {
  const { names, signal } = options;
  const other = names.includes("other-account") ? await createOrder("other", price, options) : {};
  const all: Sent[] = [];
  for (const name of names) {
    const payment = await createOrder(name, cases[name].paid, options);
    all.push({ name, payment, rounds: cases[name].rounds(payment, other), answers: [] });
  }
  await options.retrieved();
  for (const round of [0, 1] as const) {
    if (all.every(({ rounds }) => rounds[round].length === 0)) break;
    for (const { rounds, answers } of all)
      answers.push(...(await Promise.all(rounds[round].map((body) => send(body, options)))));
    await options.settle();
    if (signal.aborted)
      throw new Failure("callback.stopped", "Stopped before the end of the test.");
  }
  const retrieved = await options.retrieved();
  const results: TestResult[] = [];
  for (const one of all)
    results.push(await resultOf({ ...one, retrieved, genuine: results[0] }, options));
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

async function send(body: Payment, options: TestOptions): Promise<Sent["answers"][number]> {
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
  const came = await transport.exchange({
    ...{ method, url: new URL(url), freshConnection: true, signal, timeoutMs },
    headers: { "user-agent": "lenden", ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  if (came.kind === "answer")
    return { status: came.status, fault: null, sent: true, text: `${Buffer.from(came.bytes)}` };
  const fault = `${came.fault.reason} (${came.fault.code})`;
  return { status: came.status ?? null, fault, sent: came.sent, text: "" };
}

function orderUrl(id: unknown, { orders = "" }: TestOptions): string {
  return orders.replaceAll("{id}", encodeURIComponent(String(id)));
}

async function resultOf(
  one: Sent & { retrieved: string[]; genuine: (Result & { asked: number }) | undefined },
  options: TestOptions,
) {
  const { name, payment, rounds, answers, retrieved, genuine } = one;
  const { sent, paid } = cases[name];
  const ids = [...new Set([payment, ...rounds.flat()].map(({ transactionId }) => transactionId))];
  const asked = retrieved.filter((id) => ids.includes(id)).length;
  // Another customer's payment may be booked for that customer.
  const booked = await bookedFor(name === "other-account" ? ids.slice(0, 1) : ids, options);
  const result = judge({ paid, answers, asked, booked, genuine });
  return {
    ...{ case: name, sent, transactionId: String(payment.transactionId), answers, asked },
    booked: typeof booked === "bigint" ? amountNumber(booked) : null,
    ...result,
    todo: result.verdict === "failed" ? "See 'Write a handler' in docs/callbacks.md." : null,
  };
}

/** The amount that your store recorded, or why it cannot be seen. */
async function bookedFor(ids: unknown[], options: TestOptions): Promise<Paisa | string> {
  if (options.orders === undefined) return "What it booked is seen only with --orders.";
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

interface Seen extends Pick<Sent, "answers"> {
  paid: Paisa;
  asked: number;
  booked: Paisa | string;
  /** The result of the genuine callback; undefined if this is it. */
  genuine: (Result & { asked: number }) | undefined;
}

function judge({ paid, answers, asked, booked, genuine }: Seen): Result {
  const isTrue = paid === price;
  const isAccepted = answers.some((one) => isOf(200, one));
  const broken = answers.find(({ status }) => status === null || status >= 500);
  if (broken) return failed(`The handler failed: ${broken.fault ?? `HTTP ${broken.status}`}.`);
  if (isTrue && !isAccepted) return failed("It did not accept a genuine callback.");
  const isWrong = typeof booked === "bigint" && (booked > paid || (isTrue && booked < paid));
  if (isWrong)
    return failed(`It booked ${formatPaisa(booked)}, and ${formatPaisa(paid)} was paid.`);
  const isBelieved = !isTrue && isAccepted && asked === 0 && typeof booked === "string";
  if (isBelieved && genuine && genuine.asked > 0)
    return failed("It accepted the callback without retrieving the payment.");
  if (genuine?.verdict === "failed") return undecided("It does not accept the genuine one.");
  if (typeof booked === "bigint") return passed(`It booked ${formatPaisa(booked)}.`);
  if (!genuine && asked > 0) return passed("It retrieved the payment and accepted it.");
  const isRejected = !isTrue && answers.every((one) => isOf(400, one));
  return isRejected ? passed("It rejected the callback.") : undecided(booked);
}

const passed = (because: string): Result => ({ verdict: "passed", because });
const failed = (because: string): Result => ({ verdict: "failed", because });
const undecided = (because: string): Result => ({ verdict: "undecided", because });

function isOf(hundred: number, { status }: { status: number | null }): boolean {
  return status !== null && status >= hundred && status < hundred + 100;
}
