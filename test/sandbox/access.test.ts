import { connect } from "node:net";
import { expect, test } from "vitest";
import { overSocket, paymentBody, type Sandbox, type Sent, start } from "./running.ts";

test.each([
  ["no key", undefined, 401, "KEY_MISSING"],
  ["an empty key", "", 401, "KEY_MISSING"],
  ["another sandbox key", "sk_sandbox_ABC-ABCDEFGHIJKL-ABC", 401, "KEY_UNKNOWN"],
  ["a production key", "public-ABC-ABCDEFGHIJKL-ABC", 403, "PRODUCTION_KEY"],
  ["anything else", "hello", 401, "KEY_UNKNOWN"],
])("%s is rejected, and the key is not repeated", async (_what, key, status, code) => {
  const sandbox = await start();
  for (const path of ["/payment/methods", "/sandbox/info", "/local/requests/0"]) {
    const reply = await sandbox.call(path, { headers: { "x-api-key": key } });
    expect(reply).toMatchObject({ status, body: { success: false, code } });
    if (key) expect(reply.text).not.toContain(key);
  }
});

const page = { origin: "https://evil.example" };
const type = (contentType: string | undefined) => ({
  method: "POST",
  headers: { "content-type": contentType },
});
const rejected: [string, Sent, number][] = [
  ...["pay.example.com", "127.0.0.1:1", "127.0.0.1", "0.0.0.0:PORT", "evil.localhost:PORT"].map(
    (host): [string, Sent, number] => [`Host ${host}`, { headers: { host } }, 421],
  ),
  ["Host 127.1", { headers: { host: "127.1:PORT" } }, 421],
  ["Host that begins like ours", { headers: { host: "127.0.0.1:PORT.evil.example" } }, 400],
  ["Host with a name before ours", { headers: { host: "user@127.0.0.1:PORT" } }, 400],
  ["Origin of a page", { headers: page }, 403],
  ["Origin null", { headers: { origin: "null" } }, 403],
  ["Origin of this very host", { headers: { origin: "http://127.0.0.1:PORT" } }, 403],
  ["Sec-Fetch-Site cross-site", { headers: { "sec-fetch-site": "cross-site" } }, 403],
  ["a preflight", { method: "OPTIONS", headers: page }, 403],
  ["no Content-Type", type(undefined), 415],
  ["a form", type("application/x-www-form-urlencoded"), 415],
  ["multipart", type("multipart/form-data; boundary=x"), 415],
  ["another charset", type("application/json; charset=utf-16"), 415],
  ["a JSON relative", type("application/jsonp"), 415],
];

test.each(rejected)("rejects %s", async (_, sent, status) => {
  const sandbox = await start();
  const path = sent.method === "POST" ? "/payment/create" : "/payment/methods";
  const body = sent.method === "POST" ? { body: paymentBody } : {};
  const reply = await sandbox.call(path, { ...withPort(sandbox, sent), ...body });
  expect([reply.status, reply.body.success === true]).toEqual([status, false]);
  expect((await sandbox.get("/sandbox/info")).body.data.payments).toBe(0);
});

test.each(["127.0.0.1:PORT", "LOCALHOST:PORT", "[::1]:PORT"])(
  "serves the Host %s",
  async (host) => {
    const sandbox = await start();
    const sent = withPort(sandbox, { headers: { host } });
    sent.headers["content-type"] = "application/json; charset=utf-8";
    const reply = await sandbox.call("/payment/create", {
      ...sent,
      method: "POST",
      body: paymentBody,
    });
    expect(reply.status).toBe(200);
  },
);

test("the rules for Host and Origin hold outside the API too, and no response allows pages", async () => {
  const sandbox = await start();
  for (const path of ["/", "/openapi.json", "/p/TX0", "/nowhere"]) {
    expect((await sandbox.call(`/${path}`, { headers: { host: "evil.example" } })).status).toBe(
      421,
    );
  }
  const head = `GET / HTTP/1.1\r\nHost: localhost:${sandbox.port}\r\nConnection: close`;
  const { text } = await overSocket(sandbox, head);
  expect(text).toContain("200 OK");
  expect(text.toLowerCase()).not.toContain("access-control");
});

test("rejects a request for another host in its first line", async () => {
  const sandbox = await start();
  const head = `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close`;
  expect((await overSocket(sandbox, head)).text).toMatch(/^HTTP\/1\.1 4/);
});

test.each([
  ["broken JSON", "{"],
  ["an array", "[]"],
  ["a text", '"x"'],
  ["null", "null"],
  ["nothing", ""],
  ["other than UTF-8", Buffer.from('{"note":"\u00ff"}', "latin1")],
])("rejects a body of %s", async (_what, rawBody) => {
  const sandbox = await start();
  const reply = await sandbox.call("/payment/create", { method: "POST", rawBody });
  expect(reply).toMatchObject({ status: 400, body: { code: "NOT_JSON" } });
});

test("rejects a body over 1 MiB, and reads one of 1 MiB", async () => {
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

test("rejects unknown routes and wrong methods in its own shape", async () => {
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

function withPort({ port }: Sandbox, sent: Sent): { headers: Record<string, string | undefined> } {
  const headers = Object.entries(sent.headers ?? {}).map(
    ([name, value]) => [name, value?.replace("PORT", String(port))] as const,
  );
  return { ...sent, headers: Object.fromEntries(headers) };
}
