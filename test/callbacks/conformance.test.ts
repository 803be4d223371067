import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { RecordedExchange } from "../../src/api/contract/local.ts";
import { openTransport } from "../../src/api/transport.ts";
import {
  type CaseName,
  caseNames,
  type TestResult,
  testHandler,
} from "../../src/conformance/handler.ts";
import { amountNumber } from "../../src/domain/amount.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { paymentMethods } from "../../src/sandbox/store.ts";
import type { createShop } from "../shops/right.js";
import { openShop } from "../shops/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { openMerchant } from "../support/merchant.ts";
import { type Behaviour, closedPort, serve } from "../support/server.ts";
import { listenAs } from "./listening.ts";

type Fault = NonNullable<Parameters<typeof createShop>[1]>;

/** Each was seen in a real store, beside the cases that it fails. */
const faults: Record<string, { fault: Fault; fails: CaseName[] }> = {
  "none of them": { fault: () => ({}), fails: [] },
  "trust in every callback": {
    fault: (_, orderNamed) => ({
      take: (claim) => {
        const order = orderNamed(claim.description);
        if (order) order.paid = claim.status === "Completed" ? order.paid + claim.amount : 0;
        return 200;
      },
    }),
    fails: caseNames.filter((name) => name !== "genuine"),
  },
  "trust in what the API does not know": {
    fault: (right, orderNamed) => ({
      findOrder: (claim) => right.findOrder(claim) ?? orderNamed(claim.description),
      retrieve: async (claim) => (await right.retrieve(claim)) ?? claim,
    }),
    fails: ["unknown-id"],
  },
  "the status of the callback": {
    fault: (right) => ({
      retrieve: async (claim) => {
        const payment = await right.retrieve(claim);
        return payment && { ...payment, status: claim.status };
      },
    }),
    fails: ["forged"],
  },
  "no check of the status": {
    fault: () => ({ isPaid: (payment, order) => payment?.amount === order.amount }),
    fails: ["forged"],
  },
  "no check of the amount": {
    fault: () => ({ isPaid: (payment) => payment?.status === "Completed" }),
    fails: ["wrong-amount"],
  },
  "the order that the callback names": {
    fault: (_, orderNamed) => ({
      findOrder: (claim) => orderNamed(claim.description),
      isPaid: isPaidInFull,
    }),
    fails: ["other-account"],
  },
  "the order that the URL names": {
    fault: (right, orderNamed) => {
      let named: ReturnType<typeof orderNamed>;
      return {
        findOrder: () => named,
        isPaid: isPaidInFull,
        take: (claim, request) => {
          const { searchParams } = new URL(request.url ?? "", "http://store");
          named = orderNamed(searchParams.get("order"));
          return right.take(claim, request);
        },
      };
    },
    fails: ["other-account"],
  },
  "a payment booked at each callback": {
    fault: () => ({
      book: (order) => {
        order.paid += order.amount;
      },
    }),
    fails: ["replayed", "wrong-status", "reordered", "duplicated"],
  },
  "a pause between check and write": {
    fault: () => ({
      book: async (order) => {
        if (order.paid > 0) return;
        await delay(50);
        order.paid += order.amount;
      },
    }),
    fails: ["duplicated"],
  },
  "a booking that a callback undoes": {
    fault: (right) => ({
      take: async (claim, request) => {
        const status = await right.take(claim, request);
        const order = right.findOrder(claim);
        if (status === 200 && order && claim.status !== "Completed") order.paid = 0;
        return status;
      },
    }),
    fails: ["wrong-status", "reordered"],
  },
};

const isPaidInFull: NonNullable<ReturnType<Fault>["isPaid"]> = (payment, { amount }) =>
  payment?.status === "Completed" && payment.amount === amount;

/** A store that accepts whatever order a payment names. */
const anyOrder: NonNullable<ReturnType<Fault>["findOrder"]> = ({ description, amount }) => ({
  order: description,
  amount,
  paid: 0,
  refunds: new Map(),
});

const closing: (() => Promise<void>)[] = [];
const merchant = await openMerchant({}, (close) => closing.push(close));
const sandbox = await startSandbox({ now: Date.now });
// Not the store: the sandbox sends a callback of its own.
const callback_url = `${new URL(sandbox.baseUrl).origin}/callback`;
const account = { LENDEN_BASE_URL: sandbox.baseUrl, LENDEN_API_KEY: sandbox.apiKey };
const transport = openTransport({ http: undefined, https: undefined, none: undefined });
closing.push(sandbox.close, transport.close);
afterAll(() => Promise.all(closing.map((close) => close())));

