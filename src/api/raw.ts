import { Failure, usage } from "../domain/failure.ts";
import { readReference } from "../domain/reference.ts";
import { baseHeaders, send, type Wire } from "./client.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import { contract } from "./contract/index.ts";
import { type Answer, bodyIn as jsonBodyIn, judge, textOf } from "./response.ts";
import { sign } from "./signature.ts";
import type { Request } from "./transport.ts";

/** A call that a person wrote by hand. */
export interface RawCall {
  method: Request["method"];
  /** Relative to the base URL; may hold a query. */
  path: string;
  body: Record<string, unknown> | undefined;
}

/**
 * The request of a raw call. Where the service wants a signature it is made of the body's own
 * values, and a missing timestamp is added; nothing else is touched.
 */
export async function rawRequest({ method, path, body }: RawCall, wire: Wire): Promise<Request> {
  const url = new URL(wire.baseUrl + path);
  if (!url.pathname.startsWith(`${new URL(wire.baseUrl).pathname}/`)) {
    throw new Failure("usage", "The path leads out of the base URL; nothing was sent.");
  }
  const signed = endpointOf(method, path)?.access === "signature";
  const reference = signed ? readReference(String(body?.merchantRef ?? "")) : undefined;
  if (reference?.ok === false) throw usage([`merchantRef: ${reference.problem}`]);
  const secret = signed ? await wire.payoutSecret() : undefined;
  const now = signed ? { timestamp: Math.floor(wire.now() / 1000) } : {};
  const sent = body && { ...now, ...body };
  const headers = baseHeaders(wire);
  if (sent) headers["content-type"] = "application/json";
  if (sent && secret !== undefined) {
    const { amount, merchantRef, timestamp }: Record<string, unknown> = sent;
    const signature = sign(`${amount}:${merchantRef}:${timestamp}`, secret);
    wire.onSignature?.(signature);
    headers["x-payout-signature"] = signature;
  }
  return {
    method,
    url,
    headers,
    body: sent && JSON.stringify(sent),
    freshConnection: method !== "GET",
    signal: wire.signal,
  };
}

/** Sends it once, and judges the answer by the endpoint's own shape where the path is known. */
export async function rawOutcome(call: RawCall, wire: Wire) {
  const request = await rawRequest(call, wire);
  const data = endpointOf(call.method, call.path)?.data;
  const asked = { data, isRead: call.method === "GET", begunMs: wire.now(), url: request.url };
  const exchange = await send(request, wire);
  const answer: Answer = judge(exchange, asked);
  if (exchange.kind === "broken")
    return { answer, status: exchange.status ?? null, headers: {}, body: null };
  return {
    answer,
    status: exchange.status,
    headers: exchange.headers,
    body: bodyIn(exchange.bytes),
  };
}

/** What cannot be read as JSON is shown as it came. */
function bodyIn(bytes: Uint8Array): unknown {
  const text = textOf(bytes);
  const value = jsonBodyIn(text);
  return value === undefined ? text : value;
}

function endpointOf(method: string, path: string): Endpoint | undefined {
  const [plain = ""] = path.split("?");
  return Object.values(contract).find(
    (endpoint) =>
      endpoint.method === method &&
      new RegExp(`^${endpoint.path.replace(/:\w+/g, "[^/]+")}$`).test(plain),
  );
}
