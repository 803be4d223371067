import { connect } from "node:net";
import { expect, test } from "vitest";
import { hasKeyShape } from "../../src/domain/api-keys.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { overSocket, paymentBody, type Sandbox, type Sent, start } from "./running.ts";

test("the key has the documented shape, and each sandbox has its own", async () => {
  const [one, other] = [await start(), await start()];
  expect(hasKeyShape(one.apiKey)).toBe(true);
  expect(one.apiKey).toMatch(/^sk_sandbox_/);
  expect(other.apiKey).not.toBe(one.apiKey);
  expect(other.payoutSecret).not.toBe(one.payoutSecret);
});

test.each([
  ["no key", undefined, 401, "KEY_MISSING"],
  ["an empty key", "", 401, "KEY_MISSING"],
  ["another sandbox key", "sk_sandbox_ABC-ABCDEFGHIJKL-ABC", 401, "KEY_UNKNOWN"],
  ["a production key", "public-ABC-ABCDEFGHIJKL-ABC", 403, "PRODUCTION_KEY"],
  ["anything else", "hello", 401, "KEY_UNKNOWN"],
])("%s is refused, and the key is not repeated", async (_what, key, status, code) => {
  const sandbox = await start();
  for (const path of ["/payment/methods", "/sandbox/info", "/local/requests/0"]) {
    const reply = await sandbox.call(path, { headers: { "x-api-key": key } });
    expect(reply).toMatchObject({ status, body: { success: false, code } });
    if (key) expect(reply.text).not.toContain(key);
  }
});

test("a key with anything more or less is another key", async () => {
  const sandbox = await start();
  for (const key of [
    `${sandbox.apiKey}x`,
    sandbox.apiKey.slice(0, -1),
    sandbox.apiKey.toLowerCase(),
  ]) {
    const reply = await sandbox.call("/payment/methods", { headers: { "x-api-key": key } });
    expect(reply.status, key).toBe(401);
  }
});

const bad: [string, Sent, number][] = [
  ["Host of the internet", { headers: { host: "pay.example.com" } }, 421],
  ["Host of another port", { headers: { host: "127.0.0.1:1" } }, 421],
  ["Host without a port", { headers: { host: "127.0.0.1" } }, 421],
  ["Host localhost without a port", { headers: { host: "localhost" } }, 421],
  ["Host 0.0.0.0", { headers: { host: "0.0.0.0:PORT" } }, 421],
  ["Host that begins like ours", { headers: { host: "127.0.0.1:PORT.evil.example" } }, 400],
  ["Host that ends like ours", { headers: { host: "evil.localhost:PORT" } }, 421],
  ["Host with a name before ours", { headers: { host: "user@127.0.0.1:PORT" } }, 400],
  ["Host with another spelling of loopback", { headers: { host: "127.1:PORT" } }, 421],
  ["Host of a network", { headers: { host: "192.168.1.2:PORT" } }, 421],
  ["Origin of a page", { headers: { origin: "https://evil.example" } }, 403],
  ["Origin null", { headers: { origin: "null" } }, 403],
  ["Origin of this very address", { headers: { origin: "http://127.0.0.1:PORT" } }, 403],
  ["Sec-Fetch-Site cross-site", { headers: { "sec-fetch-site": "cross-site" } }, 403],
  ["a preflight", { method: "OPTIONS", headers: { origin: "https://evil.example" } }, 403],
  ["no Content-Type", { method: "POST", headers: { "content-type": undefined } }, 415],
  [
    "a form",
    { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } },
    415,
  ],
  ["plain text", { method: "POST", headers: { "content-type": "text/plain" } }, 415],
  [
    "multipart",
    { method: "POST", headers: { "content-type": "multipart/form-data; boundary=x" } },
    415,
  ],
  [
    "another charset",
    { method: "POST", headers: { "content-type": "application/json; charset=utf-16" } },
    415,
  ],
  ["a JSON relative", { method: "POST", headers: { "content-type": "application/jsonp" } }, 415],
];

test.each(bad)("refused: %s", async (_what, sent, status) => {
  const sandbox = await start();
  const path = sent.method === "POST" ? "/payment/create" : "/payment/methods";
  const body = sent.method === "POST" ? { body: paymentBody } : {};
  const reply = await sandbox.call(path, { ...withPort(sandbox, sent), ...body });
  expect(reply.status).toBe(status);
  expect(reply.body.success).not.toBe(true);
  expect((await sandbox.get("/sandbox/info")).body.data.payments).toBe(0);
});

