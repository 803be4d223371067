import { override } from "../override.js";

const sending = (title) => ["test/operations/payout/send-safety.test.ts", "-t", title];
const creating = (title) => ["test/operations/create-safety.test.ts", "-t", title];
const fixedBatches = ["test/simulator/batch.test.ts", "-t", "two hundred batches"];
const unknown = (title) => ["test/simulator/unknown-outcomes.test.ts", "-t", title];
const mixedUp = (title) => ["test/commands/mixed-up.test.ts", "-t", title];

/**
 * Bugs of what is sent, retried and compared, seen from the API client: for example, nothing is ever found to
 * be different if every response shows what was ordered.
 */
export const clientBugs = [
  {
    name: "new reference on retry",
    seam: "client",
    decorate: (client) => {
      const sent = new Map();
      return override(client, {
        createPayout: (create) => (order) => {
          const attempt = (sent.get(order.merchantRef) ?? 0) + 1;
          sent.set(order.merchantRef, attempt);
          return underAnother(create, order, attempt === 1 ? "" : `-${attempt}`);
        },
      });
    },
    tests: sending("P13: the next attempt returns"),
  },
  {
    name: "batch: new reference on resume",
    seam: "client",
    decorate: (client) =>
      override(client, {
        createPayout: (create) => (order) => {
          const { merchantRef } = order;
          const first = firstClient.get(merchantRef) ?? client;
          firstClient.set(merchantRef, first);
          return underAnother(create, order, first === client ? "" : "-2");
        },
      }),
    tests: fixedBatches,
  },
  {
    name: "batch: a row is sent under what was claimed for another",
    seam: "client",
    decorate: (client) => {
      let last;
      return override(client, {
        createPayout: (create) => async (order) => {
          const other = last ?? order;
          last = order;
          const answer = await create({ ...order, merchantRef: other.merchantRef });
          return withData(answer, () => ({ merchantRef: order.merchantRef }));
        },
      });
    },
    tests: fixedBatches,
  },
  {
    name: "a refund or a payment is sent again after it was sent",
    seam: "client",
    decorate: (client) => {
      const twice = (create) => async (order) => {
        const answer = await create(order);
        return answer.kind === "unclear" ? create(order) : answer;
      };
      return override(client, { createPayment: twice, createRefund: twice });
    },
    tests: creating("a payment is sent at most once"),
  },
  {
    name: "timeout called refused",
    seam: "client",
    decorate: (client) => {
      const certain = (create) => async (order) => {
        const answer = await create(order);
        return answer.why === "no response in time" ? refusedOf(answer) : answer;
      };
      return override(client, { createPayment: certain, createRefund: certain });
    },
    tests: creating("an uncertain payment is created again"),
  },
  {
    name: "10 s after a timeout are not waited",
    seam: "client",
    decorate: (client) =>
      override(client, {
        createPayout: (create) => async (order) => {
          const answer = await create(order);
          return answer.why === "no response in time"
            ? { ...answer, why: "connection lost" }
            : answer;
        },
      }),
    tests: sending("I3: after a timeout"),
  },
  {
    name: "a refusal ends the unknown outcome",
    seam: "client",
    decorate: (client) => believingTheLast(client, "refused"),
    tests: unknown("P17b"),
  },
  {
    name: "an unsent attempt ends the unknown outcome",
    seam: "client",
    decorate: (client) => believingTheLast(client, "unsent"),
    tests: unknown("P12"),
  },
  {
    name: "a page is believed that refuses a payout",
    seam: "client",
    decorate: (client) => override(client, { createPayout: believingPages }),
    tests: unknown("P14"),
  },
  {
    name: "a page that refuses a refund is taken for the service's word",
    seam: "client",
    decorate: (client) => override(client, { createRefund: believingDenials }),
    tests: unknown("P14"),
  },
  {
    name: "P17: a 409 or 429 proves that a refund was not made",
    seam: "client",
    decorate: (client) => override(client, { createRefund: believingStatuses }),
    tests: ["test/commands/unknown-statuses.test.ts", "-t", "refund create"],
  },
  {
    name: "P17: a 409 proves that a refund was not cancelled",
    seam: "client",
    decorate: (client) => override(client, { cancelRefund: believingStatuses }),
    tests: ["test/commands/unknown-statuses.test.ts", "-t", "a cancellation"],
  },
  {
    name: "a payment that is not Completed is refunded",
    seam: "client",
    decorate: (client) =>
      override(client, {
        retrievePayment: (retrieve) => async (asked) =>
          withData(await retrieve(asked), ({ status }) =>
            status === "Processing" ? { status: "Completed" } : {},
          ),
      }),
    tests: [
      "test/commands/duplicate-protection.test.ts",
      "-t",
      "rejects a payment that is not Completed",
    ],
  },
  {
    name: "payout answer not compared",
    seam: "client",
    decorate: (client) =>
      override(client, { createPayout: (create) => showing(create, ["amount", "merchantRef"]) }),
    tests: mixedUp("P15: a response with another amount"),
  },
  {
    name: "amounts not compared at all",
    seam: "client",
    decorate: (client) => {
      const right = (work) => showing(work, ["amount"]);
      return override(client, {
        createPayout: right,
        createPayment: right,
        createRefund: right,
        retrievePayout: right,
      });
    },
    tests: ["test/commands/get.test.ts", "-t", "amount"],
  },
  {
    name: "recipient not compared",
    seam: "client",
    decorate: (client) => retrievingAsOrdered(client, ["recipientNumber"]),
    tests: sending("P5, P16"),
  },
  {
    name: "a record that is looked at later is not compared",
    seam: "client",
    decorate: (client) => retrievingAsOrdered(client, ["amount", "recipientNumber"]),
    tests: ["test/commands/get.test.ts", "-t", "payout list --refresh"],
  },
  {
    name: "payout get does not compare amount and recipient",
    seam: "client",
    decorate: (client) => retrievingAsOrdered(client, ["amount", "recipientNumber"]),
    tests: ["test/commands/get.test.ts", "-t", "payout differs"],
  },
  {
    name: "what a person says is made is not compared",
    seam: "client",
    decorate: (client) => retrievingAsOrdered(client, ["amount", "recipientNumber"]),
    tests: sending("P5, P16"),
  },
  {
    name: "a conflict is answered as success",
    seam: "client",
    decorate: (client) => {
      const right = (work) => showing(work, ["amount", "recipientNumber"]);
      return override(client, { createPayout: right, retrievePayout: right });
    },
    tests: mixedUp("CONFLICT"),
  },
  {
    name: "P15b: a response for another reference is not asked for again",
    seam: "client",
    decorate: (client) =>
      override(client, { createPayout: (create) => showing(create, ["merchantRef"]) }),
    tests: mixedUp("response was mixed up once"),
  },
  {
    name: "P15b: the status of a record for another reference is stored",
    seam: "client",
    decorate: (client) => retrievingAsOrdered(client, ["merchantRef"]),
    tests: mixedUp("I5, P15b"),
  },
  {
    name: "a confirmed payout that cannot be retrieved is called uncertain",
    seam: "client",
    decorate: (client) =>
      override(client, {
        retrievePayout: (retrieve) => async (asked) => {
          const answer = await retrieve(asked);
          return answer.why === "access"
            ? { ...answer, kind: "unclear", why: "unexpected status", text: "" }
            : answer;
        },
      }),
    tests: ["test/commands/get.test.ts", "-t", "P18"],
  },
  {
    name: "batch: no answer ever looks old",
    seam: "client",
    decorate: (client, wire) =>
      override(client, {
        createPayout: (create) => async (order) =>
          withData(await create(order), () => ({
            createdAt: new Date(wire.now()).toISOString(),
            status: "Processing",
          })),
      }),
    tests: fixedBatches,
  },
];