describe("a store", () => {
  test.each(Object.entries(faults))("with %s fails those cases alone", async (_, one) => {
    const all = await tested(one.fault);
    expect(all.map((result) => result.case)).toEqual(caseNames);
    const notPassed = all.filter(({ verdict }) => verdict !== "passed");
    expect(notPassed.map((result) => result.case)).toEqual(one.fails);
    for (const { verdict, hint } of all) expect(hint !== null).toBe(verdict === "failed");
  });

  test("may record the payment after its response, within --settle", async () => {
    const taken: unknown[] = [];
    const fault: Fault = (right) => ({
      take: (...given) => {
        taken.push(right.take(...given));
        return 202;
      },
    });
    const settle = () => Promise.all(taken);
    expect(await tested(fault, { names: ["genuine", "forged"], settle })).toMatchObject([
      { booked: "500" },
      { booked: "0", retrievals: 1 },
    ]);
  });

  test("that rejects everything passes no case", async () => {
    expect(verdicts(await tested(() => ({ take: () => 403 })))).toEqual({
      ...each(caseNames, "undecided"),
      ...each(["genuine", "replayed", "wrong-status", "reordered", "duplicated"], "failed"),
    });
  });

  test("passes no case without proof if --orders is missing", async () => {
    const names: CaseName[] = ["genuine", "forged", "replayed", "unknown-id"];
    const seen = async (fault: Fault) => verdicts(await tested(fault, { names, hasOrders: false }));
    expect(await seen(() => ({ findOrder: anyOrder }))).toEqual({
      ...each(names, "passed"),
      replayed: "undecided",
    });
    let isTrusted = false;
    const trusting: Fault = (right) => ({
      findOrder: anyOrder,
      take: async (...given) => {
        const status = isTrusted ? 200 : await right.take(...given);
        isTrusted ||= status === 200;
        return status;
      },
    });
    expect(await seen(trusting)).toEqual({
      genuine: "passed",
      ...each(["forged", "unknown-id"], "failed"),
      replayed: "undecided",
    });
    // It may retrieve later, or from another sandbox: that it retrieved nothing proves nothing.
    expect(await seen(() => ({ take: () => 200 }))).toEqual(each(names, "undecided"));
  });
});

test("shows what was sent, responded, retrieved and booked", async () => {
  const shop = await openShop(merchant.env, onTestFinished);
  const line = ["callback", "test", shop.callback, "--orders", shop.orders];
  line.push("--only", "forged", "--settle", "1ms");
  const { stdout, stderr } = await merchant.lenden([...line, "--json"]);
  const payments = (await merchant.books("payments")).slice(-2);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([
    {
      case: "genuine",
      sent: expect.any(String),
      transactionId: payments[0]?.id,
      responses: [{ status: 200, fault: null }],
      retrievals: 1,
      booked: "500",
      verdict: "passed",
      explanation: "Your store booked BDT 500.00.",
      hint: null,
    },
    expect.objectContaining({ case: "forged", transactionId: payments[1]?.id, booked: "0" }),
  ]);
  const shown = await merchant.lenden(line);
  expect(shown.stdout).toMatch(/^passed {4}genuine .*Sent the callback of .* Responses: 200; /);
});

test("reports a handler that hangs, resets, redirects and responds nonsense", async () => {
  const ways: Behaviour[] = [
    { do: "silence" },
    { do: "reset" },
    { do: "send", bytes: "SSH-2.0-OpenSSH_9.2\r\n\r\n", ending: "close" },
    { do: "answer", status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } },
    { do: "answer", status: 500, body: "x".repeat(1024 * 1024) },
  ];
  const { port, asked } = await serve(() => ways[asked.length - 1] ?? { do: "close" });
  const names = ["forged", "wrong-amount", "unknown-id", "other-account"];
  const only = names.flatMap((name) => ["--only", name]);
  const quickly = ["--settle", "1ms", "--answer-within", "3s"];
  const line = ["callback", "test", `http://127.0.0.1:${port}/`, ...only, ...quickly, "--json"];
  const { code, stdout, stderr } = await merchant.lenden(line);
  const all: TestResult[] = JSON.parse(stdout);
  expect(all.flatMap(({ responses }) => responses)).toEqual([
    { status: null, fault: "no response in time (TIMEOUT)" },
    { status: null, fault: "connection lost (ECONNRESET)" },
    { status: null, fault: expect.stringContaining("response not HTTP") },
    { status: 307, fault: null },
    { status: 500, fault: null },
  ]);
  expect(all.map(({ verdict }) => verdict)).toEqual([
    ...["failed", "failed", "failed", "undecided", "failed"],
  ]);
  expect([code, JSON.parse(stderr).error.kind]).toEqual([11, "unverified"]);
});

test("sends nothing to another machine without --own-host, and ends with 69 without a handler", async () => {
  const before = await merchant.requests();
  for (const [code, ...args] of [
    [2, "https://192.0.2.7/"],
    [2, "https://0.0.0.0/"],
    [69, "https://absent.invalid/", "--own-host", "absent.invalid"],
  ] as const) {
    const ended = await merchant.lenden(["callback", "test", ...args]);
    expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: "" });
  }
  expect(await merchant.requests()).toEqual(before);
  const url = `http://127.0.0.1:${await closedPort()}/`;
  expect(await merchant.lenden(["callback", "test", url])).toMatchObject({ code: 69, stdout: "" });
});

