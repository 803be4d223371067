/**
 * A shop that believes no callback. `node right.js` starts it on PORT (any free one, if unset) and
 * prints its address; LENDEN_BASE_URL and LENDEN_API_KEY say which service it asks.
 */
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const mostBytes = 64 * 1024;

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {{ transactionId: string, refundRequestId?: string, status: string, amount: number, description: string }} Claim
 * @typedef {Omit<Claim, "transactionId"> & { transactionId?: string }} Payment
 * @typedef {{ order: string, amount: number, paid: number, refunds: Map<string, number> }} Order
 * @typedef {object} Steps
 * @property {(request: Request) => Promise<string | undefined>} readBody
 * @property {(claim: Claim) => Order | undefined} findOrder
 * @property {(claim: Claim) => Promise<Payment | undefined>} retrieve
 * @property {(payment: Payment | undefined, order: Order) => boolean} pays
 * @property {(order: Order) => void | Promise<void>} book
 * @property {(claim: Claim, steps: Steps, request: Request) => number | Promise<number>} take
 */

/** @type {Map<string, Order>} */
const orders = new Map();

/**
 * What a callback goes through, each step on its own.
 *
 * @type {Steps}
 */
export const right = {
  readBody,

  /** The shop's own order, by the transaction id that was kept when its payment was made. */
  findOrder: (claim) => orders.get(claim.transactionId),

  retrieve: (claim) => ask(`/payment/retrieve/${encodeURIComponent(claim.transactionId)}`),

  /** Whether what the service has is what the order costs; the callback's own words do not matter. */
  pays: (payment, order) =>
    payment?.status === "Completed" &&
    payment.amount === order.amount &&
    payment.description === order.order,

  /** Looking and writing are one step: of several at once, the first alone books. */
  book(order) {
    if (order.paid === 0) order.paid = order.amount;
  },

  async take(claim, steps) {
    if (claim.refundRequestId) return takeRefund(claim.refundRequestId);
    const order = steps.findOrder(claim);
    if (!order) return 404;
    if (!steps.pays(await steps.retrieve(claim), order)) return 409;
    await steps.book(order);
    return 200;
  },
};

export function start(steps = right) {
  // A whole request has ten seconds, whoever sends it.
  const server = createServer({ requestTimeout: 10_000, connectionsCheckingInterval: 1_000 });
  server.on("request", async (request, response) => {
    const { status, body } = await answerTo(request, steps).catch(() => unavailable);
    const cut = status === 413 ? { connection: "close" } : {};
    response.writeHead(status, { "content-type": "application/json", ...cut });
    response.end(body === undefined ? "" : JSON.stringify(body));
  });
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
  });
}

/** @typedef {{ status: number, body?: object }} Answer */

/** @type {Answer} */
const unavailable = { status: 503 };

/**
 * @param {Request} request
 * @param {Steps} steps
 * @returns {Promise<Answer>}
 */
async function answerTo(request, steps) {
  const [, isBook, id = ""] = /^\/(orders)\/(.+)$/.exec(request.url ?? "") ?? [];
  if (isBook && request.method === "GET") return { status: 200, body: seen(orders.get(id)) };
  if (request.method !== "POST" && request.method !== "PUT") return { status: 405 };
  const text = await steps.readBody(request);
  if (text === undefined) return { status: 413 };
  const said = parsed(text);
  if (!said) return { status: 400 };
  if (!isBook) return { status: await steps.take(said, steps, request) };
  orders.set(id, { transactionId: id, paid: 0, refunds: new Map(), ...said });
  return { status: 204 };
}

/** Undefined where it is too large; the rest is not read. @param {Request} request */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A refund is believed no more than a payment; the same one counts once. @param {string} refundRequestId */
async function takeRefund(refundRequestId) {
  const refund = await ask(`/refund/retrieve/${encodeURIComponent(refundRequestId)}`);
  const order = orders.get(refund?.transactionId ?? "");
  if (!refund || !order) return 404;
  if (refund.status === "Completed") order.refunds.set(refundRequestId, refund.amount);
  return 200;
}

/**
 * Undefined for what the service does not know; it throws where the service cannot be asked.
 *
 * @param {string} path
 * @returns {Promise<Payment | undefined>}
 */
async function ask(path) {
  const { LENDEN_BASE_URL, LENDEN_API_KEY = "" } = process.env;
  const headers = { "x-api-key": LENDEN_API_KEY };
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(LENDEN_BASE_URL + path, { headers, redirect: "error", signal });
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return JSON.parse(await answer.text()).data;
}

/** @param {Order | undefined} order */
function seen(order) {
  const refunded = [...(order?.refunds.values() ?? [])].reduce((sum, amount) => sum + amount, 0);
  return { paid: order?.paid ?? 0, refunded };
}

/** @param {string} text */
function parsed(text) {
  try {
    const said = JSON.parse(text);
    return typeof said === "object" && said !== null ? said : undefined;
  } catch {
    return undefined;
  }
}

/** The order of a name, for shops that go wrong. @param {string | null} name */
export function orderNamed(name) {
  return [...orders.values()].find(({ order }) => order === name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) start();
