import { expect, test } from "vitest";
import answers from "../fixtures/answers.json" with { type: "json" };
import { completedPayment, paymentBody, type Reply, type Sandbox, start } from "./running.ts";

const documented: Record<string, { data: object }> = answers;

test.each([
  ["GET /payment/methods", (sandbox: Sandbox) => sandbox.get("/payment/methods")],
  ["POST /payment/create", (sandbox: Sandbox) => sandbox.post("/payment/create", paymentBody)],
  [
    "GET /payment/retrieve/:transactionId",
    async (sandbox: Sandbox) => sandbox.get(`/payment/retrieve/${await completedPayment(sandbox)}`),
  ],
  ["POST /payout/create-by-server", (sandbox: Sandbox) => sandbox.payout()],
  [
    "GET /payout/retrieve/:payoutId",
    async (sandbox: Sandbox) => {
      const { body } = await sandbox.payout();
      await sandbox.post("/sandbox/trigger-payout", { payoutId: body.data.payoutId });
      return sandbox.get(`/payout/retrieve/${body.data.payoutId}`);
    },
  ],
  ["POST /refund/create-a-request", (sandbox: Sandbox) => createRefund(sandbox)],
  [
    "GET /refund/retrieve/:id",
    async (sandbox: Sandbox) => sandbox.get(`/refund/retrieve/${await refundId(sandbox)}`),
  ],
  [
    "PATCH /refund/cancel-by-platform/:refundRequestId",
    async (sandbox: Sandbox) =>
      sandbox.call(`/refund/cancel-by-platform/${await refundId(sandbox)}`, {
        method: "PATCH",
        body: { note: "customer kept it" },
      }),
  ],
])("%s answers what the specification shows, field for field", async (route, ask) => {
  const { status, body } = await ask(await start());
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["success", "data"]);
  expect(masked(body.data)).toEqual(masked(documented[route]?.data ?? {}));
  expect(Object.keys(body.data).sort()).toEqual(Object.keys(documented[route]?.data ?? {}).sort());
});

test("texts that were not given are null, and are there", async () => {
  const sandbox = await start();
  const given = { recipientName: undefined, description: undefined };
  const { body } = await sandbox.payout(given);
  const payout = await sandbox.get(`/payout/retrieve/${body.data.payoutId}`);
  expect(payout.body.data).toMatchObject({ recipientName: null, description: null });
});

test("the trigger endpoints answer with the record, and info without the secrets", async () => {
  const sandbox = await start();
  const { body } = await sandbox.payout();
  const { payoutId } = body.data;
  const triggered = await sandbox.post("/sandbox/trigger-payout", { payoutId });
  expect(triggered.body).toEqual((await sandbox.get(`/payout/retrieve/${payoutId}`)).body);
  const info = await sandbox.get("/sandbox/info");
  expect(info.body.data).toEqual({
    name: "lenden local sandbox",
    environment: "sandbox",
    baseUrl: sandbox.baseUrl,
    payments: 0,
    payouts: 1,
    refunds: 0,
  });
});

test("payment_url is the sandbox's own page, which needs no key", async () => {
  const sandbox = await start();
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const { transactionId, payment_url } = body.data;
  expect(payment_url).toBe(`http://127.0.0.1:${sandbox.port}/p/${transactionId}`);
  const page = await sandbox.call(`//p/${transactionId}`, { headers: { "x-api-key": undefined } });
  expect(page.text).toContain("Pay BDT 1,250.50");
});

async function createRefund(sandbox: Sandbox): Promise<Reply> {
  const transactionId = await completedPayment(sandbox);
  return sandbox.post("/refund/create-a-request", {
    transactionId,
    amount: 250.25,
    accountType: "PERSONAL_ACCOUNT",
    accountNumber: "01812345678",
    note: "damaged",
  });
}

async function refundId(sandbox: Sandbox): Promise<string> {
  return String((await createRefund(sandbox)).body.data.refundRequestId);
}

/** Ids, addresses and times differ from run to run: only their look is compared. */
function masked(data: object): unknown {
  const text = JSON.stringify(data)
    .replace(/"(TX|PO|RF)[0-9A-Z]+"/g, '"$1"')
    .replace(/"https?:[^"]+\/p\/TX[0-9A-Z]+"/g, '"page"')
    .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"time"');
  return JSON.parse(text);
}
