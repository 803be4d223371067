/**
 * A store that trusts no callback. `node right.js` starts it on PORT (default: any free one) and prints its
 * URL; LENDEN_BASE_URL and LENDEN_API_KEY name the API.
 */
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const mostBytes = 64 * 1024;

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {{ transactionId: string, refundRequestId?: string, status: string, amount: number, description: string }} Claim
 * @typedef {Omit<Claim, "transactionId"> & { transactionId?: string }} Payment
 * @typedef {{ order: string, amount: number, paid: number, refunds: Map<string, number> }} Order
 * @typedef {object} Steps What a callback goes through.
 * @property {(claim: Claim) => Order | undefined} findOrder
 * @property {(claim: Claim) => Promise<Payment | undefined>} retrieve
 * @property {(payment: Payment | undefined, order: Order) => boolean} isPaid
 * @property {(order: Order) => void | Promise<void>} book
 * @property {(claim: Claim, request: Request) => number | Promise<number>} take
 */

/**
 * @param {{ LENDEN_BASE_URL?: string | undefined, LENDEN_API_KEY?: string | undefined }} env
 * @param {(right: Steps, orderNamed: (name: string | null) => Order | undefined) => Partial<Steps>} fault
 */
export function createShop({ LENDEN_BASE_URL, LENDEN_API_KEY = "" }, fault = () => ({})) {
  /** @type {Map<string, Order>} */
  const orders = new Map();

  /** @type {Steps} */
  const steps = {
    // By the transaction ID that the store recorded when it created the payment.
    findOrder: (claim) => orders.get(claim.transactionId),

    retrieve: (claim) => get(`/payment/retrieve/${encodeURIComponent(claim.transactionId)}`),

    // Only the API's record counts, not what the callback claims.
    isPaid: (payment, order) =>
      payment?.status === "Completed" &&
      payment.amount === order.amount &&
      payment.description === order.order,

    // Check and write are one step: of several callbacks at once, only the first books.
    book(order) {
      if (order.paid === 0) order.paid = order.amount;
    },

    async take(claim) {
      if (claim.refundRequestId) return takeRefund(claim.refundRequestId);
      const order = steps.findOrder(claim);
      if (!order) return 404;
      if (!steps.isPaid(await steps.retrieve(claim), order)) return 409;
      await steps.book(order);
      return 200;
    },
  };
  const orderNamed = (/** @type {string | null} */ name) =>
    [...orders.values()].find(({ order }) => order === name);
  Object.assign(steps, fault({ ...steps }, orderNamed));

  /** A refund is counted once. @param {string} refundRequestId */
  async function takeRefund(refundRequestId) {
    const refund = await get(`/refund/retrieve/${encodeURIComponent(refundRequestId)}`);
    const order = orders.get(refund?.transactionId ?? "");
    if (!refund || !order) return 404;
    if (refund.status === "Completed") order.refunds.set(refundRequestId, refund.amount);
    return 200;
  }

  /**
   * Undefined for what the API does not know; throws if the API cannot be reached.
   *
   * @param {string} path
   * @returns {Promise<Payment | undefined>}
   */
  async function get(path) {
    const signal = AbortSignal.timeout(5_000);
    const headers = { "x-api-key": LENDEN_API_KEY };
    const response = await fetch(LENDEN_BASE_URL + path, { headers, redirect: "error", signal });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`The API responded with ${response.status}.`);
    return JSON.parse(await response.text()).data;
  }

  /**
   * @param {Request} request
   * @returns {Promise<{ status: number, body?: object }>}
   */
  async function respond(request) {
    const [, isOrder, id = ""] = /^\/(orders)\/(.+)$/.exec(request.url ?? "") ?? [];
    if (isOrder && request.method === "GET") return { status: 200, body: booked(orders.get(id)) };
    if (request.method !== "POST" && request.method !== "PUT") return { status: 405 };
    const text = await readBody(request);
    if (text === undefined) return { status: 413 };
    const claim = parsed(text);
    if (!claim) return { status: 400 };
    if (!isOrder) return { status: await steps.take(claim, request) };
    orders.set(id, { ...claim, paid: 0, refunds: new Map() });
    return { status: 204 };
  }

  // A whole request has ten seconds.
  const server = createServer({ requestTimeout: 10_000, connectionsCheckingInterval: 1_000 });
  return server.on("request", async (request, response) => {
    const { status, body } = await respond(request).catch(() => ({ status: 503, body: undefined }));
    const headers = { "content-type": "application/json" };
    response.writeHead(status, status === 413 ? { ...headers, connection: "close" } : headers);
    response.end(body === undefined ? "" : JSON.stringify(body));
  });
}

/** Undefined if it is too large; the rest is not read. @param {Request} request */
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

/** @param {Order | undefined} order */
function booked(order) {
  const refunded = [...(order?.refunds.values() ?? [])].reduce((sum, amount) => sum + amount, 0);
  return { paid: order?.paid ?? 0, refunded };
}

/** @param {string} text */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const server = createShop(process.env).listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
  });
}
