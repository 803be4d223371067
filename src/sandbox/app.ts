import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { Contract, Endpoint } from "../api/contract/endpoint.ts";
import {
  type Fault,
  type FaultKind,
  faultKinds,
  type InjectedFault,
} from "../api/contract/fault.ts";
import { basePath, contract } from "../api/contract/index.ts";
import { localContract } from "../api/contract/local.ts";
import {
  type Answer,
  errorAnswer,
  type Fields,
  Rejection,
  readBytes,
  readFields,
  rejected,
  requireKey,
  requireLocalHost,
  requireNoWebPage,
  requireSignature,
  requireSignatureHeader,
} from "./checks.ts";
import {
  delayOf,
  type EndpointOptions,
  type Handlers,
  localHandlers,
  serviceHandlers,
} from "./endpoints.ts";
import { headersOf } from "./journal.ts";
import { openApi } from "./openapi.ts";
import { mountPayPage } from "./pay-page.ts";

export interface AppOptions extends EndpointOptions {
  port: number;
  latencyMs: number;
  faultOf: FaultOf;
  /** Called at the end of each request to the API, with the status that its caller sees; null if it sees none. */
  onEnd?: ((request: ApiRequest, status: number | null) => void) | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** A request to the API before it is executed. */
export interface ApiRequest {
  /** A name of the contract. */
  endpoint: string;
  /** The segments of its path that have a name, such as `payoutId`. */
  parameters: Record<string, string>;
  /** Undefined if it is too large. */
  bytes: Buffer | undefined;
}

/** Chooses the fault of a request. */
export type FaultOf = (request: ApiRequest) => InjectedFault | undefined;

/** An endpoint of the contract and the function that answers it. */
interface Route {
  name: string;
  endpoint: Endpoint;
  handle(input: Fields): unknown;
}

export type Env = { Bindings: HttpBindings };
type Caller = Context<Env>;

const noBytes = Buffer.alloc(0);

/** The contract as an HTTP application: access, body, handler, check of the reply, faults. */
export function createApp(options: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  const { baseUrl, port } = options;
  app.use((c, next) => {
    requireLocalHost((name) => c.req.header(name), port);
    return next();
  });
  // Before the next line, because it is made for browsers and has its own checks.
  mountPayPage(app, options.store);
  app.use((c, next) => {
    requireNoWebPage((name) => c.req.header(name));
    return next();
  });
  app.get("/", (c) => c.text(`The local sandbox of lenden. The API: ${baseUrl}\n`));
  // The callback URL of merchants that have no server yet.
  app.post("/callback", (c) => c.json({ success: true }));
  app.get("/openapi.json", (c) => c.json(openApi(baseUrl)));
  for (const route of routes(contract, serviceHandlers(options)))
    mount(app, route, (c) => exchange(options, route, c));
  for (const route of routes(localContract, localHandlers(options)))
    mount(app, route, async (c) => send(c, answerTo(options, route, c, await bytesOf(route, c))));
  app.notFound((c) => unknownRoute(options, c));
  app.onError((error, c) => send(c, errorAnswer(error)));
  return app;
}

function routes<C extends Contract>(contract: C, handlers: Handlers<C>): Route[] {
  return Object.entries(contract).map(([name, endpoint]) => ({
    name,
    endpoint,
    // The loop loses which handler belongs to which endpoint. Handlers<C> has compared each with the
    // path and body schema that `answerTo` reads its input with.
    handle: handlers[name] as (input: Fields) => unknown,
  }));
}

function mount(
  app: Hono<Env>,
  { endpoint: { method, path } }: Route,
  answer: (c: Caller) => Promise<Response>,
): void {
  app.on(method, basePath + path, answer);
  app.all(basePath + path, () => {
    throw new Rejection(405, "METHOD_NOT_ALLOWED", `${path} accepts only ${method}.`);
  });
}

function unknownRoute(options: AppOptions, c: Caller): Promise<Response> {
  const message = `There is no ${c.req.method} ${c.req.path} here.`;
  const answer = errorAnswer(new Rejection(404, "UNKNOWN_ROUTE", message));
  const isOfApi = c.req.path.startsWith(basePath) && !c.req.path.startsWith(`${basePath}/local`);
  if (isOfApi) record(options, c, { startedMs: performance.now(), bytes: noBytes, answer });
  return send(c, answer);
}

/** One request to the API, with its faults and its entry in the journal. */
async function exchange(options: AppOptions, route: Route, c: Caller): Promise<Response> {
  const startedMs = performance.now();
  const bytes = await bytesOf(route, c);
  const request = { endpoint: route.name, parameters: c.req.param(), bytes };
  const fault = options.faultOf(request);
  const answer = answerWith(fault, options, route, c, bytes);
  const faultMs = fault?.kind === "latency" ? fault.number : 0;
  const waitMs = options.latencyMs + faultMs + (answer.delayMs ?? 0);
  if (waitMs > 0) await delay(waitMs, undefined, { ref: false });
  record(options, c, { startedMs, bytes, answer, fault });
  options.onEnd?.(request, visibleStatus(answer, fault));
  // Responses of one turn are sent together: waking a caller costs more than answering it.
  await new Promise((resolve) => setImmediate(resolve));
  return send(c, answer, fault);
}

/** How far the clock of `clock-skew` is ahead: more than a signature may be off. */
const skewMs = 10 * 60_000;

function answerWith(
  fault: InjectedFault | undefined,
  { store, now }: AppOptions,
  route: Route,
  ...[c, bytes]: [c: Caller, bytes: Buffer | undefined]
): Answer {
  if (fault && !faultKinds[fault.kind].acts) return injected(fault);
  const clock = fault?.kind === "clock-skew" ? () => now() + skewMs : now;
  const answer = answerTo({ store, now: clock }, route, c, bytes);
  return fault?.kind === "status-after" ? injected(fault) : answer;
}

/** The body of a request, if its endpoint has one; undefined if it is too large. */
async function bytesOf({ endpoint }: Route, c: Caller): Promise<Buffer | undefined> {
  return endpoint.body ? readBytes(c.env.incoming) : noBytes;
}

/** The OpenAPI document promises the order of these checks. */
function answerTo(
  { store, now }: Pick<AppOptions, "store" | "now">,
  { endpoint, handle }: Route,
  c: Caller,
  bytes: Buffer | undefined,
): Answer {
  try {
    const { apiKey, payoutSecret } = store.account;
    requireKey(c.req.header("x-api-key"), apiKey);
    const isSigned = endpoint.access === "signature";
    const signature = isSigned ? requireSignatureHeader(c.req.header("x-payout-signature")) : "";
    const type = c.req.header("content-type");
    const fields = endpoint.body ? readFields(bytes, type, endpoint.body) : {};
    if (isSigned) requireSignature(fields, { signature, payoutSecret, nowMs: now() });
    const data = handle({ ...fields, ...c.req.param() });
    endpoint.data?.parse(data);
    return { status: 200, text: JSON.stringify({ success: true, data }), delayMs: delayOf(fields) };
  } catch (error) {
    return errorAnswer(error);
  }
}

/** The answer of a fault; most of those that do not act send nothing. */
function injected({ kind, number, rule }: InjectedFault): Answer {
  if (kind !== "status" && kind !== "status-after") return { status: 500, text: "" };
  const answer = rejected(number, "FAULT", `Injected by the fault ${rule}.`);
  return number === 429 ? { ...answer, headers: { "retry-after": "1" } } : answer;
}

interface Exchanged {
  startedMs: number;
  bytes: Buffer | undefined;
  answer: Answer;
  fault?: InjectedFault | undefined;
}

/** Writes an exchange into the journal, with the answer even if a fault withholds it. */
function record(
  { journal, now }: AppOptions,
  c: Caller,
  { startedMs, bytes, answer, fault }: Exchanged,
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
    request: { headers: headersOf((name) => c.req.header(name)), body: bytes },
    answer: answer.text,
  });
}

