import { createHmac, randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { TlsOptions } from "node:tls";
import { type Asked, type Behaviour, openServer } from "./server.ts";

/**
 * An implementation of the payment API from its specification alone. It shares no code with
 * lenden or its sandbox, so that a misunderstanding they have in common shows here.
 *
 * Choices for what the specification does not show are marked "Not shown". Each is something that a
 * real API does, and deliberately not the most convenient one.
 */
export interface FakeApi {
  baseUrl: string;
  apiKey: string;
  payoutSecret: string;
  methods: typeof methods;
  /** The API's own books, oldest first. */
  payments: Payment[];
  payouts: Payout[];
  refunds: Refund[];
  /** Every request that arrived, oldest first. */
  requests: Asked[];
  /** Moves a record from outside, as the payment provider does. */
  set(kind: "payment" | "payout" | "refund", id: string, status: Status): void;
  /** Disturbs the n-th request whose path starts so from now on, or every one until `heal()`. */
  disturb(path: string, disturbance: Disturbance, nth: number | "every"): void;
  heal(): void;
  close(): Promise<void>;
}

type Status = "Processing" | "Completed" | "Cancelled";

export interface Disturbance {
  /** Replaces the response, whose body it gets; `Behaviour` in server.ts has hostile ones. */
  response?: (body: string) => Behaviour;
  /** False if the API rejects the request without any effect (default: true). */
  takesEffect?: boolean;
  delayMs?: number;
}

interface Payment {
  transactionId: string;
  amount: number;
  description: string;
  status: Status;
  paymentMethod: string;
  createdAt: string;
  updatedAt: string;
}

interface Payout {
  payoutId: string;
  merchantRef: string;
  amount: number;
  recipientNumber: string;
  recipientName: string | null;
  description: string | null;
  status: Status;
  createdAt: string;
  updatedAt: string;
}

interface Refund {
  refundRequestId: string;
  transactionId: string;
  amount: number;
  accountType: string;
  accountNumber: string;
  status: Status;
  note: string | null;
  createdAt: string;
  updatedAt: string;
}

type Body = Record<string, unknown>;

interface Call {
  body: Body;
  signature: string;
  /** The last segment of a path that names a record. */
  id: string;
}

interface Answer {
  status: number;
  data: unknown;
}

/** What an API may do that lenden does not expect; `number-as-sent` is what it does expect. */
export type Deviation =
  | "number-as-sent"
  | "number-without-zero"
  | "another-amount-creates"
  | "another-amount-changes"
  | "another-recipient-changes"
  | "another-method-creates"
  | "forgets-references"
  | "wrong-signature-creates"
  | "wrong-signature-accepted"
  | "unknown-method-creates"
  | "rejects-with-a-page"
  | "unknown-id-is-an-error"
  | "methods-without-code"
  | "payout-without-time"
  | "payment-without-method"
  | "refund-without-account"
  | "cancels-twice"
  | "other-created-at"
  | "other-date";

const toleranceSeconds = 5 * 60;

/** Not shown: codes are internal names, so that only the display name is `bKash`. */
const methods = [
  { id: "7f1d0a52-wallet-1", providerName: "bKash", codeName: "MFS_01" },
  { id: "7f1d0a52-wallet-2", providerName: "Nagad", codeName: "MFS_02" },
] as const;

/** A rejected request. Not shown: status and shape; this is what NestJS sends, with a list of messages. */
class Rejection extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  get body(): object {
    return { statusCode: this.status, message: [this.message], error: "Request rejected" };
  }
}

/**
 * @param now milliseconds since 1970; also what the `Date` header of each response shows
 * @param production its API key and its certificate
 */
