import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from "node:tls";
import { gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

/** One request that arrived whole: its head, and as much of a body as it promised. */
export interface Asked {
  method: string;
  /** Without the base path, which every test's base URL has. */
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Which connection it came over, counted from 1. */
  connection: number;
  /** How many requests came before it to the same path, itself included. */
  times: number;
}

/** What the server does once a request is there, byte by byte where that matters. */
export type Behaviour =
  | { do: "answer"; status?: number; headers?: Record<string, string>; body?: string | Buffer }
  | { do: "send"; bytes: string | Buffer; ending: "close" | "reset" | "stay" }
  | { do: "drip"; bytes: string | Buffer; everyMs: number }
  | { do: "silence" }
  | { do: "close" }
  | { do: "reset" };

interface Options {
  /** What happens to a connection before a byte of it is read. */
  onConnect?: "close" | "reset" | "read";
  tls?: TlsOptions;
}

export interface Misbehaving {
  port: number;
  /** Plain HTTP, with the service's base path. */
  baseUrl: string;
  /** Every whole request so far, oldest first. */
  asked: Asked[];
  /** How many whole requests came to a path, or to all of them. */
  count(path?: string): number;
  connections(): number;
  close(): Promise<void>;
}

const basePath = "/cp/api/v1";

/** A server on loopback that answers each request as it is told to; it ends with the test. */
export async function misbehave(
  behave: (asked: Asked) => Behaviour,
  options: Options = {},
): Promise<Misbehaving> {
  const server = await openMisbehaving(behave, options);
  onTestFinished(() => server.close());
  return server;
}

/** The same for those who end it themselves. */
export async function openMisbehaving(
  behave: (asked: Asked) => Behaviour,
  { onConnect = "read", tls }: Options = {},
): Promise<Misbehaving> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const count = (path?: string) =>
    asked.filter((one) => path === undefined || one.path === path).length;

  const serve = (socket: Socket): void => {
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
        void act(socket, behave(request));
      }
    });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
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

/** A port on which nobody listens. */
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

/** The service's own way to say yes. */
export function success(data: unknown, status = 200): Behaviour {
  return { do: "answer", status, body: JSON.stringify({ success: true, data }) };
}

/** And to say no, whatever the status. */
export function refusal(status: number, body: unknown = { success: false, message: "no" }) {
  return { do: "answer", status, body: JSON.stringify(body) } as const;
}

const htmlPage =
  "<!doctype html><html><head><title>502 Bad Gateway</title><script>var x = 1</script></head><body><h1>oops</h1></body></html>";

/** Every way to answer badly that needs no data; `sound` is an answer that would be right. */
export function misbehaviours(sound: string): Record<string, Behaviour> {
  const bytes = Buffer.from(sound);
  const head = (status: string, ...headers: string[]) =>
    `HTTP/1.1 ${status}\r\n${headers.map((one) => `${one}\r\n`).join("")}\r\n`;
  const json = "content-type: application/json";
  return {
    "close before the head": { do: "close" },
    "reset before the head": { do: "reset" },
    "cut head": { do: "send", bytes: "HTTP/1.1 200 OK\r\ncontent-le", ending: "close" },
    "cut body": {
      do: "send",
      bytes: head("200 OK", json, `content-length: ${bytes.length}`) + sound.slice(0, -3),
      ending: "close",
    },
    "reset in the body": {
      do: "send",
      bytes: head("200 OK", json, `content-length: ${bytes.length}`) + sound.slice(0, 9),
      ending: "reset",
    },
    "half a body that ends with the connection": {
      do: "send",
      bytes: head("200 OK", json, "connection: close") + sound.slice(0, sound.length / 2),
      ending: "close",
    },
    "no HTTP": { do: "send", bytes: "SSH-2.0-OpenSSH_9.2\r\n\r\n", ending: "close" },
    "garbage bytes": { do: "send", bytes: Buffer.from([0, 255, 254, 13, 10, 7]), ending: "close" },
    "HTML error page": { do: "answer", status: 502, body: htmlPage },
    "HTML with a 200": { do: "answer", body: htmlPage },
    "empty 200": { do: "answer", body: "" },
    "no content": { do: "send", bytes: head("204 No Content"), ending: "stay" },
    "redirect on a write": {
      do: "answer",
      status: 307,
      headers: { location: "http://127.0.0.1:1/elsewhere" },
    },
    "permanent redirect": { do: "answer", status: 308, headers: { location: "/elsewhere" } },
    "redirect to nowhere": { do: "answer", status: 302, body: sound },
    "too large": { do: "answer", body: `${sound}${" ".repeat(1024 * 1024)}` },
    "null data": { do: "answer", body: '{"success":true,"data":null}' },
    "data of another type": { do: "answer", body: '{"success":true,"data":["x",1,null]}' },
    "success as a text": { do: "answer", body: sound.replace("true", '"true"') },
    "no success": { do: "answer", body: sound.replace('"success":true,', "") },
    "a JSON text": { do: "answer", body: '"done"' },
    "a JSON number": { do: "answer", body: "200" },
    "gzip announced, and it is": {
      do: "answer",
      headers: { "content-encoding": "gzip" },
      body: gzipSync(sound),
    },
    "chunked nonsense": {
      do: "send",
      bytes: `${head("200 OK", json, "transfer-encoding: chunked")}zz\r\n{}\r\n`,
      ending: "stay",
    },
    "chunk without its end": {
      do: "send",
      bytes: `${head("200 OK", json, "transfer-encoding: chunked")}${bytes.length.toString(16)}\r\n${sound}\r\n`,
      ending: "close",
    },
    "two lengths": {
      do: "send",
      bytes: head("200 OK", "content-length: 5", "content-length: 6") + sound,
      ending: "close",
    },
    "a negative length": {
      do: "send",
      bytes: head("200 OK", "content-length: -5") + sound,
      ending: "close",
    },
    "status 600": { do: "answer", status: 600, body: sound },
    "status 99": { do: "send", bytes: `${head("99 What", "content-length: 0")}`, ending: "close" },
    "switching protocols": {
      do: "send",
      bytes: head("101 Switching Protocols", "upgrade: foo", "connection: upgrade"),
      ending: "stay",
    },
    "server error that says it succeeded": { do: "answer", status: 503, body: sound },
    "client error that says it succeeded": { do: "answer", status: 400, body: sound },
    "request timeout": { do: "answer", status: 408, body: '{"success":false}' },
    "headers without end": {
      do: "send",
      bytes: `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(20_000)}`,
      ending: "close",
    },
  };
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
      // What was written should be read before the reset tears it away.
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

/** What is encrypted has no handle of its own to reset: it goes without a goodbye. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** A well-formed answer; a header of the behaviour's own replaces the usual one. */
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
  const [method = "", target = ""] = first.split(" ");
  const body = bytes.subarray(headLength + 4, length).toString("utf8");
  return { request: { method, path: target.replace(basePath, ""), headers, body }, length };
}