/** Tells hono that the response was sent: a fault sends what is not a response to it. */
async function send(c: Caller, answer: Answer, fault?: InjectedFault): Promise<Response> {
  await (fault ? deliveries[fault.kind] : deliver)(c.env.outgoing, answer);
  return RESPONSE_ALREADY_SENT;
}

/** The first rule that applies to this request. `draw` returns a number from 0 to below 1. */
export function chooseFault(
  faults: readonly Fault[],
  endpoint: string,
  draw: () => number,
): Fault | undefined {
  return faults.find(
    (fault) =>
      (fault.endpoint === endpoint || fault.endpoint === "*") &&
      (fault.rate === 1 || draw() < fault.rate),
  );
}

/** The status that a caller sees; null if it sees none. */
function visibleStatus(answer: Answer, fault: InjectedFault | undefined): number | null {
  const seen: { [Kind in FaultKind]?: number | null } = {
    empty: 200,
    redirect: 307,
    reset: null,
    "lost-reply": null,
    hang: null,
    "hang-after": null,
  };
  const status = fault && seen[fault.kind];
  return status === undefined ? answer.status : status;
}

const json = { "content-type": "application/json" };

function deliver(outgoing: ServerResponse, { status, text, headers }: Answer): void {
  const length = { "content-length": Buffer.byteLength(text) };
  outgoing.writeHead(status, { ...json, ...headers, ...length });
  outgoing.end(text);
}

type Delivery = (outgoing: ServerResponse, answer: Answer) => void | Promise<void>;

/** How a response with a fault is delivered. */
const deliveries: { [Kind in FaultKind]: Delivery } = {
  latency: deliver,
  status: deliver,
  "status-after": deliver,
  "clock-skew": deliver,
  reset,
  "lost-reply": reset,
  // Only the end of the sandbox, or the caller, closes such a connection.
  hang: () => {},
  "hang-after": () => {},
  garbage(outgoing, { status }) {
    outgoing.writeHead(status, json).end(Buffer.from('\u0000{"success": tru\ufffd<html>', "utf8"));
  },
  empty(outgoing) {
    outgoing.writeHead(200, { ...json, "content-length": 0 }).end();
  },
  truncated: (outgoing, answer) => sendHalf(outgoing, answer, () => outgoing.socket?.destroySoon()),
  // A reset that arrives before the half was read is seen as a normal end.
  "reset-halfway": (outgoing, answer) =>
    sendHalf(outgoing, answer, () => void setTimeout(reset, 20, outgoing).unref()),
  async slow(outgoing, { status, text }) {
    const bytes = Buffer.from(text);
    outgoing.writeHead(status, { ...json, "content-length": bytes.length });
    for (const byte of bytes) {
      if (outgoing.destroyed) return;
      outgoing.write(Buffer.of(byte));
      await delay(Math.ceil(1000 / bytes.length), undefined, { ref: false });
    }
    outgoing.end();
  },
  redirect(outgoing) {
    const location = "http://127.0.0.1:1/elsewhere";
    outgoing.writeHead(307, { location, "content-length": 0 }).end();
  },
};

function sendHalf(outgoing: ServerResponse, { status, text }: Answer, end: () => void): void {
  const bytes = Buffer.from(text);
  outgoing.writeHead(status, { ...json, "content-length": bytes.length });
  outgoing.write(bytes.subarray(0, bytes.length / 2), end);
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}
