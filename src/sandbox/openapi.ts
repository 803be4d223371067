import * as z from "zod/mini";
import type { Endpoint } from "../api/contract/endpoint.ts";
import { contract } from "../api/contract/index.ts";

type Json = Record<string, unknown>;

/** What the specification of the API does not show. */
const ownChoices = [
  "Error bodies are {success: false, message, code}.",
  "Statuses: 400 invalid body; 401 no key or not this sandbox's; 403 production key, or payout " +
    "signature missing, wrong or out of time; 404 unknown id or route; 405 wrong method; 409 the " +
    "record's status forbids it; 413 body over 1 MiB; 415 not JSON; 421 Host not local; 422 refund " +
    "above what is left of the payment.",
  "A payout is checked in this order: key, signature present, body, signature, timestamp, and " +
    "whether its merchantRef is used. A signature is lowercase hexadecimal.",
  "Amounts are above zero, below 1000000000000, with at most two decimals.",
  "Undocumented fields are rejected; documented texts that were not given are null.",
  "The trigger endpoints return the record; triggering a completed record changes nothing.",
  "The fields of GET /sandbox/info.",
  "Processing and completed refunds together never exceed the payment.",
  "The IP address of a server that sends payouts is not checked.",
  "payment_url is a page of this sandbox that moves no money. After Pay or Decline it redirects (303) to " +
    "redirect_url, with transactionId and status after its query.",
  "A callback is a POST of the record, as its retrieve endpoint shows it, without a signature, when a " +
    "payment or a refund becomes Completed or Cancelled. Callbacks of refunds go to the URL that the " +
    "sandbox was started with; payouts have none.",
  "A callback has arrived if its receiver responds with 2xx within 10 seconds; redirects are not followed. " +
    "Otherwise it is sent again after 1, 2, 4, 8, 16 and 32 seconds, until the sandbox stops.",
  "Requests that name 01955500001 are rejected (422), those that name 01955500002 are answered after 5 " +
    "seconds, and records that name 01955500003 are Cancelled right after they were created.",
  "Besides the API, this sandbox has /local/status and /local/requests/{after}, and /return and /callback " +
    "for merchants without a server.",
];

const description = [
  "The API on loopback: no money moves. The specification of the API does not show the following; each is this sandbox's own choice:",
  ...ownChoices.map((choice) => `- ${choice}`),
].join("\n");

/** The OpenAPI 3.1 document of the API, derived from the contract. */
export function openApi(baseUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(contract)) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint) };
  }
  const error = { message: { type: "string" }, code: { type: "string" } };
  return {
    openapi: "3.1.0",
    info: { title: "Payment API, local sandbox of lenden", version: "1", description },
    servers: [{ url: baseUrl }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "x-api-key" } },
      responses: {
        rejected: response("Rejected. The shape is the sandbox's choice.", false, error),
      },
    },
  };
}

function operation(name: string, { path, access, summary, body, data }: Endpoint): Json {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, param]) => parameter("path", param));
  const signature = access === "signature" ? [parameter("header", "x-payout-signature")] : [];
  const success = data
    ? response("Done.", true, { data: schemaOf(data) })
    : response("Done. The fields are the sandbox's choice.", true, { data: { type: "object" } });
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...signature],
    ...(body && { requestBody: { required: true, content: json(schemaOf(body)) } }),
    responses: { 200: success, default: { $ref: "#/components/responses/rejected" } },
  };
}

function parameter(place: "path" | "header", name: string | undefined): Json {
  return { in: place, name, required: true, schema: { type: "string" } };
}

function response(description: string, success: boolean, fields: Json): Json {
  const properties = { success: { const: success }, ...fields };
  const schema = { type: "object", properties, required: Object.keys(properties) };
  return { description, content: json(schema) };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}

function schemaOf(schema: z.ZodMiniType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
