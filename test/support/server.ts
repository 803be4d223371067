import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from "node:tls";
import { onTestFinished } from "vitest";
import { scratchFolder } from "./helpers.ts";

/** One request that arrived completely. */
export interface Asked {
  method: string;
  /** Without the base path. */
  path: string;
  /** With the base path. */
  url: string;
  headers: Record<string, string>;
  body: string;
  /** The number of its connection, counted from 1. */
  connection: number;
  /** The number of requests to the same path so far, itself included. */
  times: number;
}

/** What the server does after a request, byte by byte if that matters. */
export type Behaviour =
  | { do: "answer"; status?: number; headers?: Record<string, string>; body?: string | Buffer }
  | { do: "send"; bytes: string | Buffer; ending: "close" | "reset" | "stay" }
  | { do: "drip"; bytes: string | Buffer; everyMs: number }
  | { do: "silence" }
  | { do: "close" }
  | { do: "reset" };

type Respond = (asked: Asked) => Behaviour | Promise<Behaviour>;

interface Options {
  /** What happens to a connection before a byte of it is read. */
  onConnect?: "close" | "reset" | "read";
  tls?: TlsOptions | undefined;
}

export interface Served {
  port: number;
  /** With the base path of the API. */
  baseUrl: string;
  /** Every request so far, oldest first. */
  asked: Asked[];
  /** The number of requests to a path, or of all. */
  count(path?: string): number;
  connections(): number;
  close(): Promise<void>;
}

const basePath = "/cp/api/v1";

/** A server on loopback that responds as it is told, until the test ends. */
export async function serve(respond: Respond, options: Options = {}): Promise<Served> {
  const server = await openServer(respond, options);
  onTestFinished(() => server.close());
  return server;
}

/** The same until it is closed. */
export async function openServer(
  respond: Respond,
  { onConnect = "read", tls }: Options = {},
): Promise<Served> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const count = (path?: string) =>
    asked.filter((one) => path === undefined || one.path === path).length;

  const serveSocket = (socket: Socket): void => {
    connections += 1;
    const connection = connections;
    let waiting = Buffer.alloc(0);
    socket.on("error", () => {});
    if (onConnect === "close") socket.end();
    if (onConnect === "reset") reset(socket);
    socket.on("data", (chunk) => {
      waiting = Buffer.concat([waiting, chunk]);
      for (let found = firstRequest(waiting); found; found = firstRequest(waiting)) {
        waiting = waiting.subarray(found.length);
        const times = count(found.request.path) + 1;
        const request = { ...found.request, connection, times };
        asked.push(request);
        void Promise.resolve(respond(request)).then((behaviour) => act(socket, behaviour));
      }
    });
  };
  const server: Server = tls ? createTlsServer(tls, serveSocket) : createServer(serveSocket);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  return {
    port,
    baseUrl: `${tls ? "https" : "http"}://127.0.0.1:${port}${basePath}`,
    asked,
    count,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Listens on a free port of 127.0.0.1. */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
}

/** A port that refuses connections. */
export async function closedPort(): Promise<number> {
  for (;;) {
    // Outside the range of listen(0), from which a test in another process could take it.
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/** The API's own success. */
export function success(data: unknown, status = 200): Behaviour {
  return { do: "answer", status, body: JSON.stringify({ success: true, data }) };
}

/** A rejection, whatever its status. */
export function refusal(status: number, body: unknown = { success: false, message: "no" }) {
  return { do: "answer", status, body: JSON.stringify(body) } as const;
}

export interface Reply {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body: string;
}

/** The environment of a machine that uses an API, with a configuration of its own. */
function envOf(baseUrl: string) {
  return {
    LENDEN_BASE_URL: baseUrl,
    LENDEN_API_KEY: "sk_sandbox_abc-abcdefghijkl-abc",
    LENDEN_PAYOUT_SECRET: "a-secret-of-this-test",
    LENDEN_CONFIG_DIR: scratchFolder(),
  };
}

/** A server whose responses are the `data` of a success, or a reply with a body. */
export async function answering(
  reply: (request: Asked, body: string) => Reply | object | Promise<Reply | object>,
): Promise<{ baseUrl: string; asked: string[]; env: ReturnType<typeof envOf> }> {
  const asked: string[] = [];
  const { baseUrl } = await serve(async (request) => {
    asked.push(`${request.method} ${request.url}`);
    const made = await reply(request, request.body);
    if (!("body" in made) || typeof made.body !== "string") return success(made);
    const { status = 200, type = "application/json", headers = {}, body }: Partial<Reply> = made;
    return { do: "answer", status, headers: { "content-type": type, ...headers }, body };
  });
  return { baseUrl, asked, env: envOf(baseUrl) };
}

interface JsonRequest {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

/** The same with the environment of a machine that uses it; request bodies are JSON. */
export async function startService(
  answer: (asked: JsonRequest) => { status?: number; data?: unknown; text?: string },
): Promise<{ env: Record<string, string>; asked: JsonRequest[] }> {
  const asked: JsonRequest[] = [];
  const { baseUrl } = await serve(({ method, url, body }) => {
    const one = { method, path: url, body: body === "" ? {} : JSON.parse(body) };
    asked.push(one);
    const { status = 200, data, text } = answer(one);
    const json = JSON.stringify({ success: status < 300, data });
    return { do: "answer", status, body: text ?? json };
  });
  return { env: envOf(baseUrl), asked };
}

async function act(socket: Socket, behaviour: Behaviour): Promise<void> {
  if (behaviour.do === "silence") return;
  if (behaviour.do === "close") return void socket.end();
  if (behaviour.do === "reset") return reset(socket);
  if (behaviour.do === "answer") return void socket.write(whole(behaviour));
  const bytes = Buffer.from(behaviour.bytes);
  if (behaviour.do === "send") {
    const { ending } = behaviour;
    socket.write(bytes, () => {
      if (ending === "close") socket.end();
      // The client should read what was written before the reset.
      if (ending === "reset") setTimeout(() => reset(socket), 20);
    });
    return;
  }
  for (const byte of bytes) {
    if (socket.destroyed) return;
    socket.write(Buffer.of(byte));
    await new Promise((resolve) =>
      behaviour.everyMs === 0
        ? setImmediate(resolve)
        : setTimeout(resolve, behaviour.everyMs).unref(),
    );
  }
}

/** A TLS socket has no handle to reset. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** A well-formed response; its own headers replace the usual ones. */
function whole({ status = 200, headers = {}, body = "" }: Extract<Behaviour, { do: "answer" }>) {
  const bytes = Buffer.from(body);
  const lines = Object.entries({
    "content-type": "application/json",
    "content-length": String(bytes.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join("")}\r\n`), bytes]);
}

interface Found {
  request: Omit<Asked, "connection" | "times">;
  length: number;
}

function firstRequest(bytes: Buffer): Found | undefined {
  const headLength = bytes.indexOf("\r\n\r\n");
  if (headLength < 0) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, headLength).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = headLength + 4 + Number(headers["content-length"] ?? 0);
  if (bytes.length < length) return undefined;
  const [method = "", url = ""] = first.split(" ");
  const body = bytes.subarray(headLength + 4, length).toString("utf8");
  const request = { method, path: url.replace(basePath, ""), url, headers, body };
  return { request, length };
}
