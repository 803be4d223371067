import { expect, test } from "vitest";
import { type CallbackFault, readCallbackFault } from "../../src/api/contract/fault.ts";
import type { RecordedExchange } from "../../src/api/contract/local.ts";
import { until } from "../support/helpers.ts";
import type { Behaviour } from "../support/server.ts";
import { openReceiver, paymentBody, type Sandbox, start } from "./running.ts";

test.each(["Completed", "Cancelled"])(
  "reports a payment that becomes %s once, with the record as retrieve shows it",
  async (status) => {
    const merchant = await openReceiver();
    const sandbox = await start();
    const id = await createPayment(sandbox, merchant);
    await set(sandbox, "payment", id, status);
    await until(() => merchant.bodies().length > 0);
    const { body } = await sandbox.get(`/payment/retrieve/${id}`);
    expect(merchant.bodies()).toEqual([body.data]);
    expect(body.data.status).toBe(status);
    expect(merchant.asked[0]?.headers).toMatchObject({ "content-type": "application/json" });
    await until(async () => (await deliveries(sandbox)).length > 0);
    expect(await deliveries(sandbox)).toMatchObject([
      { method: "POST", path: merchant.url, status: 200, attempt: 1, fault: null },
    ]);
  },
);

test("reports a payment that completes by itself", async () => {
  const merchant = await openReceiver();
  const sandbox = await start({ autoCompleteMs: 1 });
  const id = await createPayment(sandbox, merchant);
  await until(() => merchant.bodies().length > 0);
  expect(merchant.bodies()).toMatchObject([{ transactionId: id, status: "Completed" }]);
});

test("reports a refund to the configured URL, with the note of its cancellation", async () => {
  const merchant = await openReceiver();
  const sandbox = await start({ refundCallbackUrl: merchant.url });
  const [kept, cancelled] = [await createRefund(sandbox), await createRefund(sandbox)];
  await set(sandbox, "refund", kept, "Completed");
  const note = "A mistake";
  const path = `/refund/cancel-by-platform/${cancelled}`;
  await sandbox.call(path, { method: "PATCH", body: { note } });
  await until(() => merchant.bodies().length > 1);
  expect(merchant.bodies()).toMatchObject([
    { refundRequestId: kept, status: "Completed" },
    { refundRequestId: cancelled, status: "Cancelled", note },
  ]);
});

test("reports no refunds without such a URL, and never payouts", async () => {
  const sandbox = await start();
  const refund = await createRefund(sandbox);
  const told = (await deliveries(sandbox)).length;
  await set(sandbox, "refund", refund, "Completed");
  await set(sandbox, "payout", String((await sandbox.payout()).body.data.payoutId), "Completed");
  const merchant = await openReceiver();
  await set(sandbox, "payment", await createPayment(sandbox, merchant), "Completed");
  await until(async () => (await deliveries(sandbox)).length > told);
  expect((await deliveries(sandbox)).slice(told)).toMatchObject([{ path: merchant.url }]);
});

test("retries without a 2xx response, and does not follow a redirect", async () => {
  const responses: Behaviour[] = [
    { do: "answer", status: 500, body: "no" },
    { do: "answer", status: 302, headers: { location: "/elsewhere" } },
    { do: "close" },
    { do: "answer", status: 204 },
  ];
  const merchant = await openReceiver(() => responses.shift() ?? { do: "close" });
  const sandbox = await start({ firstRetryMs: 1 });
  await set(sandbox, "payment", await createPayment(sandbox, merchant), "Completed");
  await until(async () => (await deliveries(sandbox)).length >= 4);
  expect(await deliveries(sandbox)).toMatchObject([
    { status: 500, attempt: 1, answer: "no" },
    { status: 302, attempt: 2 },
    { status: null, attempt: 3, answer: "ECONNRESET" },
    { status: 204, attempt: 4, answer: null },
  ]);
  expect(new Set(merchant.asked.map(({ url }) => url))).toEqual(new Set(["/callback"]));
});

