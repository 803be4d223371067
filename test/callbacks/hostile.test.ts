import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Limits, usualLimits } from "../../src/callbacks/listener.ts";
import { openReceiver } from "../../src/callbacks/receiver.ts";
import { until } from "../support/helpers.ts";
import { openMerchant, paidPayment } from "../support/merchant.ts";
import { listenApart, listenAs } from "./listening.ts";
import { smallListener } from "./small-listener.ts";

const said = (id: string) => JSON.stringify({ transactionId: id, status: "Completed" });

test("survives hostile callbacks, and still verifies a genuine one", async () => {
  const merchant = await openMerchant();
  const id = await paidPayment(merchant);
  const listener = await listenAs(merchant);
  const manyIds = JSON.stringify(Array.from({ length: 2_000 }, (_, n) => ({ id: `TX${n}` })));
  const strange: [string | Uint8Array, Record<string, string>?, string?][] = [
    ["x".repeat(64 * 1024 + 1)],
    [manyIds],
    [Uint8Array.from({ length: 300 }, (_, index) => index % 256), { "content-type": "a/b" }],
    ["\ud800\u202e\u001b[2J", { "content-type": "application/json" }],
    ["[".repeat(60_000), { "content-type": "application/json" }],
    [`${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`],
    ["__proto__[id]=1&constructor=2&toString=3"],
    [`{"__proto__":{"id":"TX1"},"id":{"id":[{"id":null}]}}`],
    [
      "--b\r\nContent-Disposition: form-data; name=id\r\n\r\nTX1\r\n--b--",
      { "content-type": "multipart/form-data; boundary=b" },
    ],
    ["a=%", { "content-type": "application/x-www-form-urlencoded" }, "/%/%E0?%=%&=&&id=%00"],
    ["", { "content-encoding": "gzip" }, "//evil.example/..%2f..?id=../methods"],
  ];
  const statuses = [];
  for (const one of strange) statuses.push(await listener.send(...one));
  expect(statuses).toEqual([413, ...Array.from({ length: strange.length - 1 }, () => 200)]);
  expect(await listener.send(said(id))).toBe(200);
  const events = await listener.seen(strange.length);
  expect(events.map(({ verdict }) => verdict).sort()).toEqual([
    ...Array.from({ length: strange.length - 1 }, () => "unknown"),
    "verified",
  ]);
  const shown = await merchant.lenden(["callback", "list"]);
  expect(shown.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  expect((await merchant.requests()).length).toBeLessThan(60);
});

test("rejects what is not a plain request, without details of this machine", async () => {
  const merchant = await openMerchant();
  const listener = await listenAs(merchant);
  const head = "POST / HTTP/1.1\r\nHost: other.example\r\n";
  const refused: [string, string][] = [
    ["400", `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["400", `${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ["400", `${head}X: a\u0000b\r\n\r\n`],
    ["400", "nonsense\r\n\r\n"],
    ["431", `${head}X: ${"a".repeat(9_000)}\r\n\r\n`],
    ["405", "DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["405", "OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: https://evil.example\r\n\r\n"],
  ];
  for (const [status, bytes] of refused) {
    const answer = await listener.raw(bytes);
    expect([bytes.slice(0, 60), answer.slice(9, 12)]).toEqual([bytes.slice(0, 60), status]);
    expect(answer.toLowerCase()).not.toMatch(/access-control|server:|x-powered|node/);
  }
  const close = `${head}Content-Length: 2\r\nConnection: close\r\n\r\nhi`;
  expect(await listener.raw(close)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
});

test("stores and shows no secret of a callback", async () => {
  const merchant = await openMerchant();
  const listener = await listenAs(merchant);
  const secret = merchant.apiKey;
  await listener.send(`key=${secret}`, {
    authorization: "Bearer abc",
    "x-api-key": secret,
    a: secret,
  });
  listener.kill("SIGTERM");
  await listener.ended;
  const dump = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT headers, target, body FROM callbacks").all(),
  );
  const { stdout } = await merchant.lenden(["callback", "show", "1", "--json"]);
  const body = Buffer.from(String(dump[0]?.body), "base64").toString();
  for (const text of [JSON.stringify(dump), stdout, body]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain("Bearer");
  }
});

test("tells the sender if a callback cannot be stored", async () => {
  const merchant = await openMerchant();
  const listener = await listenApart(merchant);
  await merchant.inLedger((ledger) => ledger.exec("ALTER TABLE callbacks RENAME TO away"));
  expect(await listener.send("transactionId=TX1AAAA")).toBe(500);
  await merchant.inLedger((ledger) => ledger.exec("ALTER TABLE away RENAME TO callbacks"));
  await listener.send("transactionId=TX1AAAB");
  const [event] = await listener.seen(1);
  expect(event?.warnings).toEqual([
    { reason: "callback.not-handled", message: expect.stringContaining("Cannot store") },
  ]);
  listener.kill("SIGINT");
  expect(await listener.ended).toEqual({ code: 0, stderr: "" });
});

test("kill -9 loses no callback that was acknowledged", async () => {
  const merchant = await openMerchant();
  const listener = await listenApart(merchant);
  const answered: string[] = [];
  const sending = Array.from({ length: 60 }, async (_, index) => {
    const status = await listener.send(`number ${index}`).catch(() => 0);
    if (status === 200) answered.push(`number ${index}`);
  });
  await until(() => answered.length > 15);
  listener.kill("SIGKILL");
  await Promise.all(sending);
  const bodies = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT body FROM callbacks").all(),
  );
  const kept = bodies.map(({ body }) => Buffer.from(String(body), "base64").toString());
  expect(answered.filter((body) => !kept.includes(body))).toEqual([]);
  expect((await merchant.lenden(["ledger", "check"])).code).toBe(0);
});

test("cuts off a body that arrives too slowly, and stores nothing of it", async () => {
  const { port, taken } = await smallReceiver({ requestMs: 200 });
  const answer = await new Promise<string>((resolve) => {
    let all = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nid=TX1"),
    );
    socket.on("data", (data) => {
      all += data;
    });
    socket.on("close", () => resolve(all));
  });
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(taken()).toBe(0);
});

/** A receiver of this process, with limits that a test can reach. */
async function smallReceiver(limits: Partial<Limits>) {
  const { listener, handled } = await smallListener({ limits });
  const receiver = await openReceiver({
    port: 0,
    limits: { ...usualLimits, ...limits },
    take: (received) => listener.take(received, "received"),
  });
  onTestFinished(() => receiver.close());
  return { port: Number(new URL(receiver.url).port), taken: () => handled.length };
}
