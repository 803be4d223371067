import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Endpoint } from "../../src/api/contract/endpoint.ts";
import { contract } from "../../src/api/contract/index.ts";

const documented: Record<string, { success: boolean; data: unknown }> = JSON.parse(
  readFileSync(new URL("../fixtures/answers.json", import.meta.url), "utf8"),
);
const endpoints: Endpoint[] = Object.values(contract);

test.each(Object.keys(documented))(
  "reads the documented response of %s, and keeps undocumented fields",
  (route) => {
    const { data } = documented[route] ?? { data: undefined };
    const more = { feeTaka: 1.5, nested: { deep: [1] } };
    const wider = Array.isArray(data)
      ? data.map((one: object) => ({ ...one, ...more }))
      : { ...asObject(data), ...more };
    expect(schemaOf(route).parse(data)).toEqual(data);
    expect(schemaOf(route).parse(wider)).toEqual(wider);
  },
);

test.each([
  ["GET /payment/methods", "id"],
  ["POST /payment/create", "transactionId"],
  ["POST /payment/create", "payment_url"],
  ["POST /payment/create", "amount"],
  ["GET /payment/retrieve/:transactionId", "status"],
  ["POST /payout/create-by-server", "payoutId"],
  ["POST /payout/create-by-server", "merchantRef"],
  ["POST /payout/create-by-server", "amount"],
  ["GET /payout/retrieve/:payoutId", "recipientNumber"],
  ["POST /refund/create-a-request", "refundRequestId"],
  ["GET /refund/retrieve/:id", "status"],
  ["PATCH /refund/cancel-by-platform/:refundRequestId", "status"],
])("rejects a response of %s without %s, or with another type there", (route, name) => {
  const { data } = documented[route] ?? { data: undefined };
  const wrap = (one: object) => (Array.isArray(data) ? [one] : one);
  const whole = asObject(Array.isArray(data) ? data[0] : data);
  const { [name]: taken, ...rest } = whole;
  expect(taken).toBeDefined();
  expect(schemaOf(route).safeParse(wrap(rest)).success).toBe(false);
  for (const wrong of [null, true, [taken], { taken }, typeof taken === "number" ? "500" : 500]) {
    expect(schemaOf(route).safeParse(wrap({ ...rest, [name]: wrong })).success).toBe(false);
  }
});

test("keeps an undocumented status, and accepts missing texts that decide nothing", () => {
  const route = "GET /payment/retrieve/:transactionId";
  const { description: _, ...payment } = asObject(documented[route]?.data);
  const found = { ...payment, status: "completed", paymentMethod: null };
  expect(schemaOf(route).parse(found)).toEqual(found);
});

test("only a sandbox key may trigger, only a payout is signed, only payments and refunds are never repeated", () => {
  const names = (fits: (one: Endpoint) => boolean) =>
    Object.entries<Endpoint>(contract).flatMap(([name, one]) => (fits(one) ? [name] : []));
  expect(names(({ access }) => access === "sandbox key").sort()).toEqual([
    "sandboxInfo",
    "triggerPayment",
    "triggerPayout",
  ]);
  expect(names(({ access }) => access === "signature")).toEqual(["createPayout"]);
  expect(names(({ repeat }) => repeat === "never").sort()).toEqual([
    "createPayment",
    "createRefund",
  ]);
  expect(names(({ repeat }) => repeat === "same reference")).toEqual(["createPayout"]);
});

function schemaOf(route: string) {
  const schema = endpoints.find((one) => one.route === route)?.data;
  if (!schema) throw new Error(`${route} has no answer`);
  return schema;
}

function asObject(value: unknown): Record<string, unknown> {
  return { ...(typeof value === "object" ? value : {}) };
}
