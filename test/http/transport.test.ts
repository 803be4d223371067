import { createServer as createTcpServer } from "node:net";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import { Agent } from "undici";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { proxySettings } from "../../src/api/proxy.ts";
import type { Exchange, Request, Transport } from "../../src/api/transport.ts";
import { scratchFolder, soon } from "../support/helpers.ts";
import { built, lenden } from "../support/lenden.ts";
import { type Behaviour, closedPort, listen, serve, success } from "../support/server.ts";
import {
  type Certificates,
  connectProxy,
  makeCertificates,
  trustAuthority,
} from "../support/tls.ts";
import { apiKey, envOf, noProxy, transport } from "./answering.ts";

const methods = [{ id: "665f1c2ab8e4", providerName: "bKash", codeName: "bkash" }];
const mebibyte = 1024 * 1024;

type Changes = Omit<Partial<Request>, "body"> & { body?: string | undefined };

function send(url: string, changes: Changes = {}, through?: Transport): Promise<Exchange> {
  const { body = "body" in changes ? undefined : '{"amount":500}', ...others } = changes;
  return (through ?? transport()).exchange({
    method: "POST",
    url: new URL(url),
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    freshConnection: false,
    signal: AbortSignal.timeout(60_000),
    ...others,
    ...(body === undefined ? {} : { body }),
  });
}

const read = { method: "GET", body: undefined } as const;

const sound = '{"success":true,"data":{"id":"PO1"}}';
const head = (...headers: string[]) => ["HTTP/1.1 200 OK", ...headers, "", ""].join("\r\n");
const withLength = head(`content-length: ${sound.length}`);
const chunked = head("transfer-encoding: chunked");

/** Closes the connection after these bytes. */
function closing(bytes: string | Buffer): Behaviour {
  return { do: "send", bytes, ending: "close" };
}

test("undici's agent is where the transport imports it; otherwise import Agent from undici", async () => {
  const { default: agent } = await import("undici/lib/dispatcher/agent.js");
  expect(agent).toBe(Agent);
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "a %i is returned, and neither key nor body reaches the second host",
    async (status) => {
      const second = await serve(() => success({}));
      const location = `http://127.0.0.1:${second.port}/elsewhere`;
      const first = await serve(() => ({ do: "answer", status, headers: { location } }));
      for (const changes of [{}, read]) {
        const exchange = await send(`${first.baseUrl}/payout`, changes);
        expect(exchange).toMatchObject({ kind: "answer", status, headers: { location } });
      }
      expect(first.asked.map(({ headers }) => headers["x-api-key"])).toEqual([apiKey, apiKey]);
      expect(second.connections()).toBe(0);
    },
  );
});

