import { expect, test } from "vitest";
import { readCallbackFault, readFault } from "../../src/api/contract/fault.ts";
import { chooseFault } from "../../src/sandbox/app.ts";
import { until } from "../support/helpers.ts";
import { faults, hmac, overSocket, payoutBody, type Sandbox, start } from "./running.ts";

test.each([
  ["createPayout:reset", { endpoint: "createPayout", kind: "reset", number: 0, rate: 1 }],
  ["*:latency", { endpoint: "*", kind: "latency", number: 1000, rate: 1 }],
  ["*:latency-250:0.5", { kind: "latency", number: 250, rate: 0.5 }],
  ["createPayment:status-503:.25", { kind: "status", number: 503, rate: 0.25 }],
  ["createPayout:status-after-500", { kind: "status-after", number: 500 }],
  ["listMethods:lost-reply:0", { kind: "lost-reply", rate: 0 }],
])("%s is a fault", (rule, fault) => {
  expect(readFault(rule)).toMatchObject({ ok: true, value: { rule, ...fault } });
});

test.each([
  ["", "createPayout, retrievePayout"],
  ["createPayouts:reset", "createPayout, retrievePayout"],
  ["constructor:reset", "createPayout, retrievePayout"],
  ["createPayout:explode", "lost-reply"],
  ["createPayout:reset-5", "is not a kind of fault"],
  ["*:503", "Did you mean status-503?"],
  ["*:constructor", "is not a kind of fault"],
  ["createPayout:status", "status-503"],
  ["createPayout:status-200", "status-503"],
  ["createPayout:status-after", "status-after-500"],
  ["createPayout:reset:2", "from 0 to 1"],
  ["createPayout:reset:", "from 0 to 1"],
  ["createPayout:reset:1:1", "from 0 to 1"],
])("%j is not a fault, and the problem lists what is", (rule, problem) => {
  expect(readFault(rule)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
});

test.each([
  ["lost", { kind: "lost", delayMs: 5000, rate: 1 }],
  ["late-250:0.5", { kind: "late", delayMs: 250, rate: 0.5 }],
  ["reordered:.25", { kind: "reordered", delayMs: 5000, rate: 0.25 }],
])("%s is a fault of callbacks", (rule, fault) => {
  expect(readCallbackFault(rule)).toEqual({ ok: true, value: { rule, ...fault } });
});

test.each(["", "gone", "lost-5", "constructor", "late-1000000000", "lost:2", "lost:"])(
  "%j is not a fault of callbacks",
  (rule) => expect(readCallbackFault(rule).ok).toBe(false),
);

test("a share is compared with the draw, and the first rule that applies wins", () => {
  const rules = faults("createPayout:reset:0.2", "*:hang:0.5");
  expect(chooseFault(rules, "createPayout", () => 0.19)?.kind).toBe("reset");
  expect(chooseFault(rules, "createPayout", () => 0.2)?.kind).toBe("hang");
  expect(chooseFault(rules, "listMethods", () => 0.1)?.kind).toBe("hang");
  expect(chooseFault(rules, "listMethods", () => 0.5)).toBeUndefined();
});

test("with a seed, faults affect the same requests in every run", async () => {
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

test.each([
  ["status-503", /^HTTP\/1\.1 503 /, "open", 0, 503],
  ["status-429", /^HTTP\/1\.1 429 .*retry-after: 1\r\n/s, "open", 0, 429],
  ["status-after-500", /^HTTP\/1\.1 500 /, "open", 1, 500],
  ["clock-skew", /^HTTP\/1\.1 403 .*"TIMESTAMP_OUT_OF_WINDOW"/s, "open", 0, 403],
  ["reset", /^$/, "reset", 0, null],
  ["lost-reply", /^$/, "reset", 1, null],
  ["hang", /^$/, "open", 0, null],
  ["hang-after", /^$/, "open", 1, null],
  ["garbage", /^HTTP\/1\.1 200 .*\r\n\r\n.*<html>/s, "open", 1, 200],
  ["empty", /^HTTP\/1\.1 200 .*content-length: 0\r\n.*\r\n\r\n$/s, "open", 1, 200],
  ["truncated", /^HTTP\/1\.1 200 .*\r\n\r\n\{"success":true/s, "closed", 1, 200],
  ["reset-halfway", /^HTTP\/1\.1 200 .*\r\n\r\n\{"success":true/s, "reset", 1, 200],
  ["redirect", /^HTTP\/1\.1 307 .*http:\/\/127\.0\.0\.1:1\/elsewhere/s, "open", 0, 307],
])("%s on a bare socket", async (kind, bytes, end, payouts, status) => {
  const rule = `createPayout:${kind}`;
  const sandbox = await start({ faults: faults(rule) });
  const isEnough = async (text: string) =>
    end === "open" && bytes.test(text) && (await isListed(sandbox));
  const seen = await payoutOverSocket(sandbox, { isEnough });
  expect(seen).toMatchObject({ text: expect.stringMatching(bytes), end });
  expect((await sandbox.get("/sandbox/info")).body.data.payouts).toBe(payouts);
  const { data } = (await sandbox.get("/local/requests/0")).body;
  expect(data).toMatchObject([
    { fault: rule, status },
    { fault: null, status: 200 },
  ]);
});

test("slow drips its whole answer for about a second", async () => {
  const sandbox = await start({ faults: faults("createPayout:slow") });
  const { text, afterMs, pieces } = await payoutOverSocket(sandbox, {
    header: "Connection: close\r\n",
  });
  expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ success: true });
  expect(afterMs).toBeGreaterThan(900);
  expect(pieces).toBeGreaterThan(10);
});

test("latency answers late", async () => {
  const sandbox = await start({ faults: faults("createPayout:latency-300") });
  const startedMs = performance.now();
  expect((await sandbox.payout()).status).toBe(200);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(295);
});

test("latency acts at once, and closing ends a connection that waits", async () => {
  const sandbox = await start({ faults: faults("createPayout:latency-600000") });
  const pending = sandbox.payout().catch((error) => error.code);
  await until(async () => (await sandbox.get("/sandbox/info")).body.data.payouts === 1);
  await sandbox.close();
  expect(await pending).toBe("ECONNRESET");
});

test("a star affects every endpoint of the API, and none of the sandbox's own", async () => {
  const sandbox = await start({ faults: faults("*:status-500") });
  for (const path of ["/payment/methods", "/sandbox/info", "/payout/retrieve/PO0"]) {
    expect((await sandbox.get(path)).status).toBe(500);
  }
  expect((await sandbox.get("/local/requests/0")).status).toBe(200);
});

async function isListed(sandbox: Sandbox): Promise<boolean> {
  return JSON.parse((await sandbox.get("/local/requests/0")).text).data.length > 0;
}

interface Watching {
  header?: string;
  isEnough?: (text: string) => Promise<boolean>;
}

function payoutOverSocket(sandbox: Sandbox, { header = "", isEnough }: Watching) {
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
  return overSocket(sandbox, head.join("\r\n"), body, isEnough);
}