test.each([
  ["Host 127.0.0.1", { headers: { host: "127.0.0.1:PORT" } }],
  ["Host localhost", { headers: { host: "LOCALHOST:PORT" } }],
  ["Host [::1]", { headers: { host: "[::1]:PORT" } }],
  ["Sec-Fetch-Site none", { headers: { "sec-fetch-site": "none" } }],
])("served: %s", async (_what, sent) => {
  const sandbox = await start();
  expect((await sandbox.call("/payment/methods", withPort(sandbox, sent))).status).toBe(200);
  const posted = { ...withPort(sandbox, sent), method: "POST", body: paymentBody };
  posted.headers["content-type"] = "application/json; charset=utf-8";
  expect((await sandbox.call("/payment/create", posted)).status).toBe(200);
});

test("the rules for Host and Origin hold outside the service too, and no answer allows pages", async () => {
  const sandbox = await start();
  for (const path of ["/", "/openapi.json", "/p/TX0", "/nowhere"]) {
    expect((await sandbox.call(`/${path}`, { headers: { host: "evil.example" } })).status).toBe(
      421,
    );
  }
  const head = `GET / HTTP/1.1\r\nHost: localhost:${sandbox.port}\r\nConnection: close`;
  const { text } = await overSocket(sandbox, head, "", 10_000);
  expect(text).toContain("200 OK");
  expect(text.toLowerCase()).not.toContain("access-control");
});

test("a request for another host in its first line is refused", async () => {
  const sandbox = await start();
  const head = `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close`;
  expect((await overSocket(sandbox, head)).text).toMatch(/^HTTP\/1\.1 4/);
});

test.each([
  ["no JSON", "{"],
  ["an array", "[]"],
  ["a text", '"x"'],
  ["null", "null"],
  ["nothing", ""],
  ["no UTF-8", Buffer.from('{"note":"\u00ff"}', "latin1")],
])("a body of %s is refused", async (_what, rawBody) => {
  const sandbox = await start();
  const reply = await sandbox.call("/payment/create", { method: "POST", rawBody });
  expect(reply).toMatchObject({ status: 400, body: { code: "NOT_JSON" } });
});

test("a body over 1 MiB is refused, one of 1 MiB is read", async () => {
  const sandbox = await start();
  const bodyOf = (length: number) => {
    const text = JSON.stringify({ ...paymentBody, note: "" });
    return text.replace('"note":""', `"note":"${"x".repeat(length - text.length)}"`);
  };
  const post = (rawBody: string) => sandbox.call("/payment/create", { method: "POST", rawBody });
  expect((await post(bodyOf(1024 * 1024))).status).toBe(200);
  expect((await post(bodyOf(1024 * 1024 + 1))).status).toBe(413);
  const chunked = {
    method: "POST",
    rawBody: bodyOf(3_000_000),
    headers: { "transfer-encoding": "chunked" },
  };
  expect((await sandbox.call("/payment/create", chunked)).status).toBe(413);
});

test("unknown routes and wrong methods are refused in the sandbox's own shape", async () => {
  const sandbox = await start();
  expect(await sandbox.get("/payments")).toMatchObject({
    status: 404,
    body: { code: "UNKNOWN_ROUTE" },
  });
  expect(await sandbox.get("/payment/create")).toMatchObject({
    status: 405,
    body: { success: false, code: "METHOD_NOT_ALLOWED" },
  });
  expect((await sandbox.call("//payment/methods")).status).toBe(404);
});

test("it listens on loopback alone", async () => {
  const sandbox = await start();
  const refused = await new Promise((resolve) => {
    // All of 127.0.0.0/8 is this machine: a server on every interface would answer here.
    const socket = connect(sandbox.port, "127.0.0.2", () => resolve(false));
    socket.on("error", () => resolve(true));
    socket.on("close", () => socket.destroy());
  });
  expect(refused).toBe(true);
});

test("a port in use is a failure with a way out", async () => {
  const { port } = await start();
  await expect(startSandbox({ port, now: Date.now })).rejects.toMatchObject({
    name: "Failure",
    kind: "internal",
    message: `The port ${port} is already in use.`,
    details: { hint: expect.stringContaining("--port 0") },
  });
});

function withPort({ port }: Sandbox, sent: Sent): { headers: Record<string, string | undefined> } {
  const headers = Object.entries(sent.headers ?? {}).map(
    ([name, value]) => [name, value?.replace("PORT", String(port))] as const,
  );
  return { ...sent, headers: Object.fromEntries(headers) };
}
