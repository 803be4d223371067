import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { contract, type ServiceContract } from "../../src/api/contract/index.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { answerTo } from "../../src/sandbox/app.ts";
import type { Handlers } from "../../src/sandbox/endpoints.ts";
import { createRandom } from "../../src/sandbox/random.ts";
import { openStore } from "../../src/sandbox/store.ts";
import { start } from "./running.ts";

test("the OpenAPI document lists the eleven endpoints of service.md §4", async () => {
  const { text, status } = await (await start()).call("//openapi.json", noKey);
  const document = JSON.parse(text);
  expect(status).toBe(200);
  expect(document.openapi).toMatch(/^3\.1\./);
  const routes = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.sort()).toEqual([
    "GET /payment/methods",
    "GET /payment/retrieve/{transactionId}",
    "GET /payout/retrieve/{payoutId}",
    "GET /refund/retrieve/{id}",
    "GET /sandbox/info",
    "PATCH /refund/cancel-by-platform/{refundRequestId}",
    "POST /payment/create",
    "POST /payout/create-by-server",
    "POST /refund/create-a-request",
    "POST /sandbox/trigger-payment",
    "POST /sandbox/trigger-payout",
  ]);
});

test("it names the fields, the headers, and which choices are the sandbox's own", async () => {
  const { text } = await (await start()).call("//openapi.json", noKey);
  const { paths, info, components } = JSON.parse(text);
  const payout = paths["/payout/create-by-server"].post;
  const body = payout.requestBody.content["application/json"].schema;
  expect(body).toMatchObject({
    additionalProperties: false,
    required: ["amount", "merchantRef", "timestamp", "recipientNumber", "paymentMethodId"],
  });
  expect(payout.parameters).toMatchObject([{ in: "header", name: "x-payout-signature" }]);
  expect(paths["/refund/retrieve/{id}"].get.parameters).toMatchObject([{ in: "path", name: "id" }]);
  expect(components.securitySchemes.key).toMatchObject({ in: "header", name: "x-api-key" });
  for (const choice of ["own choice", "422 refund", "trigger endpoints", "GET /sandbox/info"]) {
    expect(info.description).toContain(choice);
  }
});

test("the root says in one line what this is", async () => {
  const sandbox = await start();
  expect((await sandbox.call("//", noKey)).text).toBe(
    `The local sandbox of lenden. The API: ${sandbox.baseUrl}\n`,
  );
});

test("handlers that lack an endpoint or a documented field do not compile", () => {
  const info = { sandboxInfo: () => ({}) };
  // @ts-expect-error: ten endpoints are missing.
  const incomplete: Handlers<ServiceContract> = info;
  const cancelRefund: Handlers<ServiceContract>["cancelRefund"] =
    // @ts-expect-error: `note` is documented, and may be null but not left out.
    () => ({ refundRequestId: "RF1", status: "Cancelled", updatedAt: "2026-11-20T04:30:00.000Z" });
  const listMethods: Handlers<ServiceContract>["listMethods"] =
    // @ts-expect-error: `codeName` is missing.
    () => [{ id: "1", providerName: "bKash" }];
  expect([incomplete, cancelRefund, listMethods]).toHaveLength(3);
});

test("a reply that breaks the contract never goes out", async () => {
  const database = await openDatabase(":memory:");
  const random = createRandom("test");
  const newAccount = { apiKey: "sk_sandbox_AAA-AAAAAAAAAAAA-AAA", payoutSecret: "secret" };
  const { now } = Date;
  const store = openStore({ database, ids: random, newAccount, now, autoCompleteMs: undefined });
  const route = { name: "listMethods", endpoint: contract.listMethods, handle: () => [{ id: 1 }] };
  const app = new Hono<{ Bindings: HttpBindings }>();
  const account = { store, now };
  app.get("/", (c) => c.body(answerTo(account, route, c, Buffer.alloc(0)).text));
  const response = await app.request("/", { headers: { "x-api-key": newAccount.apiKey } });
  expect(await response.json()).toMatchObject({ success: false, code: "SANDBOX_BUG" });
  store.close();
});

const noKey = { headers: { "x-api-key": undefined } };