test("makes seven attempts if the merchant is down, and no response waits for them", async () => {
  const sandbox = await start({ firstRetryMs: 1 });
  const id = await createPayment(sandbox, { url: "http://127.0.0.1:9/callback" });
  expect((await set(sandbox, "payment", id, "Completed")).status).toBe(200);
  await until(async () => (await deliveries(sandbox)).length >= 7);
  expect((await deliveries(sandbox)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

// In less than the 10 seconds after which an answer is no longer waited for.
test("no delivery delays the end of the sandbox, or continues afterwards", {
  timeout: 8000,
}, async () => {
  const silent = await openReceiver(() => ({ do: "silence" }));
  const sandbox = await start({ callbackFaults: callbackFaults("late-60000:0.5"), seed: 1 });
  for (let index = 0; index < 8; index += 1) {
    await set(sandbox, "payment", await createPayment(sandbox, silent), "Completed");
  }
  await until(() => silent.bodies().length > 0);
  await sandbox.close();
});

test("lost: is recorded and never sent", async () => {
  const { merchant, sandbox } = await afterTwo(...callbackFaults("lost"));
  await until(async () => (await deliveries(sandbox)).length >= 2);
  expect(await deliveries(sandbox)).toMatchObject([
    { status: null, attempt: 1, fault: "lost" },
    { status: null, attempt: 1, fault: "lost" },
  ]);
  expect(merchant.bodies()).toEqual([]);
});

test("duplicated: arrives twice", async () => {
  const { merchant, ids } = await afterTwo(...callbackFaults("duplicated"));
  await until(() => merchant.bodies().length >= 4);
  expect(merchant.ids().sort()).toEqual([...ids, ...ids].sort());
});

test("reordered: the first waits for the second, and arrives after it", async () => {
  const [reordered] = callbackFaults("reordered");
  if (!reordered) throw new Error("no rule");
  // Longer than this test may take: what lets the first one go is the second.
  const { merchant, ids } = await afterTwo({ ...reordered, delayMs: 60_000 });
  await until(() => merchant.bodies().length >= 2);
  expect(merchant.ids()).toEqual([...ids].reverse());
});

test("forged: a false one arrives before the true one", async () => {
  const { merchant, sandbox, ids } = await afterTwo(...callbackFaults("forged"));
  await until(async () => (await deliveries(sandbox)).length >= 4);
  for (const id of ids) {
    const told = merchant.bodies().filter(({ transactionId }) => transactionId === id);
    expect(told.map(({ status }) => status)).toEqual(["Cancelled", "Completed"]);
  }
  const faults = (await deliveries(sandbox)).map(({ fault }) => fault);
  expect(faults.sort()).toEqual(["forged", "forged", null, null]);
});

test("other: one about the other payment arrives before the true one", async () => {
  const { merchant, sandbox, ids } = await afterTwo(...callbackFaults("other"));
  await until(async () => (await deliveries(sandbox)).length >= 4);
  expect(merchant.ids().sort()).toEqual([...ids, ...ids].sort());
  const all = await deliveries(sandbox);
  const faults = all.map(({ fault }) => fault);
  expect(faults.sort()).toEqual([null, null, "other", "other"]);
});

/** Two payments that were completed, one after the other, under a fault. */
async function afterTwo(...faults: CallbackFault[]) {
  const merchant = await openReceiver();
  const sandbox = await start({ callbackFaults: faults });
  const ids = [await createPayment(sandbox, merchant), await createPayment(sandbox, merchant)];
  for (const id of ids) await set(sandbox, "payment", id, "Completed");
  return { merchant, sandbox, ids };
}

function callbackFaults(...rules: string[]): CallbackFault[] {
  return rules.map((rule) => {
    const reading = readCallbackFault(rule);
    if (!reading.ok) throw new Error(reading.problem);
    return reading.value;
  });
}

async function createPayment(sandbox: Sandbox, { url }: { url: string }): Promise<string> {
  const { body } = await sandbox.post("/payment/create", { ...paymentBody, callback_url: url });
  return String(body.data.transactionId);
}

async function createRefund(sandbox: Sandbox): Promise<string> {
  const origin = new URL(sandbox.baseUrl).origin;
  const transactionId = await createPayment(sandbox, { url: `${origin}/callback` });
  const told = (await deliveries(sandbox)).length;
  await set(sandbox, "payment", transactionId, "Completed");
  await until(async () => (await deliveries(sandbox)).length > told);
  const { body } = await sandbox.post("/refund/create-a-request", {
    transactionId,
    amount: 5,
    accountType: "PERSONAL_ACCOUNT",
    accountNumber: "01712345678",
  });
  return String(body.data.refundRequestId);
}

function set(sandbox: Sandbox, kind: string, id: string, status: string) {
  return sandbox.post("/local/status", { kind, id, status });
}

/** The callbacks in the journal, oldest first. */
async function deliveries(sandbox: Sandbox): Promise<RecordedExchange[]> {
  const { text } = await sandbox.get("/local/requests/0");
  const all: RecordedExchange[] = JSON.parse(text).data;
  return all.filter(({ attempt }) => attempt !== null);
}