test("ends if the store accepts no orders, and decides nothing if it returns no amount", async () => {
  let status = 404;
  const { port } = await serve(({ method }) => ({
    do: "answer",
    status: method === "PUT" ? status : 200,
    body: '{"paid":"a lot"}',
  }));
  const shop = `http://127.0.0.1:${port}`;
  const line = ["callback", "test", shop, "--orders", `${shop}/{id}`, "--only", "forged"];
  line.push("--settle", "1ms", "--json");
  const rejected = await merchant.lenden(line);
  expect([rejected.code, JSON.parse(rejected.stderr).error.reason]).toEqual([
    3,
    "callback.order-rejected",
  ]);
  status = 204;
  const { code, stdout } = await merchant.lenden(line);
  expect(code).toBe(11);
  for (const { verdict, explanation } of JSON.parse(stdout))
    expect([verdict, explanation]).toEqual([
      "undecided",
      "A GET request to the --orders URL returned no amount (200).",
    ]);
});

test("a store has the same results behind 'callback listen --forward-to'", async () => {
  const trusting = faults["trust in every callback"]?.fault;
  const { callback, orders } = await openShop(merchant.env, onTestFinished, trusting);
  const listener = await listenAs(merchant, "--forward-to", callback);
  const line = ["callback", "test", `${listener.url}/`, "--orders", orders, "--only", "forged"];
  const ended = await merchant.built([...line, "--settle", "1ms", "--json"]);
  expect(ended.code).toBe(11);
  for (const { retrievals } of JSON.parse(ended.stdout)) expect(retrievals).toBeGreaterThan(0);
});

test("writes a JUnit report with what failed and what is undecided", async () => {
  const trusting = faults["trust in every callback"]?.fault;
  const { callback, orders } = await openShop(merchant.env, onTestFinished, trusting);
  const file = join(scratchFolder(), "report.xml");
  const line = ["callback", "test", callback, "--only", "forged", "--settle", "1ms", "--junit"];
  expect((await merchant.lenden([...line, file, "--orders", orders])).code).toBe(11);
  const report = readFileSync(file, "utf8");
  expect(report).toContain('tests="2" failures="1" errors="0" skipped="0"');
  expect(report).toMatch(
    /name="forged"><failure message="Your store booked .*\n?.*Responses: 200;/,
  );
  expect((await merchant.lenden([...line, file])).code).toBe(11);
  expect(readFileSync(file, "utf8")).toContain("<skipped message=");
  const nowhere = await merchant.lenden([...line, "/nowhere/report.xml", "--json"]);
  expect([nowhere.code, JSON.parse(nowhere.stderr).error.reason]).toEqual([
    1,
    "callback.report-not-written",
  ]);
});

/** Tests a store, with a sandbox in memory and without a ledger. */
async function tested(
  fault: Fault,
  { names = caseNames, settle = () => delay(1), hasOrders = true }: Partial<TestedOptions> = {},
) {
  const { url, callback, orders } = await openShop(account, onTestFinished, fault);
  let after = 0;
  return testHandler({
    names,
    url: `${callback}?order={order}`,
    orders: hasOrders ? orders : undefined,
    transport,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    pay: async (name, amountPaisa, isPaid) => {
      const body = {
        amount: amountNumber(amountPaisa),
        description: `${url} ${name}`,
        paymentMethodId: paymentMethods[0]?.id,
        redirect_url: url,
        callback_url,
      };
      const { transactionId } = await call("/payment/create", body);
      if (isPaid) await call("/sandbox/trigger-payment", { transactionId });
      return call(`/payment/retrieve/${transactionId}`);
    },
    retrieved: async () => {
      const ids: string[] = [];
      for (;;) {
        const page: RecordedExchange[] = await call(`/local/requests/${after}`);
        after = page.at(-1)?.number ?? after;
        ids.push(...page.flatMap(({ path }) => /\/payment\/retrieve\/(.+)$/.exec(path)?.[1] ?? []));
        if (page.length === 0) return ids;
      }
    },
    settle: async () => void (await settle()),
  });
}

interface TestedOptions {
  names: CaseName[];
  settle(): Promise<unknown>;
  hasOrders: boolean;
}

async function call(path: string, body?: object) {
  const response = await fetch(sandbox.baseUrl + path, {
    method: body ? "POST" : "GET",
    headers: { "x-api-key": sandbox.apiKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return JSON.parse(await response.text()).data;
}

function verdicts(all: TestResult[]): Record<string, string> {
  return Object.fromEntries(all.map((one) => [one.case, one.verdict]));
}

function each(names: readonly string[], verdict: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, verdict]));
}
