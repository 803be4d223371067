import { once } from "node:events";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchant,
  paidPayment,
  paymentOf,
  refundOf,
} from "../support/merchant.ts";
import { closedPort } from "../support/server.ts";
import { resolveName } from "../support/slow-line.ts";
import { listenApart, listenAs, startHandler } from "./listening.ts";

const said = (id: string, status = "Completed") =>
  JSON.stringify({ transactionId: id, status, amount: 100 });

test("verifies and stores each callback, forwards its bytes, and responds as the handler did", async () => {
  const merchant = await openMerchant();
  const { url, handled } = await startHandler(() => 202);
  const listener = await listenAs(merchant, "--forward-to", `${url}?shop=1`);
  const [paid, open] = [await paidPayment(merchant), await merchant.id(paymentOf("open"))];
  const type = "application/vnd.shop+json";
  const forger = { "x-lenden-verified": "true", "x-lenden-signature": "t=1,v1=2", cookie: "c=1" };
  expect(await listener.send(said(paid), { "content-type": type }, "/a?b=c")).toBe(202);
  expect(await listener.send(said(open), forger)).toBe(202);
  expect(handled.map(({ method, path, body }) => [method, path, String(body)])).toEqual([
    ["POST", "/own?shop=1&b=c", said(paid)],
    ["POST", "/own?shop=1", said(open)],
  ]);
  expect(handled[0]?.headers).toMatchObject({
    "content-type": type,
    "x-lenden-verified": "true",
    "x-lenden-id": paid,
    "x-lenden-status": "Completed",
    "x-lenden-amount": "100",
    "x-lenden-source": "received",
  });
  expect(handled[1]?.headers).toMatchObject({
    "x-lenden-verified": "false",
    "x-lenden-id": open,
    "x-lenden-status": "Processing",
  });
  expect(handled[1]?.headers.cookie).toBeUndefined();
  expect(handled[1]?.headers["x-lenden-signature"]).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
  const events = await listener.seen(2);
  expect(events.map(({ verdict, forwarded }) => [verdict, forwarded?.status])).toEqual([
    ["verified", 202],
    ["forged", 202],
  ]);
  listener.kill("SIGINT");
  expect((await listener.ended).code).toBe(0);
  const list = await merchant.lenden(["callback", "list", "--json"]);
  expect(JSON.parse(list.stdout)).toMatchObject([{ verdict: "forged" }, { verdict: "verified" }]);
});

