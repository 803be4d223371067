import { expect, test } from "vitest";
import { readFault } from "../../src/api/contract/fault.ts";
import { chooseFault } from "../../src/sandbox/faults.ts";
import { faults, hmac, overSocket, payoutBody, type Sandbox, start } from "./running.ts";

test.each([
  ["createPayout:reset", { endpoint: "createPayout", kind: "reset", number: 0, share: 1 }],
  ["*:latency", { endpoint: "*", kind: "latency", number: 1000, share: 1 }],
  ["*:latency-250:0.5", { kind: "latency", number: 250, share: 0.5 }],
  ["createPayment:status-503:.25", { kind: "status", number: 503, share: 0.25 }],
  ["listMethods:lost-reply:0", { kind: "lost-reply", share: 0 }],
  ["listMethods:hang-after:1", { kind: "hang-after", share: 1 }],
])("%s is a fault", (rule, fault) => {
  expect(readFault(rule)).toMatchObject({ ok: true, value: { rule, ...fault } });
});

test.each([
  ["", "endpoint"],
  ["createPayouts:reset", "createPayout, retrievePayout"],
  ["setStatus:reset", "endpoint"],
  ["createPayout", "lost-reply"],
  ["createPayout:explode", "lost-reply"],
  ["createPayout:reset-5", "kind of fault"],
  ["createPayout:status", "status-503"],
  ["createPayout:status-200", "status-503"],
  ["createPayout:status-600", "status-503"],
  ["createPayout:reset:2", "from 0 to 1"],
  ["createPayout:reset:-1", "from 0 to 1"],
  ["createPayout:reset:", "from 0 to 1"],
  ["createPayout:reset:1:1", "from 0 to 1"],
  ["constructor:reset", "endpoint"],
  ["*:constructor", "kind of fault"],
])("%j is no fault, and what there is gets listed", (rule, problem) => {
  expect(readFault(rule)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
});

test("a share is what the draw is held against, and the first rule that hits wins", () => {
  const rules = faults("createPayout:reset:0.2", "*:hang:0.5");
  expect(chooseFault(rules, "createPayout", () => 0.19)?.kind).toBe("reset");
  expect(chooseFault(rules, "createPayout", () => 0.2)?.kind).toBe("hang");
  expect(chooseFault(rules, "listMethods", () => 0.1)?.kind).toBe("hang");
  expect(chooseFault(rules, "listMethods", () => 0.5)).toBeUndefined();
});

test("with a seed, the same requests are hit in every run", async () => {
  const run = async (seed: number) => {
    const sandbox = await start({ seed, faults: faults("listMethods:status-500:0.5") });
    const statuses = [];
    for (let index = 0; index < 40; index += 1) {
      statuses.push((await sandbox.get("/payment/methods")).status);
    }
    return statuses;
  };
  const first = await run(7);
  expect(new Set(first)).toEqual(new Set([200, 500]));
  expect(await run(7)).toEqual(first);
  expect(await run(8)).not.toEqual(first);
});

/** What each fault looks like on a bare socket, and how many payouts there are afterwards. */
test.each([
  ["status-503", { says: /^HTTP\/1\.1 503 /, end: "open", payouts: 0, status: 503 }],
  ["reset", { says: /^$/, end: "reset", payouts: 0, status: null }],
  ["lost-reply", { says: /^$/, end: "reset", payouts: 1, status: null }],
  ["hang", { says: /^$/, end: "open", payouts: 0, status: null }],
  ["hang-after", { says: /^$/, end: "open", payouts: 1, status: null }],
  [
    "garbage",
    { says: /^HTTP\/1\.1 200 .*\r\n\r\n.*<html>/s, end: "open", payouts: 1, status: 200 },
  ],
  [
    "empty",
    {
      says: /^HTTP\/1\.1 200 .*content-length: 0\r\n.*\r\n\r\n$/s,
      end: "open",
      payouts: 1,
      status: 200,
    },
  ],
  [
    "truncated",
    {
      says: /^HTTP\/1\.1 200 .*\r\n\r\n\{"success":true/s,
      end: "closed",
      payouts: 1,
      status: 200,
    },
  ],
  [
    "redirect",
    {
      says: /^HTTP\/1\.1 307 .*http:\/\/127\.0\.0\.1:1\/elsewhere/s,
      end: "open",
      payouts: 0,
      status: 307,
    },
  ],
])("%s, seen over a bare socket", async (kind, { says, end, payouts, status }) => {
  const rule = `createPayout:${kind}`;
  const sandbox = await start({ faults: faults(rule) });
  const seen = await payoutOverSocket(sandbox);
  expect(seen.text).toMatch(says);
  expect(seen.end).toBe(end);
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(payouts);
  const { data } = (await sandbox.get("/local/requests/0")).body;
  expect(data).toMatchObject([
    { fault: rule, status },
    { fault: null, status: 200 },
  ]);
});

test("truncated promises more than it sends", async () => {
  const sandbox = await start({ faults: faults("*:truncated") });
  const { text } = await payoutOverSocket(sandbox);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(body.length).toBeGreaterThan(0);
  expect(body.length).toBeLessThan(Number(/content-length: (\d+)/.exec(head)?.[1]));
});

test("slow drips its whole answer for about a second", async () => {
  const sandbox = await start({ faults: faults("createPayout:slow") });
  const soon = await payoutOverSocket(sandbox, 300);
  const whole = await payoutOverSocket(sandbox, 3000, "Connection: close\r\n");
  expect(soon.text).toContain("200 OK");
  expect(soon.text).not.toContain("createdAt");
  expect(whole.afterMs).toBeGreaterThan(900);
  expect(JSON.parse(whole.text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ success: true });
});

test("latency acts at once and answers late", async () => {
  const sandbox = await start({ faults: faults("createPayout:latency-300") });
  const startedMs = performance.now();
  const pending = sandbox.payout();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(1);
  expect((await pending).status).toBe(200);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(295);
});

test("latencyMs makes every answer wait", async () => {
  const sandbox = await start({ latencyMs: 150 });
  const startedMs = performance.now();
  await sandbox.get("/payment/methods");
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(145);
});

test("a star hits every endpoint of the service, and none of the sandbox's own", async () => {
  const sandbox = await start({ faults: faults("*:status-500") });
  for (const path of ["/payment/methods", "/sandbox/info", "/payout/retrieve/PO0"]) {
    expect((await sandbox.get(path)).status).toBe(500);
  }
  expect((await sandbox.get("/local/requests/0")).status).toBe(200);
});

test("closing ends a connection that hangs", async () => {
  const sandbox = await start({ faults: faults("*:hang") });
  const pending = sandbox.get("/payment/methods").catch((error) => error.code);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await sandbox.close();
  expect(await pending).toBe("ECONNRESET");
});

function payoutOverSocket(sandbox: Sandbox, waitMs = 300, header = "") {
  const timestamp = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({ ...payoutBody(), timestamp });
  const head = [
    "POST /cp/api/v1/payout/create-by-server HTTP/1.1",
    `Host: 127.0.0.1:${sandbox.port}`,
    `${header}Content-Type: application/json`,
    `Content-Length: ${body.length}`,
    `x-api-key: ${sandbox.apiKey}`,
    `x-payout-signature: ${hmac(`500:INV-7:${timestamp}`, sandbox.payoutSecret)}`,
  ];
  return overSocket(sandbox, head.join("\r\n"), body, waitMs);
}
