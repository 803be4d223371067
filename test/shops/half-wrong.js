/** The right shop with one fault: `node half-wrong.js <fault>`. Each is one that was seen in real shops. */
import { setTimeout as delay } from "node:timers/promises";
import { orderNamed, right, start } from "./right.js";

let isTrusted = false;

/**
 * @typedef {Partial<import("./right.js").Steps>} Fault
 * @type {Fault}
 */
const anyOrder = {
  findOrder: ({ description, amount }) => ({
    order: description,
    amount,
    paid: 0,
    refunds: new Map(),
  }),
};

/** @type {Record<string, Fault>} */
const faults = {
  none: {},
  "refuses everything": { take: () => 403 },
  // What cannot be looked up is taken as it was said.
  "goes on where the service knows nothing": {
    findOrder: (claim) => right.findOrder(claim) ?? orderNamed(claim.description),
    retrieve: async (claim) => (await right.retrieve(claim)) ?? claim,
  },
  "takes the status from the callback": {
    retrieve: async (claim) => {
      const payment = await right.retrieve(claim);
      return payment && { ...payment, status: claim.status };
    },
  },
  "does not look at the status": {
    pays: (payment, order) => payment?.amount === order.amount,
  },
  "does not compare the amount": {
    pays: (payment) => payment?.status === "Completed",
  },
  "takes the order from the callback": {
    findOrder: (claim) => orderNamed(claim.description),
    pays: (payment, { amount }) => payment?.status === "Completed" && payment.amount === amount,
  },
  "takes the order from its address": {
    take: (claim, steps, request) => {
      const named = orderNamed(new URL(request.url ?? "", "http://shop").searchParams.get("order"));
      return right.take(claim, { ...steps, findOrder: () => named }, request);
    },
    pays: (payment, { amount }) => payment?.status === "Completed" && payment.amount === amount,
  },
  "books every time": {
    book: (order) => {
      order.paid += order.amount;
    },
  },
  "looks, waits, and books": {
    book: async (order) => {
      if (order.paid > 0) return;
      await delay(1_000);
      order.paid += order.amount;
    },
  },
  "undoes what is paid": {
    take: async (claim, steps, request) => {
      const status = await right.take(claim, steps, request);
      const order = right.findOrder(claim);
      if (status === 200 && order && claim.status !== "Completed") order.paid = 0;
      return status;
    },
  },
  "trusts who was right once": {
    ...anyOrder,
    take: async (claim, steps, request) => {
      if (isTrusted) return 200;
      const status = await right.take(claim, steps, request);
      isTrusted = status === 200;
      return status;
    },
  },
  // No faults: this one takes whatever order a payment names, and the next looks after its answer.
  "knows no orders beforehand": anyOrder,
  "asks after its answer": {
    take: (claim, steps, request) => {
      void right.take(claim, steps, request);
      return 202;
    },
  },
};

start({ ...right, ...faults[process.argv[2] ?? "none"] });