describe("whether a request was sent", () => {
  test("no: connection refused", async () => {
    expect(await send(`http://127.0.0.1:${await closedPort()}/x`)).toMatchObject({
      kind: "broken",
      sent: false,
      fault: { reason: "connection refused", code: "ECONNREFUSED" },
    });
  });

  test("no: unknown name", async () => {
    expect(await send("https://nowhere.invalid/x")).toMatchObject({
      kind: "broken",
      sent: false,
      fault: { reason: "name not found" },
    });
  });

  test("no: TLS handshake reset", async () => {
    const server = await serve(() => success({}), { onConnect: "reset" });
    expect(await send(`https://127.0.0.1:${server.port}/x`)).toMatchObject({
      kind: "broken",
      sent: false,
    });
  });

  test("no: plain HTTP instead of TLS", async () => {
    const text = createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    onTestFinished(() => void text.close());
    const exchange = await send(`https://127.0.0.1:${await listen(text)}/x`);
    expect(exchange).toMatchObject({ kind: "broken", sent: false });
  });

  test("no: a TLS handshake that never ends is cut off by the deadline", async () => {
    const silent = createTcpServer(() => {});
    onTestFinished(() => void silent.close());
    const url = `https://127.0.0.1:${await listen(silent)}`;
    const [exchange, outcome] = await Promise.all([
      send(`${url}/x`, { signal: AbortSignal.timeout(150) }),
      lenden(["methods", "--timeout", "150ms"], { env: envOf(url) }),
    ]);
    expect(exchange).toMatchObject({ kind: "broken", sent: false, fault: { reason: "stopped" } });
    expect(outcome.code).toBe(69);
  });

  test("no: stopped before the start", async () => {
    const server = await serve(() => success({}));
    expect(await send(server.baseUrl, { signal: AbortSignal.abort() })).toMatchObject({
      kind: "broken",
      sent: false,
      fault: { reason: "stopped" },
    });
    expect(server.count()).toBe(0);
  });

  test("one stop cuts off all requests in flight", async () => {
    const server = await serve(({ path }) =>
      path.startsWith("/slow") ? { do: "silence" } : success({}),
    );
    const stop = new AbortController();
    const through = transport();
    const start = (name: string) =>
      send(`${server.baseUrl}/${name}`, { signal: stop.signal }, through);
    const slow = [];
    for (const place of [1, 2, 3, 4]) {
      const quick = start(`quick-${place}`);
      slow.push(start(`slow-${place}`));
      await expect(quick).resolves.toMatchObject({ status: 200 });
    }
    while (server.count() < 8) await new Promise(setImmediate);
    stop.abort();
    for (const exchange of await Promise.all(slow))
      expect(exchange).toMatchObject({ kind: "broken", sent: true, fault: { reason: "stopped" } });
  });

  test.each<[string, Behaviour, string]>([
    ["closed before the response", { do: "close" }, "connection lost"],
    ["reset before the response", { do: "reset" }, "connection lost"],
    ["closed in the head", closing("HTTP/1.1 200 OK\r\ncontent-le"), "connection lost"],
    ["closed in the body", closing(withLength + sound.slice(0, -3)), "response ended early"],
    [
      "reset in the body",
      { do: "send", bytes: withLength + sound.slice(0, 9), ending: "reset" },
      "response ended early",
    ],
    [
      "a chunk without an end",
      closing(`${chunked}${sound.length.toString(16)}\r\n${sound}\r\n`),
      "response ended early",
    ],
    ["no HTTP at all", closing("SSH-2.0-OpenSSH_9.2\r\n\r\n"), "response not HTTP"],
    ["garbage", closing(Buffer.from([0, 255, 254, 13, 10, 7])), "response not HTTP"],
    [
      "two lengths",
      closing(head("content-length: 5", "content-length: 6") + sound),
      "response not HTTP",
    ],
    [
      "headers without end",
      closing(`HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(20_000)}`),
      "response not HTTP",
    ],
    [
      "switching protocols",
      {
        do: "send",
        bytes: "HTTP/1.1 101 X\r\nupgrade: foo\r\nconnection: upgrade\r\n\r\n",
        ending: "stay",
      },
      "connection lost",
    ],
  ])("yes: %s", async (_, behaviour, reason) => {
    const server = await serve(() => behaviour);
    const exchange = await send(server.baseUrl);
    expect(exchange).toMatchObject({ kind: "broken", sent: true, fault: { reason } });
    expect(server.count()).toBe(1);
  });

  test.each<[string, Behaviour]>([
    ["no response", { do: "silence" }],
    ["the head drips", { do: "drip", bytes: "HTTP/1.1 200 OK\r\n".repeat(50), everyMs: 20 }],
    [
      "the body drips",
      {
        do: "drip",
        bytes: `HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n${"x".repeat(99)}`,
        everyMs: 5,
      },
    ],
  ])("yes: %s, and the deadline cuts it off", async (_, behaviour) => {
    const deadline = new AbortController();
    const server = await serve(() => {
      setTimeout(() => deadline.abort(), 100);
      return behaviour;
    });
    const exchange = await send(server.baseUrl, { signal: deadline.signal });
    expect(exchange).toMatchObject({ kind: "broken", sent: true, fault: { reason: "stopped" } });
  });

  test("yes: a connection that is closed at once may have been used", async () => {
    const server = await serve(() => success({}), { onConnect: "close" });
    expect(await send(server.baseUrl)).toMatchObject({ kind: "broken", sent: true });
  });

  test("yes: a read, which has no body", async () => {
    const server = await serve(() => ({ do: "reset" }));
    expect(await send(server.baseUrl, read)).toMatchObject({ kind: "broken", sent: true });
    expect(server.count()).toBe(1);
  });

  test("a read without a response is not reported as unsent", async () => {
    const server = await serve(() => ({ do: "reset" }));
    const env = envOf(server.baseUrl);
    const { code, stderr } = await lenden(["pay", "get", "TX1"], { env, host: { sleep: soon } });
    expect(code).toBe(69);
    expect(server.count()).toBe(3);
    expect(stderr).not.toMatch(/nothing was sent/i);
  });

  test("many requests at once are told apart", async () => {
    const lost = await serve(() => ({ do: "reset" }));
    const port = await closedPort();
    const through = transport();
    const exchanges = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        send(index % 2 ? lost.baseUrl : `http://127.0.0.1:${port}/x`, {}, through),
      ),
    );
    expect(exchanges.map((one) => one.kind === "broken" && one.sent)).toEqual(
      Array.from({ length: 40 }, (_, index) => index % 2 === 1),
    );
    expect(lost.count()).toBe(20);
  });
});

