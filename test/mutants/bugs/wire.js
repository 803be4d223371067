import { override } from "../override.js";

const sending = (title) => ["test/operations/payout/send-safety.test.ts", "-t", title];
const creating = (title) => ["test/operations/create-safety.test.ts", "-t", title];

/** Bugs of how a request is made, sent and understood. */
export const wireBugs = [
  {
    name: "timeout called unreachable",
    seam: "transport",
    decorate: (transport) => calledUnsent(transport, "no response in time"),
    tests: sending("I3: after a timeout"),
  },
  {
    name: "not sent is claimed without proof",
    seam: "transport",
    decorate: (transport) => calledUnsent(transport, "connection lost"),
    tests: [
      "test/commands/duplicate-protection.test.ts",
      "-t",
      "resolves an unknown outcome with the same reference",
    ],
  },
  {
    name: "P15b: a raw response for another reference confirms the payout",
    seam: "transport",
    decorate: (transport) =>
      override(transport, {
        exchange: (exchange) => async (request) => {
          const found = await exchange(request);
          const { merchantRef } = JSON.parse(request.body ?? "{}");
          if (found.kind !== "answer" || merchantRef === undefined) return found;
          const ours = `"merchantRef":"${merchantRef}"`;
          return { ...found, text: found.text.replace(/"merchantRef":"[^"]*"/, ours) };
        },
      }),
    tests: ["test/commands/mixed-up.test.ts", "-t", "raw call"],
  },
  {
    name: "a server error called refused",
    seam: "classify",
    decorate: (classify) => (exchange, asked) => {
      const answer = classify(exchange, asked);
      return answer.why === "server error" ? refused(answer, true) : answer;
    },
    tests: sending("I3: an unknown outcome of another run"),
  },
  {
    name: "a page with a 4xx is a refusal",
    seam: "classify",
    decorate: (classify) => (exchange, asked) => {
      const answer = classify(exchange, asked);
      const isPage = ["not JSON", "empty", "wrong shape"].includes(answer.why);
      return isPage && answer.status >= 400 ? refused(answer, false) : answer;
    },
    tests: ["test/http/answer.test.ts"],
  },
  {
    name: "a rejection that contains the record proves that nothing was done",
    seam: "classify",
    decorate: (classify) => (exchange, asked) => {
      const answer = classify(exchange, asked);
      return answer.why === "record in a rejection" ? refused(answer, true) : answer;
    },
    tests: ["test/http/answer.test.ts"],
  },
  {
    name: "whatever is JSON is the service's own word",
    seam: "classify",
    decorate: (classify) => (exchange, asked) => {
      const answer = classify(exchange, asked);
      return answer.kind === "refused" ? { ...answer, isJson: isJson(exchange.text) } : answer;
    },
    tests: ["test/http/answer.test.ts"],
  },
  {
    name: "P17: a 409 or 429 proves that a raw refund was not made",
    seam: "classify",
    decorate: (classify) => (exchange, asked) => {
      const answer = classify(exchange, asked);
      const isRefund = asked.url?.pathname.includes("/refund/create");
      return isRefund && answer.kind === "refused" ? { ...answer, why: "refused" } : answer;
    },
    tests: ["test/commands/unknown-statuses.test.ts", "-t", "a raw refund"],
  },
  {
    name: "stale timestamp: half a minute old",
    seam: "request",
    decorate: (requestFor) => (endpoint, input, wire) =>
      requestFor(endpoint, input, { ...wire, now: () => wire.now() - 30_000 }),
    tests: sending("I3: after a timeout"),
  },
  {
    name: "stale signature: of the second before",
    seam: "signature",
    decorate: (sign) => (text, secret) =>
      sign(
        text.replace(/\d+$/, (timestamp) => String(Number(timestamp) - 1)),
        secret,
      ),
    tests: sending("P4: a second process"),
  },
  {
    name: "an amount is signed with two decimals",
    seam: "signature",
    decorate: (sign) => (text, secret) =>
      sign(
        text.replace(/^[^:]+/, (amount) => Number(amount).toFixed(2)),
        secret,
      ),
    tests: sending("P4: a second process"),
  },
  {
    name: "a payment is tried again like a read",
    seam: "contract",
    decorate: (contract) => repeated(contract, "createPayment"),
    tests: creating("a payment is sent at most once"),
  },
  {
    name: "a refund is tried again like a read",
    seam: "contract",
    decorate: (contract) => repeated(contract, "createRefund"),
    tests: creating("a refund is sent at most once"),
  },
  {
    name: "a payout is tried again like a read",
    seam: "contract",
    decorate: (contract) => repeated(contract, "createPayout"),
    tests: ["test/http/retry.test.ts", "-t", "nothing but a read"],
  },
];

function calledUnsent(transport, reason) {
  return override(transport, {
    exchange: (exchange) => async (request) => {
      const found = await exchange(request);
      const isSuch = found.kind === "broken" && found.fault.reason === reason;
      return isSuch ? { ...found, sent: false } : found;
    },
  });
}

function refused({ status, apiError, times }, isJson) {
  return { kind: "refused", why: "refused", status, apiError, times, isJson };
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function repeated(contract, name) {
  return { ...contract, [name]: { ...contract[name], repeat: "safe" } };
}
