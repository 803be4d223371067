import { setTimeout as delay } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Endpoint } from "../api/contract/endpoint.ts";
import { type Fault, faultKinds } from "../api/contract/fault.ts";
import { requireKey, requireSignature, requireSignatureHeader } from "./access.ts";
import { type Fields, readBytes, readFields } from "./body.ts";
import { deliver, spoil, visibleStatus } from "./delivery.ts";
import { chooseFault } from "./faults.ts";
import { type Journal, keptHeaders } from "./journal.ts";
import type { Random } from "./random.ts";
import { type Answer, refusalAnswer, refused } from "./refusal.ts";
import type { Store } from "./store.ts";

/** All that answering needs. */
export interface Sandbox {
  store: Store;
  journal: Journal;
  port: number;
  /** `http://127.0.0.1:<port>`; the base URL adds the base path. */
  origin: string;
  baseUrl: string;
  latencyMs: number;
  faults: readonly Fault[];
  /** Decides whether a fault hits. */
  luck: Random;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** An endpoint of the contract and what answers it. */
export interface Route {
  name: string;
  endpoint: Endpoint;
  handle(input: Fields): unknown;
}

type Caller = Context<{ Bindings: HttpBindings }>;

/** One request to the service, from its first byte to the last that leaves, or does not. */
export async function exchange(sandbox: Sandbox, route: Route, c: Caller): Promise<Response> {
  const startedMs = performance.now();
  const bytes = await bytesOf(route, c);
  const fault = chooseFault(sandbox.faults, route.name, sandbox.luck.share);
  const acts = !fault || faultKinds[fault.kind].acts;
  const answer = acts ? answerTo(sandbox, route, c, bytes) : injected(fault);
  const waitMs = sandbox.latencyMs + (fault?.kind === "latency" ? fault.number : 0);
  if (waitMs > 0) await delay(waitMs, undefined, { ref: false });
  note(sandbox, c, { startedMs, bytes, answer, fault });
  await turnEnds();
  return send(c, answer, fault);
}

/** The answers of one turn leave together: to wake a caller up costs more than to answer it. */
function turnEnds(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The body of a request to an endpoint that has one; undefined when it is too large. */
export async function bytesOf({ endpoint }: Route, c: Caller): Promise<Buffer | undefined> {
  return endpoint.body ? readBytes(c.env.incoming) : Buffer.alloc(0);
}

/** The order of these checks is what the OpenAPI document promises. */
export function answerTo(
  { store, now }: Pick<Sandbox, "store" | "now">,
  { endpoint, handle }: Route,
  c: Caller,
  bytes: Buffer | undefined,
): Answer {
  try {
    const { apiKey, payoutSecret } = store.account;
    requireKey(c.req.header("x-api-key"), apiKey);
    const signed = endpoint.access === "signature";
    const signature = signed ? requireSignatureHeader(c.req.header("x-payout-signature")) : "";
    const type = c.req.header("content-type");
    const fields = endpoint.body ? readFields(bytes, type, endpoint.body) : {};
    if (signed) requireSignature(fields, { signature, payoutSecret, nowMs: now() });
    const data = handle({ ...fields, ...c.req.param() });
    endpoint.data?.parse(data);
    return { status: 200, text: JSON.stringify({ success: true, data }) };
  } catch (error) {
    return refusalAnswer(error);
  }
}

/** What a fault answers in the service's place; most of them answer nothing. */
function injected({ kind, number, rule }: Fault): Answer {
  if (kind !== "status") return { status: 500, text: "" };
  return refused(number, "FAULT", `The fault ${rule} was asked for.`);
}

interface Seen {
  startedMs: number;
  bytes: Buffer | undefined;
  answer: Answer;
  fault?: Fault | undefined;
}

/** Writes an exchange into the journal, with the answer even where a fault keeps it back. */
export function note(
  { journal, now }: Sandbox,
  c: Caller,
  { startedMs, bytes, answer, fault }: Seen,
): void {
  const durationMs = Math.round(performance.now() - startedMs);
  journal.add({
    at: new Date(now() - durationMs).toISOString(),
    method: c.req.method,
    path: c.req.path,
    status: visibleStatus(answer, fault),
    fault: fault?.rule ?? null,
    durationMs,
    attempt: null,
    request: { headers: keptHeaders((name) => c.req.header(name)), body: bytes },
    answer: answer.text,
  });
}

/** hono is told that the answer went out: what a fault sends is no response that it knows. */
export async function send(c: Caller, answer: Answer, fault?: Fault): Promise<Response> {
  if (fault) await spoil(c.env.outgoing, answer, fault);
  else deliver(c.env.outgoing, answer);
  return RESPONSE_ALREADY_SENT;
}