describe("connections", () => {
  test("a request that must not be repeated gets a fresh one, which is closed", async () => {
    const server = await serve(() => success({}));
    const through = transport();
    for (let turn = 0; turn < 3; turn += 1) {
      await send(server.baseUrl, { freshConnection: true }, through);
    }
    expect(server.asked.map(({ connection }) => connection)).toEqual([1, 2, 3]);
    expect(server.asked.map(({ headers }) => headers.connection)).toEqual([
      "close",
      "close",
      "close",
    ]);
  });

  test("other requests share one", async () => {
    const server = await serve(() => success({}));
    const through = transport();
    for (let turn = 0; turn < 9; turn += 1) await send(server.baseUrl, {}, through);
    // A second one is opened while the first is about to be free.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test("a second response is not used for the next request", async () => {
    const both = ["first", "second"].map(
      (text) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    const server = await serve(({ times }) =>
      times === 1 ? { do: "send", bytes: both.join(""), ending: "stay" } : success({ times }),
    );
    const through = transport();
    await send(server.baseUrl, {}, through);
    const next = await send(server.baseUrl, {}, through);
    expect(next.kind === "answer" && next.text).toContain('"times":');
  });

  test("nothing is decompressed", async () => {
    const body = gzipSync(sound);
    const server = await serve(() => ({
      do: "answer",
      headers: { "content-encoding": "gzip" },
      body,
    }));
    const exchange = await send(server.baseUrl);
    expect(server.asked[0]?.headers["accept-encoding"]).toBe("identity");
    expect(exchange.kind === "answer" && exchange.text).toBe(new TextDecoder().decode(body));
  });
});

describe("size", () => {
  const inChunks = (size: number): Behaviour => ({
    do: "send",
    bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`,
    ending: "stay",
  });

  test.each<[string, Behaviour]>([
    ["with a length", { do: "answer", body: "x".repeat(mebibyte) }],
    ["in chunks", inChunks(mebibyte)],
  ])("1 MiB is accepted, %s", async (_, behaviour) => {
    const server = await serve(() => behaviour);
    const exchange = await send(server.baseUrl);
    expect(exchange.kind === "answer" && exchange.text.length).toBe(mebibyte);
  });

  test.each<[string, Behaviour]>([
    ["with a length", { do: "answer", body: "x".repeat(mebibyte + 1) }],
    ["in chunks", inChunks(mebibyte + 1)],
    [
      "without an end",
      { do: "send", bytes: `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(3 * mebibyte)}`, ending: "stay" },
    ],
  ])("one byte more is rejected, %s, and the request was sent", async (_, behaviour) => {
    const server = await serve(() => behaviour);
    expect(await send(server.baseUrl)).toMatchObject({
      kind: "broken",
      sent: true,
      status: 200,
      fault: { reason: "response too large" },
    });
  });
});

describe("TLS and proxies", () => {
  let certificates: Certificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });

  const trusted = () => ({ NODE_EXTRA_CA_CERTS: certificates.authorityFile });
  const service = () => serve(() => success(methods), { tls: certificates });
  const payout = [
    ...["payout", "send", "--amount", "5", "--to", "01712345678", "--method-id", "m1"],
    ...["--ref", "INV-7"],
  ];

  test("a certificate of an authority in NODE_EXTRA_CA_CERTS is trusted", async () => {
    const server = await service();
    const env = { ...envOf(`https://localhost:${server.port}`), ...trusted() };
    expect(await built(["methods", "-q"], { env })).toMatchObject({
      code: 0,
      stdout: "665f1c2ab8e4\n",
    });
  });

  // Node reads this variable itself, from the environment of its process.
  const careless = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };

  test("an unknown authority ends with 69 and is not retried, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const server = await service();
    const env = envOf(`https://localhost:${server.port}`);
    const direct = await lenden(["methods"], { env });
    const { code, stderr } = await built(payout, { env: { ...env, ...careless } });
    expect([direct.code, code, stderr]).toEqual([69, 69, expect.stringContaining("certificate")]);
    // Each further connection would be a retry.
    expect(server.connections()).toBeLessThanOrEqual(2);
    expect(server.count()).toBe(0);
  });

  test("a certificate for another name is rejected, also of a trusted authority", async () => {
    const server = await serve(() => success(methods), { tls: certificates.otherName });
    const env = envOf(`https://localhost:${server.port}`);
    onTestFinished(trustAuthority(certificates.authorityFile));
    const { code, stderr } = await lenden(["methods"], { env });
    expect({ code, isNamed: /certificate/.test(stderr) }).toEqual({ code: 69, isNamed: true });
    expect(server.count()).toBe(0);
  });

  test("TLS 1.1 is rejected, also if Node's default would accept it", async () => {
    const old = {
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1",
      ciphers: "ALL:@SECLEVEL=0",
    } as const;
    const server = await serve(() => success(methods), { tls: { ...certificates, ...old } });
    const before = { minVersion: tls.DEFAULT_MIN_VERSION, ciphers: tls.DEFAULT_CIPHERS };
    onTestFinished(() => {
      tls.DEFAULT_MIN_VERSION = before.minVersion;
      tls.DEFAULT_CIPHERS = before.ciphers;
    });
    tls.DEFAULT_MIN_VERSION = "TLSv1.1";
    tls.DEFAULT_CIPHERS = "ALL:@SECLEVEL=0";
    expect(await spokenVersion(server.port)).toBe("TLSv1.1");
    expect(await send(`https://localhost:${server.port}/x`)).toMatchObject({
      kind: "broken",
      sent: false,
      fault: { reason: "tls" },
    });
    expect(server.count()).toBe(0);
  });

  test.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY"])(
    "%s is used as a tunnel",
    async (name) => {
      const server = await service();
      const proxy = await connectProxy(server.port);
      const env = { ...envOf("https://service.test"), [name]: proxy.url };
      onTestFinished(trustAuthority(certificates.authorityFile));
      const { code, stdout, stderr } = await lenden(["methods", "-q"], { env });
      expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: "665f1c2ab8e4\n" });
      expect(proxy.asked).toEqual(["CONNECT service.test:443"]);
      expect(server.asked[0]?.headers["x-api-key"]).toBe(apiKey);
    },
  );

  test("the lowercase variable wins, unless it is empty", () => {
    const variables = { HTTPS_PROXY: "a", https_proxy: "", HTTP_PROXY: "b", http_proxy: "c" };
    expect(proxySettings(variables)).toEqual({ https: "a", http: "c", none: undefined });
  });

  test.each(["service.test", ".test", "*.test", "other.example, service.test", "*"])(
    "NO_PROXY=%s bypasses it",
    async (none) => {
      const proxy = await connectProxy(1);
      const exchange = await send(
        "https://service.test/x",
        {},
        transport({ ...noProxy, https: proxy.url, none }),
      );
      expect(exchange).toMatchObject({ kind: "broken", sent: false });
      expect(proxy.asked).toEqual([]);
    },
  );

  test.each(["127.0.0.1", "localhost"])("%s never uses a proxy", async (host) => {
    const server = await serve(() => success(methods));
    const proxy = await connectProxy(server.port);
    const variables = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: "elsewhere.test" };
    const env = { ...envOf(`http://${host}:${server.port}`), ...variables };
    expect(await lenden(["methods", "-q"], { env })).toMatchObject({ code: 0 });
    expect([server.count(), proxy.asked]).toEqual([1, []]);
  });

  test("through a proxy, an unknown authority ends with 69 and is not retried, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const server = await service();
    const proxy = await connectProxy(server.port);
    const env = { ...envOf("https://service.test"), HTTPS_PROXY: proxy.url, ...careless };
    const { code, stderr } = await built(payout, { env });
    expect([code, stderr]).toEqual([69, expect.stringContaining("certificate")]);
    expect(proxy.asked).toEqual(["CONNECT service.test:443"]);
    expect(server.count()).toBe(0);
  });

  test("an https: proxy with an unknown certificate gets no key, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const proxy = await serve(() => success({}), { tls: certificates });
    const url = { HTTPS_PROXY: `https://localhost:${proxy.port}` };
    const env = { ...envOf("https://service.test"), ...url, ...careless };
    const { code, stderr } = await built(payout, { env });
    expect([code, stderr]).toEqual([69, expect.stringContaining("certificate")]);
    expect(proxy.count()).toBe(0);
  });

  test.each(["407 Proxy Authentication Required", "502 Bad Gateway"])(
    "a proxy that responds %s proves that nothing was sent",
    async (answer) => {
      const proxy = await connectProxy(1, answer);
      const exchange = await send(
        "https://service.test/x",
        {},
        transport({ ...noProxy, https: proxy.url }),
      );
      expect(exchange).toMatchObject({ kind: "broken", sent: false });
    },
  );

  test("a proxy that cannot be reached is named without its login (exit 69)", async () => {
    const port = await closedPort();
    const HTTPS_PROXY = `http://me:canary@127.0.0.1:${port}`;
    const env = { ...envOf("https://service.test"), HTTPS_PROXY };
    const { code, stderr } = await lenden(["pay", "get", "TX1"], { env });
    expect({ code, stderr }).toMatchObject({
      code: 69,
      stderr: expect.stringContaining(`proxy 127.0.0.1:${port}`),
    });
    expect(stderr).not.toMatch(/canary|me:/);
  });

  test("after a reset inside the tunnel the outcome is unknown", async () => {
    const server = await serve(() => ({ do: "reset" }), { tls: certificates });
    const proxy = await connectProxy(server.port);
    const env = { ...envOf("https://service.test"), HTTPS_PROXY: proxy.url };
    onTestFinished(trustAuthority(certificates.authorityFile));
    const { code } = await lenden(
      ["pay", "create", "--amount", "5", "--description", "x", "--method-id", "m", ...urls],
      { env },
    );
    expect({ code, sent: server.count() }).toEqual({ code: 75, sent: 1 });
  });

  test.each([
    ...["localhost:8080", "not a url", "ftp://proxy.test:1"],
    ...["http://ops:ca%nary@127.0.0.1:9", "http://ops:canary%ff@127.0.0.1:9"],
    ...["http://ca%nary:pass@127.0.0.1:9", "http://ops:9#canary@127.0.0.1:9"],
  ])("HTTPS_PROXY=%s is reported once without its password, and nothing is sent", async (url) => {
    const env = { ...envOf("https://service.test"), HTTPS_PROXY: url };
    const { code, stderr } = await lenden(["methods", "--json"], { env });
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain("HTTPS_PROXY");
    expect(stderr).not.toContain("nary");
    expect(code).toBe(2);
    const asked = ["--amount", "5", "--to", "01712345678", "--method-id", "m"];
    const folder = { LENDEN_CONFIG_DIR: scratchFolder() };
    const payout = await lenden(["payout", "send", ...asked], { env: { ...env, ...folder } });
    expect(payout).toMatchObject({ code: 2, stderr: expect.stringContaining("HTTPS_PROXY") });
    const kept = await lenden(["ledger", "export", "--json"], { env: { ...env, ...folder } });
    expect(JSON.parse(kept.stdout)).toEqual([]);
  });
});

const urls = ["--redirect-url", "https://a.example/", "--callback-url", "https://a.example/"];

function spokenVersion(port: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
