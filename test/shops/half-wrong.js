/** The right shop with one fault: `node half-wrong.js <fault>`. Each is one that was seen in real shops. */
import { setTimeout as delay } from "node:timers/promises";
import { orderNamed, right, start } from "./right.js";

let isTrusted = false;
const anyOrder = {
  findOrder: ({ description, amount }) => ({ order: description, amount, paid: 0 }),
};

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
    pays: ({ amount }, order) => amount === order.amount,
  },
  "does not compare the amount": {
    pays: (payment) => payment?.status === "Completed",
  },
  "takes the order from the callback": {
    findOrder: (claim) => orderNamed(claim.description),
    pays: (payment, { amount }) => payment?.status === "Completed" && payment.amount === amount,
  },
  "takes the order from its address": {
    take: (claim, steps, { url }) => {
      const named = orderNamed(new URL(url, "http://shop").searchParams.get("order"));
      return right.take(claim, { ...steps, findOrder: () => named });
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
    take: async (claim, steps) => {
      const status = await right.take(claim, steps);
      if (status === 200 && claim.status !== "Completed") right.findOrder(claim).paid = 0;
      return status;
    },
  },
  "trusts who was right once": {
    ...anyOrder,
    take: async (claim, steps) => {
      if (isTrusted) return 200;
      const status = await right.take(claim, steps);
      isTrusted = status === 200;
      return status;
    },
  },
  // No faults: this one takes whatever order a payment names, and the next looks after its answer.
  "knows no orders beforehand": anyOrder,
  "asks after its answer": {
    take: (claim, steps) => {
      void right.take(claim, steps);
      return 202;
    },
  },
};

start({ ...right, ...faults[process.argv[2]] });
