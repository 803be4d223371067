import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import documented from "../fixtures/answers.json" with { type: "json" };
import { type Exchanged, requestAll } from "./all-endpoints.ts";
import { clientOf, start } from "./running.ts";

/** The OpenAPI document, and what the sandbox answered to all kinds of requests. */
let document: { openapi: string; info: { description: string }; paths: Record<string, object> };
let exchanges: Exchanged[];
beforeAll(async () => {
  const sandbox = clientOf(await startSandbox({ now: Date.now }));
  document = JSON.parse((await sandbox.call("//openapi.json")).text);
  exchanges = await requestAll(sandbox);
  await sandbox.close();
});

test("every response of every endpoint has the shape that the OpenAPI document promises", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, "api");
  const statuses = exchanges.map(({ route, reply }) => {
    const [method = "", path = ""] = route.split(" ");
    const pointer = [path, method.toLowerCase(), "responses", "200"].map((part) =>
      encodeURIComponent(part.replaceAll("/", "~1")),
    );
    const where =
      reply.status === 200
        ? `api#/paths/${pointer.join("/")}`
        : "api#/components/responses/rejected";
    const validate = ajv.getSchema(`${where}/content/application~1json/schema`);
    expect([route, validate?.(reply.body), validate?.errors]).toEqual([route, true, null]);
    return reply.status;
  });
  expect(statuses).toHaveLength(23);
  expect([...new Set(statuses)].sort()).toEqual([200, 401, 403, 404, 409, 422]);
  expect(new Set(exchanges.map(({ route }) => route)).size).toBe(11);
});

test("the OpenAPI document lists the endpoints of the specification, with body and header", () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.sort()).toEqual([...new Set(exchanges.map(({ route }) => route))].sort());
  expect(document.paths["/payout/create-by-server"]).toMatchObject({
    post: {
      parameters: [{ in: "header", name: "x-payout-signature" }],
      requestBody: {
        content: {
          "application/json": {
            schema: {
              additionalProperties: false,
              required: [
                "amount",
                "merchantRef",
                "timestamp",
                "recipientNumber",
                "paymentMethodId",
              ],
            },
          },
        },
      },
    },
  });
  expect(document.info.description).toContain("this sandbox's own choice");
});

test.each(Object.entries<{ data: object }>(documented))(
  "%s answers what the specification shows, field for field",
  (route, { data }) => {
    const template = route.replace(/:(\w+)/, "{$1}");
    const { reply } = exchanges.findLast(
      (one) => one.route === template && one.reply.status === 200,
    ) ?? { reply: undefined };
    expect(Object.keys(reply?.body ?? {})).toEqual(["success", "data"]);
    expect(Object.keys(reply?.body.data ?? {}).sort()).toEqual(Object.keys(data).sort());
    const types = (one: object) => Object.entries(one).map(([name, value]) => [name, typeof value]);
    expect(types(reply?.body.data ?? {}).sort()).toEqual(types(data).sort());
  },
);

test("texts that were not given are null", async () => {
  const sandbox = await start();
  const { body } = await sandbox.payout({ recipientName: undefined, description: undefined });
  const { body: payout } = await sandbox.get(`/payout/retrieve/${body.data.payoutId}`);
  expect(payout.data).toMatchObject({ recipientName: null, description: null });
});
