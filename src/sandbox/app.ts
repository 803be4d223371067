import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Contract } from "../api/contract/endpoint.ts";
import { basePath, contract } from "../api/contract/index.ts";
import { localContract } from "../api/contract/local.ts";
import type { Fields } from "./body.ts";
import { serviceHandlers } from "./endpoints/index.ts";
import { answerTo, bytesOf, exchange, note, type Route, type Sandbox, send } from "./exchange.ts";
import type { Handlers } from "./handlers.ts";
import { localHandlers } from "./local.ts";
import { openApi } from "./openapi.ts";
import { mountPayPage } from "./pay-page.ts";
import { Refusal, refusalAnswer } from "./refusal.ts";
import { requireLocalHost, requireNoWebPage } from "./safety.ts";

type Env = { Bindings: HttpBindings };

/** The contract as an HTTP application: access, parse, handle, check the reply, and faults. */
export function createApp(sandbox: Sandbox): Hono<Env> {
  const app = new Hono<Env>();
  const { store, journal } = sandbox;
  app.use((c, next) => {
    requireLocalHost((name) => c.req.header(name), sandbox.port);
    return next();
  });
  // Before the next line, because it is made for browsers and guards itself.
  mountPayPage(app, sandbox);
  app.use((c, next) => {
    requireNoWebPage((name) => c.req.header(name));
    return next();
  });
  app.get("/", (c) => c.text(`The local sandbox of lenden. The service: ${sandbox.baseUrl}\n`));
  // Where lenden sends callbacks of merchants that have no server yet.
  app.post("/callback", (c) => c.json({ success: true }));
  app.get("/openapi.json", (c) => c.json(openApi(sandbox.baseUrl)));
  for (const route of routes(contract, serviceHandlers(sandbox))) {
    mount(app, route, (c) => exchange(sandbox, route, c));
  }
  for (const route of routes(localContract, localHandlers(store, journal.after))) {
    mount(app, route, async (c) => send(c, answerTo(sandbox, route, c, await bytesOf(route, c))));
  }
  app.notFound((c) => notARoute(sandbox, c));
  app.onError((error, c) => send(c, refusalAnswer(error)));
  return app;
}

function routes<C extends Contract>(contract: C, handlers: Handlers<C>): Route[] {
  return Object.entries(contract).map(([name, endpoint]) => ({
    name,
    endpoint,
    // The loop forgets which handler belongs to which endpoint. Handlers<C> has already held each
    // one against the very path and body schema that its input is read with in `answerTo`.
    handle: handlers[name] as (input: Fields) => unknown,
  }));
}

function mount(
  app: Hono<Env>,
  { endpoint: { method, path } }: Route,
  answer: (c: Context<Env>) => Promise<Response>,
): void {
  app.on(method, basePath + path, answer);
  app.all(basePath + path, () => {
    throw new Refusal(405, "METHOD_NOT_ALLOWED", `${path} takes ${method}.`);
  });
}

function notARoute(sandbox: Sandbox, c: Context<Env>): Promise<Response> {
  const message = `There is no ${c.req.method} ${c.req.path} here.`;
  const answer = refusalAnswer(new Refusal(404, "UNKNOWN_ROUTE", message));
  const isForService = c.req.path.startsWith(basePath) && !c.req.path.startsWith(localPath);
  if (isForService) note(sandbox, c, { startedMs: performance.now(), bytes: noBytes, answer });
  return send(c, answer);
}

const localPath = `${basePath}/local`;
const noBytes = Buffer.alloc(0);