export async function startFakeApi(
  now: () => number = Date.now,
  deviations: readonly string[] = [],
  production?: { apiKey: string; tls: TlsOptions },
): Promise<FakeApi> {
  const does = (deviation: Deviation) => deviations.includes(deviation);
  const { apiKey, tls } = production ?? { apiKey: "sk_sandbox_SEC-ondapi012345-KEY" };
  const payoutSecret = `second-${randomUUID()}`;
  const payments: Payment[] = [];
  const payouts: Payout[] = [];
  const refunds: Refund[] = [];
  const methodOf = new Map<Payout, unknown>();
  let disturbances: { path: string; disturbance: Disturbance; nth: number | "every" }[] = [];

  /** Not shown: the precision. Whole seconds, so that a record can look older than its request. */
  const timestamp = () => {
    const atMs = now() + (does("other-created-at") ? 6 * 60 * 60_000 : 0);
    return new Date(atMs).toISOString().replace(/\.\d+Z$/, "+00:00");
  };
  const created = () => ({ createdAt: timestamp(), updatedAt: timestamp() });

  const move = (record: { status: Status; updatedAt: string }, status: Status) => {
    record.status = status;
    record.updatedAt = timestamp();
  };

  function createPayment({ body }: Call): Answer {
    const payment: Payment = {
      transactionId: newId(),
      amount: readAmount(body),
      description: readText(body, "description"),
      status: "Processing",
      paymentMethod: readMethod(body).providerName,
      ...created(),
    };
    readText(body, "redirect_url");
    readText(body, "callback_url");
    payments.push(payment);
    const { transactionId, amount, status } = payment;
    const payment_url = `https://pay.second-api.test/${transactionId}`;
    return { status: 201, data: { transactionId, payment_url, amount, status } };
  }

  function createPayout({ body, signature }: Call): Answer {
    const amount = readAmount(body);
    const merchantRef = readText(body, "merchantRef");
    const sentAt = body.timestamp;
    if (typeof sentAt !== "number") throw new Rejection(422, "timestamp must be a number");
    if (!isSigned({ amount, merchantRef, timestamp: sentAt, signature }, payoutSecret)) {
      if (does("wrong-signature-creates")) newPayout(body, amount, merchantRef);
      if (!does("wrong-signature-accepted"))
        throw new Rejection(401, "x-payout-signature does not match the body");
    }
    if (Math.abs(now() / 1000 - sentAt) > toleranceSeconds)
      throw new Rejection(400, "timestamp is more than 5 minutes away");
    const payout =
      // A used reference is not an error, whatever the amount and the recipient are this time.
      existingPayout(body, amount, merchantRef) ?? newPayout(body, amount, merchantRef);
    const { payoutId, status, createdAt } = payout;
    // Not shown: the HTTP status. It is the same for a new payout and an existing one.
    return {
      status: 201,
      data: { payoutId, merchantRef, amount: payout.amount, status, createdAt },
    };
  }

  function existingPayout(body: Body, amount: number, merchantRef: string): Payout | undefined {
    const found = payouts.find((one) => one.merchantRef === merchantRef);
    if (!found) return undefined;
    const isForgotten = now() - Date.parse(found.createdAt) >= 60_000;
    const isOtherMethod = body.paymentMethodId !== methodOf.get(found);
    if (does("forgets-references") && isForgotten) return undefined;
    if (does("another-amount-creates") && amount !== found.amount) return undefined;
    if (does("another-method-creates") && isOtherMethod) return undefined;
    if (does("another-amount-changes")) found.amount = amount;
    if (does("another-recipient-changes")) found.recipientNumber = numberOf(body);
    return found;
  }

  /** Not shown: the format. The API normalizes the number to E.164. */
  function numberOf(body: Body): string {
    const sent = readText(body, "recipientNumber");
    if (does("number-as-sent")) return sent;
    return sent.replace(/^(?:\+?88)?0/, does("number-without-zero") ? "" : "+880");
  }

  function newPayout(body: Body, amount: number, merchantRef: string): Payout {
    const payout: Payout = {
      payoutId: newId(),
      merchantRef,
      amount,
      recipientNumber: numberOf(body),
      // Not shown: what an optional field has that was not given.
      recipientName: optionalText(body, "recipientName"),
      description: optionalText(body, "description"),
      status: "Processing",
      ...created(),
    };
    methodOf.set(payout, body.paymentMethodId);
    if (does("unknown-method-creates")) payouts.push(payout);
    readMethod(body);
    if (!payouts.includes(payout)) payouts.push(payout);
    return payout;
  }

  function createRefund({ body }: Call): Answer {
    const payment = paymentOf(readText(body, "transactionId"));
    if (payment.status !== "Completed") throw new Rejection(422, "payment is not completed");
    const accountType = readText(body, "accountType");
    if (!["PERSONAL_ACCOUNT", "BUSINESS_ACCOUNT"].includes(accountType))
      throw new Rejection(422, "accountType is not valid");
    const refund: Refund = {
      refundRequestId: newId(),
      transactionId: payment.transactionId,
      // Not shown: a limit. The API does not add up refunds, so only the client can.
      amount: readAmount(body),
      accountType,
      accountNumber: readText(body, "accountNumber"),
      status: "Processing",
      note: optionalText(body, "note"),
      ...created(),
    };
    refunds.push(refund);
    const { refundRequestId, transactionId, amount, status, createdAt } = refund;
    return { status: 201, data: { refundRequestId, transactionId, amount, status, createdAt } };
  }

  function cancelRefund({ body, id }: Call): Answer {
    const refund = refundOf(id);
    // Not shown: the error. A 409, which for a creation would prove nothing.
    if (refund.status !== "Processing" && !does("cancels-twice"))
      throw new Rejection(409, `refund is ${refund.status}`);
    refund.note = optionalText(body, "note") ?? refund.note;
    move(refund, "Cancelled");
    const { refundRequestId, status, note, updatedAt } = refund;
    return { status: 200, data: { refundRequestId, status, note, updatedAt } };
  }

  /** Not shown: the response, and a second trigger. It names no record, and the second is rejected. */
  function complete(record: { status: Status; updatedAt: string }): Answer {
    if (record.status !== "Processing") throw new Rejection(409, `already ${record.status}`);
    move(record, "Completed");
    return { status: 200, data: {} };
  }

  const paymentOf = (id: string) => known(payments.find((one) => one.transactionId === id));
  const payoutOf = (id: string) => known(payouts.find((one) => one.payoutId === id));
  const refundOf = (id: string) => known(refunds.find((one) => one.refundRequestId === id));
  const without = (name: string, data: object) =>
    Object.fromEntries(Object.entries(data).filter(([key]) => key !== name));
  const read = (data: unknown): Answer => ({ status: 200, data });

  /** There is no route that lists anything. */
  const routes: Record<string, (call: Call) => Answer> = {
    "GET /payment/methods": () =>
      read(methods.map((one) => (does("methods-without-code") ? without("codeName", one) : one))),
    "POST /payment/create": createPayment,
    "GET /payment/retrieve/:id": ({ id }) =>
      read(without(does("payment-without-method") ? "paymentMethod" : "", paymentOf(id))),
    "POST /payout/create-by-server": createPayout,
    "GET /payout/retrieve/:id": ({ id }) =>
      read(without(does("payout-without-time") ? "updatedAt" : "", payoutOf(id))),
    "POST /refund/create-a-request": createRefund,
    "GET /refund/retrieve/:id": ({ id }) =>
      read(without(does("refund-without-account") ? "accountNumber" : "", refundOf(id))),
    "PATCH /refund/cancel-by-platform/:id": cancelRefund,
    "POST /sandbox/trigger-payment": ({ body }) =>
      complete(paymentOf(readText(body, "transactionId"))),
    "POST /sandbox/trigger-payout": ({ body }) => complete(payoutOf(readText(body, "payoutId"))),
    "GET /sandbox/info": () => read({ merchant: { title: "Second API" }, currency: "BDT" }),
  };

  function answer({ method, path: target, headers, body: text }: Asked): Answer {
    const [path = ""] = target.split("?");
    // Not shown: the status. A 401 for a wrong key, as for a wrong signature.
    if (headers["x-api-key"] !== apiKey) throw new Rejection(401, "x-api-key is not valid");
    const last = path.slice(path.lastIndexOf("/") + 1);
    const isId = /^\/\w+\/(?:retrieve|cancel-by-platform)\//.test(path);
    const template = isId ? path.replace(/[^/]*$/, ":id") : path;
    const route = routes[`${method} ${template}`];
    if (!route) throw new Rejection(404, `Cannot ${method} ${path}`);
    if (method !== "GET" && headers["content-type"]?.split(";")[0] !== "application/json")
      throw new Rejection(415, "content-type must be application/json");
    const signature = headers["x-payout-signature"] ?? "";
    return route({ body: readBody(text), signature, id: decodeURIComponent(last) });
  }

  function disturbanceOf(path: string): Disturbance | undefined {
    const concerned = disturbances.filter((one) => path.startsWith(one.path));
    const found = concerned.find(({ nth }) => nth === 1 || nth === "every");
    for (const one of concerned) if (one.nth !== "every") one.nth -= 1;
    return found?.disturbance;
  }

  function replyTo(asked: Asked): { status: number; body: string } {
    try {
      const { status, data } = answer(asked);
      return { status, body: toJson({ success: true, data }) };
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      if (does("rejects-with-a-page") && error.status !== 404)
        return { status: error.status, body: "<html>Rejected</html>" };
      const isError = does("unknown-id-is-an-error") && error.status === 404;
      return { status: isError ? 500 : error.status, body: JSON.stringify(error.body) };
    }
  }

  async function respond(asked: Asked): Promise<Behaviour> {
    const { response, takesEffect = true, delayMs = 0 } = disturbanceOf(asked.path) ?? {};
    const { status, body } = takesEffect ? replyTo(asked) : { status: 200, body: "" };
    const offMs = does("other-date") ? 230_000 : 0;
    const headers = { date: new Date(now() + offMs).toUTCString() };
    if (delayMs > 0) await delay(delayMs);
    const changed = response?.(body) ?? { do: "answer", status, body };
    return changed.do === "answer"
      ? { ...changed, headers: { ...headers, ...changed.headers } }
      : changed;
  }

  const server = await openServer(respond, { tls });
  return {
    baseUrl: server.baseUrl,
    apiKey,
    payoutSecret,
    methods,
    payments,
    payouts,
    refunds,
    requests: server.asked,
    set: (kind, id, status) =>
      move({ payment: paymentOf, payout: payoutOf, refund: refundOf }[kind](id), status),
    disturb: (path, disturbance, nth) => void disturbances.push({ path, disturbance, nth }),
    heal: () => {
      disturbances = [];
    },
    close: server.close,
  };
}