/** Which client sent a reference first: another one is another process. */
const firstClient = new Map();

/** What was ordered, by its reference and by the ID of what was created; it outlives a process. */
const ordered = new Map();

/** The answer with other fields in its data. */
function withData(answer, change) {
  return answer.kind === "data"
    ? { ...answer, data: { ...answer.data, ...change(answer.data) } }
    : answer;
}

async function underAnother(create, order, suffix) {
  const merchantRef = order.merchantRef + suffix;
  const answer = await create({ ...order, merchantRef });
  return withData(answer, () => ({ merchantRef: order.merchantRef }));
}

function refusedOf({ status = 400, apiError, times }) {
  return { kind: "refused", why: "refused", status, apiError, times, isJson: true };
}

/** Sends a payout once more by itself, and forgets what came of the first attempt. */
function believingTheLast(client, kind) {
  return override(client, {
    createPayout: (create) => async (order) => {
      const first = await create(order);
      if (first.why !== "server error" && first.why !== "connection lost") return first;
      const last = await create(order);
      return last.kind === kind || last.kind === "data" ? last : first;
    },
  });
}

function believingPages(create) {
  return async (order) => {
    const answer = await create(order);
    return answer.kind === "refused" ? { ...answer, isJson: true } : answer;
  };
}

function believingDenials(create) {
  return async (order) => {
    const answer = await create(order);
    const isDenied = answer.kind === "refused" && answer.why === "access";
    return isDenied ? { ...answer, why: "refused", isJson: true } : answer;
  };
}

function believingStatuses(work) {
  return async (asked) => {
    const answer = await work(asked);
    return answer.kind === "refused" ? { ...answer, why: "refused" } : answer;
  };
}

/** Responses show these fields as they were ordered. */
function showing(work, fields) {
  return async (asked) => {
    if (asked.amount !== undefined) ordered.set(asked.merchantRef, asked);
    const answer = await work(asked);
    if (answer.kind !== "data") return answer;
    const { payoutId, merchantRef } = answer.data;
    if (asked.amount !== undefined && payoutId) ordered.set(payoutId, asked);
    const order =
      asked.amount === undefined ? (ordered.get(payoutId) ?? ordered.get(merchantRef)) : asked;
    if (!order) return answer;
    const known = fields.filter((field) => field in answer.data && order[field] !== undefined);
    return withData(answer, () => Object.fromEntries(known.map((field) => [field, order[field]])));
  };
}

function retrievingAsOrdered(client, fields) {
  return override(client, {
    createPayout: (create) => showing(create, []),
    retrievePayout: (retrieve) => showing(retrieve, fields),
  });
}
