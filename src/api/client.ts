import { masked } from "../domain/api-keys.ts";
import { Failure } from "../domain/failure.ts";
import type { Contract, Data, Endpoint, Input } from "./contract/endpoint.ts";
import type { ServiceContract } from "./contract/index.ts";
import { type Answer, classify } from "./response.ts";
import type { Exchange, Request, Transport } from "./transport.ts";

/** A contract as functions: one for each endpoint, from its input to a classified response. */
export type ClientOf<C extends Contract> = {
  [Name in keyof C]: (input: Input<C[Name]>) => Promise<Answer<Data<C[Name]>>>;
};
export type Client = ClientOf<ServiceContract>;

/** What a client uses of a transport. */
interface ApiTransport extends Transport {
  exchange(request: Request): Promise<Exchange>;
}

/** What a client needs. */
export interface Wire {
  transport: ApiTransport;
  /** Includes the path prefix `/cp/api/v1`, without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  payoutSecret: () => Promise<string>;
  userAgent: string;
  /** Milliseconds since 1970. */
  now: () => number;
  random: () => number;
  /** Ends early if the run is stopped. */
  sleep: (ms: number) => Promise<void>;
  /** Cuts off every exchange. */
  signal: AbortSignal;
  /** Called right before each request that may change something. If it throws, nothing is sent. */
  beforeWrite?: () => Promise<void>;
  /** Called with every exchange, before it is classified. */
  onExchange?: (request: Request, exchange: Exchange) => void;
  /** Called with the difference between the API's clock and ours, from the `Date` of each response. */
  onClock?: (differenceMs: number) => void;
  /** Called with every signature: whoever has one can send its payout, so it must not be shown. */
  onSignature?: (signature: string) => void;
}

/** Creates the typed client of a contract. It retries reads; what moves money has rules of its own. */
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
  const isRead = endpoint.repeat === "safe";
  for (let tries = 1; ; tries += 1) {
    const request = await requestFor(endpoint, input, wire);
    if (!isRead) await wire.beforeWrite?.();
    const asked = { data: endpoint.data, isRead, startedMs: wire.now(), url: request.url };
    const answer = ofSameRecord(classify(await send(request, wire), asked), endpoint, input);
    if (!isRead || wire.signal.aborted) return answer;
    const pauseMs = pauseBeforeReading(answer, { tries, random: wire.random() });
    if (pauseMs === undefined) return answer;
    await wire.sleep(pauseMs);
    if (wire.signal.aborted) return answer;
  }
}

const readRetries = { attempts: 3, firstPauseMs: 500, longestRetryAfterMs: 60_000 };

/**
 * How many milliseconds to wait before a read is retried; undefined if it is not.
 *
 * @param tries how many times it was sent
 * @param random a number in [0, 1)
 */
export function pauseBeforeReading(
  answer: Answer,
  { tries, random }: { tries: number; random: number },
): number | undefined {
  if (tries >= readRetries.attempts || !isWorthRetry(answer)) return undefined;
  const retryAfterMs = "times" in answer ? answer.times.retryAfterMs : undefined;
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, readRetries.longestRetryAfterMs);
  return readRetries.firstPauseMs * 2 ** (tries - 1) * (0.5 + random / 2);
}

function isWorthRetry(answer: Answer): boolean {
  const final = ["certificate", "redirect", "wrong shape", "stopped", "out of time"];
  if (answer.kind === "unsent") return !final.includes(answer.fault.reason);
  if (answer.kind === "refused") return answer.why === "busy";
  return answer.kind === "unclear" && !final.includes(answer.why);
}

/** A response about another record than the requested one proves nothing. */
function ofSameRecord(answer: Answer, { about, path }: Endpoint, input: Fields): Answer {
  if (answer.kind !== "data" || about === undefined) return answer;
  const requested = input[/:(\w+)/.exec(path)?.[1] ?? ""];
  const fields = new Map(Object.entries(answer.data ?? {}));
  if (fields.get(about) === requested) return answer;
  const { status, times } = answer;
  return { kind: "unclear", why: "another record", status, text: "", apiError: {}, times };
}

/** Sends one request: a raw one, or one of an endpoint. */
export async function send(request: Request, wire: Wire): Promise<Exchange> {
  const exchange = withoutSignature(request, await wire.transport.exchange(request), wire);
  wire.onExchange?.(request, exchange);
  if (exchange.kind === "answer") {
    const apiMs = Date.parse(String(exchange.headers.date));
    if (!Number.isNaN(apiMs)) wire.onClock?.(apiMs - wire.now());
  }
  return exchange;
}

/** The API may return the signature. A late response may come after the newest ones that are masked. */
function withoutSignature(
  { headers }: Request,
  exchange: Exchange,
  { onSignature }: Pick<Wire, "onSignature">,
): Exchange {
  const signature = headers["x-payout-signature"];
  if (exchange.kind === "broken" || signature === undefined) return exchange;
  onSignature?.(signature);
  const { text } = exchange;
  if (!text.includes(signature)) return exchange;
  return { ...exchange, text: text.replaceAll(signature, masked(signature)) };
}

/** The request of one attempt. Its timestamp and signature are made now (I7, docs/api.md §5). */
export async function requestFor(endpoint: Endpoint, input: Fields, wire: Wire): Promise<Request> {
  const { path, rest } = filledPath(endpoint.path, input);
  const headers = baseHeaders(wire);
  if (endpoint.body) headers["content-type"] = "application/json";
  if (endpoint.access === "signature") {
    const { messageOf, sign } = await import("./signature.ts");
    // First the secret: to read it may take minutes, and the timestamp must not be older.
    const secret = await wire.payoutSecret();
    rest.timestamp = Math.floor(wire.now() / 1000);
    const signature = sign(messageOf(rest.amount, rest.merchantRef, rest.timestamp), secret);
    wire.onSignature?.(signature);
    headers["x-payout-signature"] = signature;
  }
  return {
    method: endpoint.method,
    url: new URL(wire.baseUrl + path),
    headers,
    body: endpoint.body && JSON.stringify(rest),
    freshConnection: endpoint.repeat === "never",
    signal: wire.signal,
  };
}

/** The headers that every request has. */
export function baseHeaders(wire: Pick<Wire, "apiKey" | "userAgent">): Record<string, string> {
  return { "x-api-key": wire.apiKey, "user-agent": wire.userAgent, accept: "application/json" };
}

function filledPath(path: string, input: Fields): { path: string; rest: Fields } {
  const rest = { ...input };
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = input[name];
    delete rest[name];
    if (typeof value !== "string" || ["", ".", ".."].includes(value))
      throw new Failure("request.invalid-id", `The ${name} is empty or not a valid ID.`);
    return encodeURIComponent(value);
  });
  return { path: filled, rest };
}
