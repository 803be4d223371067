import { Failure } from "../domain/failure.ts";
import { baseHeaders, requestFor, send, type Wire } from "./client.ts";
import { endpointAt } from "./contract/index.ts";
import { type Answer, bodyIn, classify } from "./response.ts";
import type { Exchange, Headers, Request } from "./transport.ts";

/** A request that a user wrote. */
export interface RawCall {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Relative to the base URL, with its query. */
  path: string;
  body: Record<string, unknown> | undefined;
}

export interface RawResponse {
  /** The method of its request. */
  method: string;
  status: number | null;
  headers: Headers;
  /** JSON if it can be parsed, otherwise its text. */
  body: unknown;
}

/** The response to a request that was sent. */
export interface RawOutcome extends RawResponse {
  answer: Exclude<Answer, { kind: "unsent" }>;
}

export async function rawRequest({ method, path, body }: RawCall, wire: Wire): Promise<Request> {
  const endpoint = endpointAt(method, path)?.endpoint;
  if (endpoint?.access === "signature") return requestFor(endpoint, body ?? {}, wire);
  const url = new URL(wire.baseUrl + path);
  if (!url.pathname.startsWith(`${new URL(wire.baseUrl).pathname}/`))
    throw new Failure("raw.invalid-path", "The path leads out of the base URL.", {
      hint: "Use a path relative to the base URL, for example /payment/methods.",
    });
  const headers = baseHeaders(wire);
  if (body) headers["content-type"] = "application/json";
  const freshConnection = method !== "GET";
  const { signal } = wire;
  return { method, url, headers, body: body && JSON.stringify(body), freshConnection, signal };
}

/** Sends it once. A response of a known endpoint is read with its schema. */
export async function sendRaw(
  call: RawCall,
  wire: Wire,
): Promise<RawResponse & { answer: Answer }> {
  const request = await rawRequest(call, wire);
  const { method, path } = call;
  const data = endpointAt(method, path)?.endpoint.data;
  const startedMs = wire.now();
  const exchange = await send(request, wire);
  const answer = classify(exchange, {
    data,
    isRead: method === "GET",
    startedMs,
    url: request.url,
  });
  return { answer, ...rawResponse(method, exchange) };
}

export function rawResponse(method: string, exchange: Exchange): RawResponse {
  if (exchange.kind === "broken")
    return { method, status: exchange.status ?? null, headers: {}, body: null };
  const { status, headers, text } = exchange;
  return { method, status, headers, body: bodyIn(text) ?? text };
}