test("accepts a callback through a tunnel, whose Host is the tunnel's", async () => {
  const merchant = await openMerchant();
  const listener = await listenAs(merchant);
  const body = said(await paidPayment(merchant));
  const head = `POST /callback HTTP/1.1\r\nHost: shop.tunnel.example\r\nConnection: close\r\n`;
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  expect(await listener.raw(head + type + body)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await listener.seen(1)).toMatchObject([{ verdict: "verified" }]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

test.skipIf(!hasIpv6)("forwards to localhost if the handler listens on ::1 alone", async () => {
  const handler = createServer((_, response) => void response.writeHead(202).end());
  await once(handler.listen(0, "::1"), "listening");
  onTestFinished(() => void handler.close());
  resolveName("localhost", ["127.0.0.1", "::1"]);
  const merchant = await openMerchant();
  const address = handler.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const listener = await listenAs(merchant, "--forward-to", `http://localhost:${port}/hook`);
  expect(await listener.send(said(await paidPayment(merchant)))).toBe(202);
});

test("forwards to a handler on this machine whose URL has no protocol", async () => {
  const merchant = await openMerchant();
  const { url, handled } = await startHandler();
  const { host, pathname } = new URL(url);
  const listener = await listenAs(merchant, "--forward-to", host + pathname);
  await listener.send(said(await paidPayment(merchant)));
  expect(handled.map(({ path }) => path)).toEqual(["/own"]);
});

test.each([
  ["localhost:3000/hook", 7],
  ["[::1]:3000/hook", 7],
  ["localhost", 7],
  ["shop.example:3000/hook", 2],
  ["localhost.shop.example/hook", 2],
  ["localhost:3000@shop.example/hook", 2],
  ["127.0.0.1.shop.example/hook", 2],
])("reads the handler %s: exit %i while another process listens", async (handler, code) => {
  const merchant = await openMerchant();
  await listenAs(merchant);
  const line = ["callback", "listen", "--port", "0", "--forward-to", handler];
  expect((await merchant.lenden(line)).code).toBe(code);
});

test("stores a callback once, also if it is sent many times at once", async () => {
  const merchant = await openMerchant();
  const id = await paidPayment(merchant);
  const listener = await listenAs(merchant);
  expect(await listener.send(said(id))).toBe(200);
  await listener.seen(1);
  const one = `POST /callback HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: ${said(id).length}\r\n`;
  const pipelined = `${`${one}\r\n${said(id)}`.repeat(20)}${one}Connection: close\r\n\r\n${said(id)}`;
  const answers = await listener.raw(pipelined);
  expect(answers.match(/HTTP\/1.1 200 OK/g)).toHaveLength(21);
  const { stdout } = await merchant.lenden(["callback", "list", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ count: 22 }]);
  expect(await retrieves(merchant)).toBeLessThan(5);
  expect(listener.events).toHaveLength(1);
});

test("a retrieved record resolves an unknown outcome: payment, refund, cancel", async () => {
  const service = { faults: lost("createPayment") };
  const merchant = await openMerchant(service);
  expect((await merchant.lenden(paymentOf("unknown"))).code).toBe(75);
  const payment = String((await merchant.books("payments")).at(-1)?.id);
  await merchant.set("payment", payment, "Completed");
  await behaveAs(lost("createRefund"));
  expect((await merchant.lenden(refundOf(payment, "40"))).code).toBe(75);
  const refund = String((await merchant.books("refunds")).at(-1)?.id);
  await behaveAs([...lost("cancelRefund"), ...lost("retrieveRefund")]);
  const cancel = await merchant.lenden(["refund", "cancel", refund], { host: jumpingHost() });
  expect(cancel.code).toBe(75);
  await behaveAs([]);
  const listener = await listenAs(merchant);
  await listener.send(`transactionId=${payment}`);
  await listener.seen(1);
  await listener.send(`refundRequestId=${refund}&status=Cancelled`);
  const resolved = (await listener.seen(2)).map((event) => event.resolved?.length);
  expect(resolved).toEqual([1, 2]);
  const { stdout } = await merchant.lenden(["ledger", "export", "-o", "ndjson"]);
  const operations = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(operations.map(({ kind, state, status }) => [kind, state, status])).toEqual([
    ["payment", "CONFIRMED", "Completed"],
    ["refund", "CONFIRMED", "Cancelled"],
    ["cancel", "CONFIRMED", "Cancelled"],
  ]);

  async function behaveAs(faults: Fault[]): Promise<void> {
    service.faults = faults;
    await merchant.close();
    await merchant.comeBack();
  }
});

test("a record that two unknown operations could have created resolves neither", async () => {
  const merchant = await openMerchant({ faults: lost("createPayment") });
  for (const flags of [[], ["--again"]]) await merchant.lenden(paymentOf("unknown", ...flags));
  const id = String((await merchant.books("payments")).at(-1)?.id);
  const listener = await listenAs(merchant);
  await listener.send(`transactionId=${id}&status=Processing`);
  expect(await listener.seen(1)).toMatchObject([{ verdict: "verified", resolved: [] }]);
});

test("a record resolves an operation only if it was created when that was sent", async () => {
  for (const [minutes, resolved] of [
    [-6, 0],
    [9, 1],
    [11, 0],
  ]) {
    let aheadMs = 0;
    const faults: Fault[] = [
      { endpoint: "createPayment", kind: "reset", number: 0, rate: 1, rule: "" },
    ];
    const service = { faults, now: () => Date.now() + aheadMs };
    const merchant = await openMerchant(service);
    expect((await merchant.lenden(paymentOf("unknown"))).code).toBe(75);
    service.faults = [];
    await merchant.close();
    await merchant.comeBack();
    aheadMs = (minutes ?? 0) * 60_000;
    // The same payment, created with another ledger.
    const elsewhere = { ...merchant.env, LENDEN_DATA_DIR: scratchFolder() };
    const made = await lenden(paymentOf("unknown", "-q"), { env: elsewhere });
    const sent = `transactionId=${made.stdout.trim()}&status=Processing`;
    const listener = await listenAs(merchant);
    await listener.send(sent);
    const [event] = await listener.seen(1);
    expect([minutes, event?.resolved?.length]).toEqual([minutes, resolved]);
  }
});

test("the next run repeats a forward that SIGTERM cut off", async () => {
  const merchant = await openMerchant();
  const id = await paidPayment(merchant);
  let mood: "never" | 200 = "never";
  const { url, handled } = await startHandler(() => mood);
  const listener = await listenAs(merchant, "--forward-to", url);
  const answer = listener.send(said(id)).catch(() => 0);
  await until(() => handled.length === 1);
  listener.kill("SIGTERM");
  expect([(await listener.ended).code, await answer]).toEqual([0, 503]);
  expect((await merchant.lenden(["callback", "list"])).stdout).toMatch(
    /verified .* not sent yet\n/,
  );
  mood = 200;
  await listenAs(merchant, "--forward-to", url);
  await until(() => handled.length === 2);
  expect(handled[1]?.headers["x-lenden-verified"]).toBe("true");
});

test("one process at a time listens for an account: exit 7", async () => {
  const merchant = await openMerchant();
  const id = await paidPayment(merchant);
  const { url, handled } = await startHandler();
  const listener = await listenApart(merchant);
  for (const flags of [["--port", "0"], ["--poll"], ["--port", "0", "--for", id]]) {
    const second = await merchant.lenden(["callback", "listen", ...flags, "--json"]);
    expect([second.code, JSON.parse(second.stderr).error.reason]).toEqual([
      7,
      "callback.listener-running",
    ]);
  }
  await listener.send(said(id));
  await listener.seen(1);
  // A replay is allowed while another process listens.
  const replayed = await merchant.lenden(["callback", "replay", "1", "--forward-to", url]);
  expect([replayed.code, handled.length]).toEqual([0, 1]);
  listener.kill("SIGKILL");
  await listener.ended;
  const next = await listenAs(merchant);
  expect(next.url).not.toBe("");
});

test("--once ends after the first verified callback, whose sender gets a response", async () => {
  const merchant = await openMerchant();
  const listener = await listenAs(merchant, "--once");
  expect(await listener.send("nonsense")).toBe(200);
  expect(await listener.send(said(await paidPayment(merchant)))).toBe(200);
  expect((await listener.ended).code).toBe(0);
  expect(listener.events.map(({ verdict }) => verdict)).toEqual(["unknown", "verified"]);
});

test("--for ends with the status of the payment: 0, 10, 8, 9 or 130", async () => {
  const merchant = await openMerchant();
  for (const [status, code] of [
    ["Completed", 0],
    ["Cancelled", 10],
  ] as const) {
    const id = await merchant.id(paymentOf(status));
    const listener = await listenAs(merchant, "--for", id);
    await listener.send(said(id, status));
    await listener.seen(1);
    await merchant.set("payment", id, status);
    await listener.send(`transactionId=${id}`);
    expect([status, (await listener.ended).code]).toEqual([status, code]);
    // The payment ended before the command started.
    expect(await codeOfWaiting(merchant, id)).toBe(code);
  }
  const open = await merchant.id(paymentOf("open"));
  expect(await codeOfWaiting(merchant, open, "--timeout", "2s")).toBe(8);
  expect(await codeOfWaiting(merchant, "TXNOBODYS")).toBe(9);
  const stopped = await listenAs(merchant, "--for", open);
  stopped.kill("SIGINT");
  expect((await stopped.ended).code).toBe(130);
});

test("rejects --forward-to with its own port", async () => {
  const merchant = await openMerchant();
  for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
    const line = ["callback", "listen", "--forward-to", `http://${name}:4343/callback`];
    expect(await merchant.lenden(line)).toMatchObject({ code: 2, stdout: "" });
  }
});

test("--poll creates and forwards a callback for a change, and opens no port", async () => {
  const merchant = await openMerchant();
  const { url, handled } = await startHandler();
  const id = await merchant.id(paymentOf("polled"));
  const args = ["callback", "listen", "--poll", "--json", "--once", "--forward-to", url];
  const child = merchant.start(args);
  let printed = "";
  child.stdout.on("data", (data) => {
    printed += data;
  });
  await until(() => printed.includes("listening"));
  expect(JSON.parse(printed.split("\n")[0] ?? "")).toMatchObject({ url: null });
  await merchant.set("payment", id, "Completed");
  await until(() => child.exitCode !== null);
  expect(child.exitCode).toBe(0);
  expect(handled).toHaveLength(1);
  expect(handled[0]?.headers).toMatchObject({
    "x-lenden-source": "polled",
    "x-lenden-status": "Completed",
    "x-lenden-verified": "true",
  });
  expect(JSON.parse(String(handled[0]?.body))).toMatchObject({ transactionId: id, amount: 100 });
  const { stdout } = await merchant.lenden(["pay", "list", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ status: "Completed" }]);
});

