import { masked } from "../domain/api-keys.ts";
import { Failure } from "../domain/failure.ts";
import { textOf } from "./body.ts";
import type { Contract, Data, Endpoint, Input } from "./contract/endpoint.ts";
import type { ServiceContract } from "./contract/index.ts";
import type { Exchange, Headers, Request } from "./exchange.ts";
import { latest } from "./memoize-last.ts";
import { type Answer, judge } from "./response.ts";
import { pauseBeforeReading } from "./retry.ts";
import { sign } from "./signature.ts";
import type { Transport } from "./transport.ts";

/** A contract as functions: one for each endpoint, from its input to a judged answer. */
export type ClientOf<C extends Contract> = {
  [Name in keyof C]: (input: Input<C[Name]>) => Promise<Answer<Data<C[Name]>>>;
};
export type Client = ClientOf<ServiceContract>;

/** What a client needs of the world. */
export interface Wire {
  transport: Transport;
  /** Includes the path prefix `/cp/api/v1`, without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  payoutSecret: () => Promise<string>;
  userAgent: string;
  /** Milliseconds since 1970. */
  now: () => number;
  random: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Cuts off whatever is under way. */
  signal: AbortSignal;
  /** Told of every exchange, before it is judged. */
  onExchange?: (request: Request, exchange: Exchange) => void;
  /** Told of the difference between the service's clock and ours, from any answer's `Date`. */
  onClock?: (differenceMs: number) => void;
  /** Told of every signature: it is as good as the payout it signs, and must not be shown. */
  onSignature?: (signature: string) => void;
}

/** Makes the typed client of a contract. Reads are tried again; nothing else ever is, here. */
export function createClient<C extends Contract>(contract: C, wire: Wire): ClientOf<C> {
  const entries = Object.entries(contract).map(([name, endpoint]) => [
    name,
    (input: Fields) => call(endpoint, input, wire),
  ]);
  // The one loop that the mapped type describes; the compiler cannot follow Object.fromEntries.
  return Object.fromEntries(entries) as ClientOf<C>;
}

type Fields = Record<string, unknown>;

async function call(endpoint: Endpoint, input: Fields, wire: Wire): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const request = await requestFor(endpoint, input, wire);
    const isRead = endpoint.repeat === "safe";
    const asked = { data: endpoint.data, isRead, begunMs: wire.now(), url: request.url };
    const answer = ofSameRecord(judge(await send(request, wire), asked), endpoint, input);
    if (!isRead || wire.signal.aborted) return answer;
    const pauseMs = pauseBeforeReading(answer, { tries, random: wire.random() });
    if (pauseMs === undefined) return answer;
    await pause(pauseMs, wire);
    if (wire.signal.aborted) return answer;
  }
}

async function pause(ms: number, { sleep, signal }: Wire): Promise<void> {
  const over = new AbortController();
  const cutOff = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true, signal: over.signal });
  });
  await Promise.race([sleep(ms), cutOff]);
  over.abort();
}

/** An answer about another record than the one that was asked for says nothing about it. */
function ofSameRecord(answer: Answer, { about, path }: Endpoint, input: Fields): Answer {
  if (answer.kind !== "data" || about === undefined) return answer;
  const asked = input[/:(\w+)/.exec(path)?.[1] ?? ""];
  const fields = new Map(Object.entries(answer.data ?? {}));
  if (fields.get(about) === asked) return answer;
  const { status, times } = answer;
  return { kind: "unclear", why: "another record", status, text: "", complaint: {}, times };
}

/** Sends one request and reports what it saw: for raw calls, and for every typed one. */
export async function send(request: Request, wire: Wire): Promise<Exchange> {
  const exchange = withoutSignature(request, await wire.transport.exchange(request), wire);
  wire.onExchange?.(request, exchange);
  if (exchange.kind === "answer") {
    const serviceMs = clockOf(exchange.headers.date);
    if (!Number.isNaN(serviceMs)) wire.onClock?.(serviceMs - wire.now());
  }
  return exchange;
}

/**
 * A service may say back what signed the request. Only the latest signatures are remembered, and an answer
 * may be later than thousands of them: it is one of the latest again, and does not stay in the body.
 */
function withoutSignature(
  { headers }: Request,
  exchange: Exchange,
  { onSignature }: Pick<Wire, "onSignature">,
): Exchange {
  const signature = headers["x-payout-signature"];
  if (exchange.kind === "broken" || signature === undefined) return exchange;
  onSignature?.(signature);
  const { buffer, byteOffset, byteLength } = exchange.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  if (!bytes.includes(signature)) return exchange;
  const text = textOf(bytes).replaceAll(signature, masked(signature));
  return { ...exchange, bytes: Buffer.from(text) };
}

const clockOf = latest((date: Headers[string]) => Date.parse(typeof date === "string" ? date : ""));

/** Nobody changes a URL. */
const urlOf = latest((text: string) => new URL(text));

/** The request of one call. Its timestamp and signature are of this very moment (service.md §5). */
export async function requestFor(endpoint: Endpoint, input: Fields, wire: Wire): Promise<Request> {
  const { path, rest } = filledPath(endpoint.path, input);
  // Whoever is asked for the secret may take minutes, and the timestamp must not be older (I7).
  const secret = endpoint.access === "signature" ? await wire.payoutSecret() : undefined;
  const body = endpoint.body && rest;
  if (body && secret !== undefined) body.timestamp = Math.floor(wire.now() / 1000);
  return {
    method: endpoint.method,
    url: urlOf(wire.baseUrl + path),
    headers: headersOf(body, secret, wire),
    body: body && JSON.stringify(body),
    freshConnection: endpoint.repeat === "never",
    signal: wire.signal,
  };
}

function headersOf(
  body: Fields | undefined,
  secret: string | undefined,
  wire: Wire,
): Record<string, string> {
  const headers = baseHeaders(wire);
  if (body) headers["content-type"] = "application/json";
  if (body && secret !== undefined) headers["x-payout-signature"] = signatureOf(body, secret, wire);
  return headers;
}

/** The headers that every request carries. */
export function baseHeaders(wire: Pick<Wire, "apiKey" | "userAgent">): Record<string, string> {
  return { "x-api-key": wire.apiKey, "user-agent": wire.userAgent, accept: "application/json" };
}

/** Signs the body's own values, as JSON prints them. */
export function signatureOf(
  { amount, merchantRef, timestamp }: Fields,
  secret: string,
  { onSignature }: Pick<Wire, "onSignature">,
): string {
  const signature = sign(`${amount}:${merchantRef}:${timestamp}`, secret);
  onSignature?.(signature);
  return signature;
}

function filledPath(path: string, input: Fields): { path: string; rest: Fields } {
  const used = new Set<string>();
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = input[name];
    used.add(name);
    if (typeof value !== "string" || ["", ".", ".."].includes(value)) {
      throw new Failure("internal", `${name} cannot be part of a path; nothing was sent.`);
    }
    return encodeURIComponent(value);
  });
  // Without `...`: V8 creates a hidden class for each property that is added to such a copy.
  const rest: Fields = {};
  for (const name in input) if (!used.has(name)) rest[name] = input[name];
  return { path: filled, rest };
}