/** True if the signature was made from these very values with this secret. */
export function isSigned(
  payout: { amount: number; merchantRef: string; timestamp: number; signature: string },
  secret: string,
): boolean {
  const message = `${payout.amount}:${payout.merchantRef}:${payout.timestamp}`;
  const expected = createHmac("sha256", secret).update(message).digest();
  const given = Buffer.from(payout.signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Not shown: the format. Digits only, more than a number of JavaScript can hold. */
function newId(): string {
  return `20${String(randomInt(1e12)).padStart(12, "0")}${String(randomInt(1e8)).padStart(8, "0")}`;
}

function known<Found>(record: Found | undefined): Found {
  // Not shown: the status.
  if (record === undefined) throw new Rejection(404, "record not found");
  return record;
}

function readAmount({ amount }: Body): number {
  const isValid = typeof amount === "number" && amount > 0 && Number(amount.toFixed(2)) === amount;
  if (!isValid) throw new Rejection(422, "amount must be a positive number of BDT");
  return amount;
}

function readText(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== "string" || value === "") throw new Rejection(422, `${name} is required`);
  return value;
}

function optionalText(body: Body, name: string): string | null {
  return body[name] === undefined ? null : readText(body, name);
}

function readMethod(body: Body): (typeof methods)[number] {
  const id = readText(body, "paymentMethodId");
  const found = methods.find((one) => one.id === id);
  if (!found) throw new Rejection(422, "paymentMethodId is not enabled on this account");
  return found;
}

function readBody(text: string): Body {
  if (text === "") return {};
  try {
    const body: unknown = JSON.parse(text);
    return Object.fromEntries(Object.entries(body ?? {}));
  } catch {
    throw new Rejection(400, "body is not valid JSON");
  }
}

/** Amounts have two decimals in the text (`500.00`), as many serializers write them. */
function toJson(value: unknown): string {
  const marked = JSON.stringify(value, (name, one) =>
    name === "amount" && typeof one === "number" ? `amount:${one.toFixed(2)}` : one,
  );
  return marked.replace(/"amount":"amount:([0-9.]+)"/g, '"amount":$1');
}