test("replay verifies and forwards what arrived while the API was unreachable", async () => {
  const merchant = await openMerchant();
  const { url, handled } = await startHandler();
  const id = await paidPayment(merchant);
  await merchant.close();
  const listener = await listenAs(merchant, "--forward-to", url);
  expect(await listener.send(said(id))).toBe(200);
  expect(handled[0]?.headers["x-lenden-verified"]).toBe("unknown");
  listener.kill("SIGTERM");
  expect((await listener.ended).code).toBe(0);
  await merchant.comeBack();
  const replayed = await merchant.lenden(["callback", "replay", "1", "--forward-to", url]);
  expect(replayed.code).toBe(0);
  expect(handled[1]?.headers["x-lenden-verified"]).toBe("true");
  expect(handled[1]?.body.equals(handled[0]?.body ?? Buffer.alloc(0))).toBe(true);
});

test("shows why the handler cannot be reached", async () => {
  const merchant = await openMerchant();
  const id = await paidPayment(merchant);
  const url = `http://127.0.0.1:${await closedPort()}/callback`;
  const listener = await listenAs(merchant, "--forward-to", url);
  expect(await listener.send(said(id))).toBe(502);
  const [event] = await listener.seen(1);
  const forwarded = { to: url, status: null, response: "connection refused" };
  expect(event?.forwarded).toEqual(forwarded);
  const list = await merchant.lenden(["callback", "list", "--json"]);
  expect(JSON.parse(list.stdout)).toMatchObject([{ forwarded }]);
  const shown = await merchant.lenden(["callback", "show", "1"]);
  expect(shown.stdout).toContain(` ${url}, connection refused\n`);
});

/** The API does it, and its response is lost. */
function lost(endpoint: string): Fault[] {
  return [{ endpoint, kind: "lost-reply", number: 0, rate: 1, rule: "" }];
}

async function codeOfWaiting(merchant: Merchant, id: string, ...more: string[]): Promise<number> {
  const line = ["callback", "listen", "--port", "0", "--for", id, ...more];
  return (await merchant.lenden(line)).code;
}

async function retrieves(merchant: Merchant): Promise<number> {
  return (await merchant.requests()).filter(({ path }) => path.includes("retrieve")).length;
}
