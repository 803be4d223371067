import * as z from "zod/mini";
import type { Endpoint } from "../api/contract/endpoint.ts";
import { contract } from "../api/contract/index.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the service, derived from the contract: its eleven endpoints. */
export function openApi(baseUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(contract)) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Payment service, local sandbox of lenden", version: "1", description },
    servers: [{ url: baseUrl }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "x-api-key" } },
      responses: { refusal },
    },
  };
}

/** The service's specification leaves these open, so that nobody takes the sandbox's word for the service's. */
const ownChoices = [
  "Error bodies are {success: false, message, code}.",
  "Statuses: 400 body not valid; 401 no key or not this sandbox's; 403 production key, or payout " +
    "signature missing, wrong or out of time; 404 unknown id or route; 405 wrong method; 409 the " +
    "record's status forbids it; 413 body over 1 MiB; 415 no JSON; 421 Host not local; 422 refund " +
    "above what is left of the payment.",
  "A payout is checked in this order: key, signature present, body, signature, timestamp, and " +
    "then whether its merchantRef is used. A signature is lowercase hexadecimal.",
  "Amounts are above zero, below 1000000000000, with at most two decimals.",
  "Fields that are not documented are refused; documented texts that were not given are null.",
  "The trigger endpoints answer with the record; triggering a completed record changes nothing.",
  "The fields of GET /sandbox/info.",
  "Processing and completed refunds together never exceed the payment.",
  "The address of a server that sends payouts is not checked against a list (service.md §5.6).",
  "payment_url is a page of this sandbox that moves no money. After Pay or Decline it redirects (303) to " +
    "redirect_url, with transactionId and status behind whatever query that has.",
  "A callback is a POST of the record, as its retrieve endpoint shows it, without a signature, when a " +
    "payment or a refund becomes Completed or Cancelled. Refunds are told of at the address that the " +
    "sandbox was started with; payouts are not told of.",
  "A callback has arrived when its receiver answers 2xx within 10 seconds; redirects are not followed. " +
    "Otherwise it is sent again after 1, 2, 4, 8, 16 and 32 seconds. What is left at the end is forgotten.",
  "Beside the service, /local/status and /local/requests/{after} exist, and /return and /callback for merchants without a server, on this sandbox alone.",
];

const description = [
  "The service on loopback: no money moves. Not shown in the service's specification, and this sandbox's own choice:",
  ...ownChoices.map((choice) => `- ${choice}`),
].join("\n");

const refusal = {
  description: "Refused. The shape is the sandbox's own choice.",
  content: content({
    success: { const: false },
    message: { type: "string" },
    code: { type: "string" },
  }),
};

function operation(name: string, endpoint: Endpoint): Json {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1]);
  const inPath = names.map((param) => parameter("path", param));
  const signature = endpoint.access === "signature" ? [parameter("header", signatureHeader)] : [];
  return {
    operationId: name,
    summary: endpoint.summary,
    parameters: [...inPath, ...signature],
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: schemaOf(endpoint.body) } },
      },
    }),
    responses: { 200: success(endpoint), default: { $ref: "#/components/responses/refusal" } },
  };
}

const signatureHeader = "x-payout-signature";

function parameter(place: "path" | "header", name: string | undefined): Json {
  return { in: place, name, required: true, schema: { type: "string" } };
}

function success({ data }: Endpoint): Json {
  const says = data
    ? "Done."
    : "Done. The specification does not show the fields: the sandbox's own choice.";
  const schema = data ? schemaOf(data) : { type: "object" };
  return { description: says, content: content({ success: { const: true }, data: schema }) };
}

function content(properties: Json): Json {
  const schema = { type: "object", properties, required: Object.keys(properties) };
  return { "application/json": { schema } };
}

function schemaOf(schema: z.ZodMiniType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
